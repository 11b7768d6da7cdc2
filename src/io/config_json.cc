#include "io/config_json.h"

#include <simdjson.h>

#include <filesystem>

#include "base/mapped_file.h"
#include "base/text.h"
#include "io/folder.h"
#include "io/json_text.h"

namespace sublane::io {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr size_t kMostConfigBytes = size_t{16} << 20;
constexpr size_t kMostKeyBytes = 512;
constexpr size_t kMostFaults = 12;

template <class T, class Stored>
std::vector<T> typed(const array& values) {
  std::vector<T> result;
  for (element value : values) result.emplace_back(static_cast<T>(Stored(value)));
  return result;
}

// The type that all elements share, or OBJECT if they are mixed. Integers among floats count as floats.
element_type commonType(const array& values) {
  std::optional<element_type> common;
  for (element value : values) {
    const element_type type = value.type();
    if (!common) common = type;
    const bool numbers = (*common == element_type::INT64 && type == element_type::DOUBLE) ||
                         (*common == element_type::DOUBLE && type == element_type::INT64);
    if (numbers)
      common = element_type::DOUBLE;
    else if (*common != type)
      return element_type::OBJECT;
  }
  return common.value_or(element_type::OBJECT);
}

class Flattener {
 public:
  Metadata take() { return std::move(metadata_); }
  const std::vector<std::string>& faults() const { return faults_; }

  void add(const simdjson::dom::object& root) { addMembers("", root); }

 private:
  void addMembers(const std::string& prefix, const simdjson::dom::object& members) {
    for (auto [name, member] : members) add(prefix + std::string(name), member);
  }

  // A key grows by its parents' names: without a bound, a small file could ask for any amount of memory.
  void add(const std::string& key, element value) {
    if (faults_.size() >= kMostFaults) return;
    if (key.size() > kMostKeyBytes) {
      faults_.push_back(fmt::format("{}: a key of {} bytes, but at most {} are read", inQuotes(key, 40),
                                    key.size(), kMostKeyBytes));
      return;
    }
    switch (value.type()) {
      case element_type::OBJECT:
        return addMembers(key + ".", simdjson::dom::object(value));
      case element_type::ARRAY:
        return addArray(key, array(value));
      case element_type::NULL_VALUE:
        return put(key, MetadataValue{});
      case element_type::BOOL:
        return put(key, MetadataValue{bool(value)});
      case element_type::INT64:
        return put(key, MetadataValue{int64_t(value)});
      case element_type::DOUBLE:
        return put(key, MetadataValue{double(value)});
      case element_type::UINT64:
        faults_.push_back(escaped(key) + " is above 2^63 - 1");
        return;
      case element_type::STRING:
        return put(key, MetadataValue{std::string(std::string_view(value))});
    }
  }

  void addArray(const std::string& key, const array& values) {
    switch (commonType(values)) {
      case element_type::INT64:
        return put(key, MetadataValue{typed<int64_t, int64_t>(values)});
      case element_type::DOUBLE:
        return put(key, MetadataValue{typed<double, double>(values)});
      case element_type::STRING:
        return put(key, MetadataValue{typed<std::string, std::string_view>(values)});
      default:
        break;
    }
    if (values.size() == 0) return put(key, MetadataValue{MetadataArray{}});
    size_t index = 0;
    for (element value : values) add(fmt::format("{}.{}", key, index++), value);
  }

  void put(const std::string& key, MetadataValue value) {
    if (!metadata_.emplace(key, std::move(value)).second) faults_.push_back(escaped(key) + " occurs twice");
  }

  Metadata metadata_;
  std::vector<std::string> faults_;
};

}  // namespace

Result<Checkpoint> parseConfig(std::string_view text, const std::string& source) {
  simdjson::dom::parser parser;
  SUBLANE_TRY(simdjson::dom::object root, parseJsonObject(parser, text, source));
  Flattener flattener;
  flattener.add(root);
  if (!flattener.faults().empty()) {
    return inputError("{}: {}", source, fmt::join(flattener.faults(), "; "));
  }
  Checkpoint checkpoint;
  checkpoint.source = source;
  checkpoint.container = Container::kHuggingFace;
  checkpoint.metadata = flattener.take();
  auto found = checkpoint.metadata.find("architectures");
  const auto* names = found == checkpoint.metadata.end()
                          ? nullptr
                          : std::get_if<std::vector<std::string>>(&found->second.value);
  if (!names || names->empty()) {
    return inputError("{}: \"architectures\" does not name an architecture", source)
        .hint("a Hugging Face config holds for example \"architectures\": [\"LlamaForCausalLM\"]");
  }
  checkpoint.architecture = names->front();
  return checkpoint;
}

Result<Checkpoint> openConfig(const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string source = folder ? path + "/config.json" : path;
  std::shared_ptr<const MappedFile> file;
  if (folder) {  // a link in a folder of unknown origin is followed no further than any other
    SUBLANE_TRY(file, openInFolder(path, "config.json", kMostConfigBytes));
    if (!file) return inputError("{}: no config.json", path);
  } else {
    SUBLANE_TRY(file, MappedFile::open(source));
  }
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  if (text.size() > kMostConfigBytes) {
    return inputError("{}: {} bytes, but a configuration has at most {}", source, text.size(),
                      kMostConfigBytes);
  }
  SUBLANE_TRY(Checkpoint checkpoint, parseConfig(text, source));
  checkpoint.folder = std::filesystem::path(source).parent_path().string();
  if (checkpoint.folder.empty()) checkpoint.folder = ".";
  return checkpoint;
}

}  // namespace sublane::io
