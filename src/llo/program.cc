#include "llo/program.h"

#include <string_view>

#include "llo/program_overlays.h"
#include "llo/program_traces.h"

namespace sublane::llo {
namespace {

constexpr std::string_view kTop = "TLP";

struct Texts {
  std::map<std::string_view, std::string_view> listings, memories;
  std::map<std::string, std::string, std::less<>> equals;  // an operation -> the one whose listing stands
  std::string_view details;                                // where each operation's code lies
};

std::string_view nextLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

/// "key:fusion.1", "ordinal:1", "equivalent_hlos[size=2]:", "  fusion.1", "  fusion.7"
void readEquals(std::string_view text, Texts& texts) {
  std::string key;
  while (!text.empty()) {
    std::string_view line = nextLine(text);
    if (line.starts_with("key:")) {
      key = line.substr(4);
    } else if (line.starts_with("  ") && !key.empty()) {
      line.remove_prefix(line.find_first_not_of(' ') == std::string_view::npos ? line.size()
                                                                               : line.find_first_not_of(' '));
      texts.equals.emplace(line, key);
    }
  }
}

Result<Texts> sorted(const std::vector<DumpFile>& dump) {
  Texts texts;
  for (const DumpFile& file : dump) {
    if (file.label == "deduplication-map") readEquals(file.text, texts);
    if (file.label == "hlo-details" && file.function == kTop) texts.details = file.text;
    const bool listing = file.label == "packed-bundles-post-ra";
    if (!listing && file.label != "post-delay-converter") continue;
    auto& into = listing ? texts.listings : texts.memories;
    const auto [found, fresh] = into.emplace(file.function, file.text);
    if (!fresh && found->second != file.text)
      return inputError("dump: {} has two different files {}", file.function, file.label);
  }
  return texts;
}

class ProgramReader {
 public:
  ProgramReader(const Texts& texts, const ProgramOptions& options) : texts_(texts), options_(options) {}

  Result<Ok> read(std::string_view function, Program& program) {
    const auto text = texts_.listings.find(function);
    const auto memory = texts_.memories.find(function);
    if (memory == texts_.memories.end())
      return inputError("dump: {} has a listing, but no table of its allocations (post-delay-converter)",
                        function);
    // Not an empty text, which would say that the table is not known.
    const std::string_view table = memory->second.empty() ? "\n" : memory->second;
    SUBLANE_TRY(Listing listing, readListing(text->second, {.function = std::string(function),
                                                            .compiler = options_.compiler,
                                                            .memory = table}));
    place_.emplace(function, static_cast<int32_t>(program.listings.size()));
    program.listings.push_back(std::move(listing));
    return Ok{};
  }

  /// The listing of what `caller` calls by `name`: its own, or that of the operation that it equals.
  Result<int32_t> listingOf(const std::string& caller, const std::string& name, Program& program) {
    std::string_view function = name;
    if (const auto equal = texts_.equals.find(name);
        !texts_.listings.contains(function) && equal != texts_.equals.end())
      function = equal->second;
    if (const auto read = place_.find(function); read != place_.end()) return read->second;
    if (!texts_.listings.contains(function))
      return inputError("{} calls {}, which has no listing among {} and equals none that has ({})", caller,
                        name, texts_.listings.size(), options_.compiler)
          .hint("a program without it would look cheap; compile again, with a dump of every function");
    SUBLANE_CHECK_OK(read(function, program));
    return static_cast<int32_t>(program.listings.size()) - 1;
  }

 private:
  const Texts& texts_;
  const ProgramOptions& options_;
  std::map<std::string, int32_t, std::less<>> place_;
};

}  // namespace

Result<Program> readProgram(const std::vector<DumpFile>& dump, HloModule module,
                            const ProgramOptions& options) {
  SUBLANE_TRY(const Texts texts, sorted(dump));
  if (!texts.listings.contains(kTop))
    return inputError("dump: no listing of the top-level program ({}) among {} files ({})", kTop, dump.size(),
                      options.compiler)
        .hint("another libtpu may name its dump flags or files otherwise");
  Program program{.chip = options.chip, .compiler = options.compiler, .module = std::move(module)};
  ProgramReader reader(texts, options);
  SUBLANE_CHECK_OK(reader.read(kTop, program));
  program.functions.emplace(kTop, 0);
  for (size_t l = 0; l < program.listings.size(); ++l) {
    // Copied: reading a callee may move the listings.
    const std::vector<std::string> callees = program.listings[l].callees;
    const std::string caller = program.listings[l].function;
    for (const std::string& name : callees) {
      SUBLANE_TRY(const int32_t listing, reader.listingOf(caller, name, program));
      program.functions.emplace(name, listing);
    }
  }
  program.traced = joinTraces(program.listings[program.top], program.module);
  program.overlay_bundles = joinOverlays(texts.details, program.traced);
  return program;
}

}  // namespace sublane::llo
