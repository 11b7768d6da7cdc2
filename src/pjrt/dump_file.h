// A file that libtpu wrote while it compiled: what `want_listings` of an AheadOfTimeRequest (worker.h) brings
// back, and what llo reads. No more than the record, so that readers need not know the rest of pjrt.
//
//   for (const DumpFile& file : result.dump) fmt::print("{} of {}\n", file.label, file.function);
#pragma once

#include <string>

namespace sublane::pjrt {

/// One dump file, without its stamp and number: function "fusion.1", label "packed-bundles-post-ra".
struct DumpFile {
  std::string function, label, text;
  bool operator==(const DumpFile&) const = default;
};

}  // namespace sublane::pjrt
