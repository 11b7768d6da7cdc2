#include "pjrt/parts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/paths.h"
#include "pjrt/worker.h"

namespace sublane::pjrt {

// Where each part's library lies in its folder. Parts that are no plugin need no line.
static constexpr std::string_view kLibraries[][3] = {
    {"libtpu", "libtpu/libtpu.so", "SUBLANE_LIBTPU"},
    {"cpu", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so", "SUBLANE_CPU_PLUGIN"},
    {"cpu-fastatomstruct", "fastatomstruct_xla_cpu/libpjrt_cpu.so", ""},
    {"cpu-xla", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", ""},
};

static std::vector<Part> pluginParts() {
  std::vector<Part> plugins;
  auto add = [&](std::string_view name, std::string_view package, std::string_view version) {
    for (const auto& [part, library, override] : kLibraries) {
      if (part == name) plugins.push_back({name, package, version, library, override});
    }
  };
#define SUBLANE_PART(name, package, version, needed_for) add(name, package, version);
#include "parts.inc"  // generated from tools/versions.env
#undef SUBLANE_PART
  return plugins;
}

std::span<const Part> parts() {
  static const std::vector<Part> kParts = pluginParts();
  return kParts;
}

static bool isFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

/// Versions of the part that are there: folders name-<digit>...
static std::vector<std::string> installedVersions(const std::string& folder, std::string_view name) {
  std::vector<std::string> versions;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename();
    const size_t digit = name.size() + 1;
    if (file.size() > digit && file.starts_with(name) && file[name.size()] == '-' &&
        std::isdigit(file[digit])) {
      versions.push_back(file.substr(digit));
    }
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

static Error missingPart(const Part& part, const std::string& folder, const std::string& path) {
  std::string hint =
      fmt::format("run `make demo` or tools/setup.sh, which install {} {}", part.name, part.version);
  if (!part.override.empty()) hint += fmt::format(", or set {} to another one", part.override);
  const std::vector<std::string> others = installedVersions(folder, part.name);
  const bool pinned_is_there = std::find(others.begin(), others.end(), part.version) != others.end();
  if (!others.empty() && !pinned_is_there) {
    return machineError("{}: version {} is installed, Sublane needs {} ({})", part.name,
                        fmt::join(others, ", "), part.version, path)
        .hint(std::move(hint));
  }
  return machineError("{} {}: not installed: no file {}", part.name, part.version, path)
      .hint(std::move(hint));
}

static Result<const Part*> partNamed(const std::string& name) {
  const auto part =
      std::find_if(parts().begin(), parts().end(), [&](const Part& p) { return p.name == name; });
  if (part != parts().end()) return &*part;
  std::vector<std::string_view> names;
  for (const Part& known : parts()) names.push_back(known.name);
  return inputError("part {}: unknown; there are {}", name, fmt::join(names, ", "));
}

static Result<std::string> partsFolder() {
  SUBLANE_TRY(const std::string cache, cacheDirectory());
  return cache + "/parts";
}

Result<std::string> installedPath(const std::string& name, std::string_view version) {
  SUBLANE_TRY(const Part* part, partNamed(name));
  SUBLANE_TRY(const std::string folder, partsFolder());
  return fmt::format("{}/{}-{}/{}", folder, part->name, version, part->library);
}

Result<std::string> pluginPath(const std::string& name) {
  SUBLANE_TRY(const Part* part, partNamed(name));
  if (!part->override.empty()) {
    const char* path = std::getenv(std::string(part->override).c_str());
    if (path != nullptr && *path != '\0') {
      if (isFile(path)) return std::string(path);
      return machineError("{}: ${} names {}, which is not a file", name, part->override, path)
          .hint(fmt::format("unset {} to use the installed {} {}", part->override, name, part->version));
    }
  }
  SUBLANE_TRY(const std::string folder, partsFolder());
  SUBLANE_TRY(const std::string path, installedPath(name, part->version));
  if (isFile(path)) return path;
  return missingPart(*part, folder, path);
}

}  // namespace sublane::pjrt
