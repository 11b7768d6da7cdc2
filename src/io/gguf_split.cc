// A model in several GGUF files. Only the first part holds the model's keys, so that none of them is a
// checkpoint. Numbers count from 0 in the keys and from 1 in the names: "split.no" 1 is
// "model-00002-of-00003.gguf".
#include <charconv>
#include <filesystem>

#include "io/gguf_parts.h"

namespace sublane::io {
namespace {

struct Split {
  int64_t part = 0, parts = 0;  // from 0
};

Result<int64_t> number(const Metadata& metadata, const std::string& key, int64_t otherwise,
                       const std::string& source) {
  auto found = metadata.find(key);
  if (found == metadata.end()) return otherwise;
  if (const int64_t* value = std::get_if<int64_t>(&found->second.value)) return *value;
  return inputError("{}: metadata key \"{}\" is not a number", source, key);
}

// "PREFIX-00002-of-00003.gguf"
struct PartName {
  std::string prefix;
  int64_t part = 0, parts = 0;  // from 1

  std::string of(int64_t index) const { return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, index, parts); }
};

std::optional<PartName> partNameOf(std::string_view path) {
  constexpr std::string_view kShape = "-00000-of-00000.gguf";
  if (path.size() < kShape.size()) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kShape.size());
  PartName name{std::string(path.substr(0, path.size() - kShape.size())), 0, 0};
  const auto read = [&](size_t at, int64_t& value) {
    const char* end = tail.data() + at + 5;
    return std::from_chars(tail.data() + at, end, value).ptr == end;
  };
  if (!read(1, name.part) || !read(10, name.parts) || name.of(name.part) != path) return std::nullopt;
  return name;
}

// Which other parts lie beside this one.
std::string siblingsOf(const PartName& name) {
  constexpr int64_t kMostLookedFor = 1000, kMostNamed = 4;
  std::string missing;
  int64_t there = 0, missing_count = 0;
  const int64_t last = std::min(name.parts, kMostLookedFor);
  for (int64_t part = 1; part <= last; ++part) {
    std::error_code ignored;
    if (std::filesystem::exists(name.of(part), ignored)) {
      ++there;
    } else if (++missing_count <= kMostNamed) {
      missing += missing.empty() ? "" : ", ";
      missing += std::filesystem::path(name.of(part)).filename().string();
    }
  }
  if (missing_count == 0) return fmt::format("; all {} parts are there", name.parts);
  if (missing_count > kMostNamed) missing += fmt::format(" and {} more", missing_count - kMostNamed);
  return fmt::format("; {} of {} parts are there, missing: {}", there, last, missing);
}

}  // namespace

Status refuseSplitGguf(const Metadata& metadata, const std::string& source) {
  Split split;
  SUBLANE_TRY(const int64_t older, number(metadata, "general.split_count", 1, source));
  SUBLANE_TRY(split.parts, number(metadata, "split.count", older, source));
  SUBLANE_TRY(split.part, number(metadata, "split.no", 0, source));
  if (split.parts <= 1 && split.part == 0) return Ok{};
  if (split.part < 0 || split.part >= split.parts) {
    return inputError("{}: part {} of a GGUF that is split in {} (split.no counts from 0)", source,
                      split.part + 1, split.parts);
  }
  const std::optional<PartName> name = partNameOf(source);
  if (name && (name->parts != split.parts || name->part != split.part + 1)) {
    return inputError("{}: named as part {} of {}, but its keys say part {} of {}", source, name->part,
                      name->parts, split.part + 1, split.parts)
        .hint("give the parts back the names that they were split into");
  }
  const std::string first = name ? name->of(1) : "FIRST-PART";
  return inputError("{}: part {} of {}; splits are refused{}", source, split.part + 1, split.parts,
                    name ? siblingsOf(*name) : "")
      .hint(fmt::format("join them: llama-gguf-split --merge {} OUT.gguf", first));
}

}  // namespace sublane::io
