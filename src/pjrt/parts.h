// The parts that set-up fetched, as pluginPath (worker.h) finds them: where each lies and which version is
// pinned. `sublane doctor` walks the list.
//
//   for (const Part& part : parts()) fmt::print("{} {}\n", part.name, part.version);
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sublane::pjrt {

struct Part {
  std::string_view name;      // "libtpu", as pluginPath takes it; the folder is name-version
  std::string_view package;   // on PyPI
  std::string_view version;   // pinned in tools/versions.env
  std::string_view library;   // inside the folder
  std::string_view override;  // environment variable that names another file, or empty
};
std::span<const Part> parts();

/// Where the library of this version of a part lies, whether or not it is there. Errors: no such part, no
/// cache.
Result<std::string> installedPath(const std::string& name, std::string_view version);

}  // namespace sublane::pjrt
