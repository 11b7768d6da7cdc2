#include "pjrt/dump.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/paths.h"

namespace sublane::pjrt {

namespace fs = std::filesystem;

static constexpr std::string_view kAllocations = "post-delay-converter";
static constexpr std::string_view kProfile = "static-profile";  // our word: these files have no label
static constexpr std::string_view kProfileFolder = "profile";
static constexpr std::string_view kProfileEnding = ".textproto";
// Longer ones first, where one ends as another does.
static constexpr std::array<std::string_view, 6> kLabels = {
    "packed-bundles-post-ra", kAllocations, "deduplication-map", "trace-markers", "hlo-details", "assembly"};

bool wantsDump(const AheadOfTimeRequest& request) {
  return request.want_listings || request.want_assembly || request.want_profile;
}

std::vector<std::string> dumpFlags(const AheadOfTimeRequest& request, const std::string& folder) {
  std::vector<std::string> flags = request.init_args;
  std::string labels;
  if (request.want_listings || request.want_assembly) {
    for (std::string_view label : kLabels) {
      if (label == "assembly" && !request.want_assembly) continue;
      labels += (labels.empty() ? "" : "|") + std::string(label);
    }
    flags.push_back("--xla_jf_dump_to=" + folder);
    flags.emplace_back("--xla_jf_dump_llo_text=true");
    flags.push_back("--xla_jf_dump_llo_pass_label_regex=" + labels);
  }
  if (request.want_profile) {
    flags.push_back("--xla_jf_dump_static_llo_profile_to=" + folder + "/" + std::string(kProfileFolder));
  }
  return flags;
}

std::optional<DumpName> parseDumpName(std::string_view name) {
  if (!name.ends_with(".txt")) return std::nullopt;
  name.remove_suffix(4);
  const auto label = std::find_if(kLabels.begin(), kLabels.end(), [&](std::string_view each) {
    return name.ends_with(each) && name.size() > each.size() && name[name.size() - each.size() - 1] == '-';
  });
  if (label == kLabels.end()) return std::nullopt;
  name.remove_suffix(label->size() + 1);
  // What is left: stamp, function, number. Another label that ends as ours does leaves no number here.
  const size_t last = name.rfind('-'), first = name.find('-');
  if (last == std::string_view::npos || first >= last) return std::nullopt;
  DumpName parsed{.stamp = std::string(name.substr(0, first)),
                  .function = std::string(name.substr(first + 1, last - first - 1)),
                  .label = std::string(*label)};
  const std::string_view number = name.substr(last + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), parsed.number);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  if (parsed.function.empty()) return std::nullopt;
  return parsed;
}

std::string allocationLines(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    if (line.find("#allocation") != std::string_view::npos) kept += line;
    text.remove_prefix(end + 1);
  }
  return kept;
}

std::vector<DumpFile> readListings(const std::vector<std::string>& paths) {
  using Key = std::tuple<std::string, std::string, std::string>;  // stamp, function, label
  std::map<Key, std::pair<int, std::string>> files;
  for (const std::string& path : paths) {
    const std::optional<DumpName> name = parseDumpName(fs::path(path).filename().string());
    if (!name) continue;
    auto& file = files[{name->stamp, name->function, name->label}];
    if (file.second.empty() || name->number >= file.first) file = {name->number, path};
  }
  std::vector<DumpFile> dump;
  for (const auto& [key, file] : files) {
    Result<std::string> text = readFile(file.second);
    if (!text.ok()) continue;
    const auto& [stamp, function, label] = key;
    dump.push_back({function, label, label == kAllocations ? allocationLines(*text) : std::move(*text)});
  }
  return dump;
}

static void addProfiles(const std::string& folder, std::vector<DumpFile>& dump) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kProfileEnding))
      files[name.substr(0, name.size() - kProfileEnding.size())] = entry.path();
  }
  for (const auto& [function, path] : files) {
    Result<std::string> text = readFile(path.string());
    if (text.ok()) dump.push_back({function, std::string(kProfile), std::move(*text)});
  }
}

std::vector<DumpFile> readDump(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) paths.push_back(entry.path().string());
  std::vector<DumpFile> dump = readListings(paths);
  addProfiles(folder + "/" + std::string(kProfileFolder), dump);
  return dump;
}

}  // namespace sublane::pjrt
