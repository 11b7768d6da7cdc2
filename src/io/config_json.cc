#include <simdjson.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "base/text.h"
#include "io/checkpoint.h"

namespace sublane::io {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;

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

  void add(const std::string& key, element value) {
    switch (value.type()) {
      case element_type::OBJECT:
        for (auto [name, member] : simdjson::dom::object(value)) {
          add(key.empty() ? std::string(name) : key + "." + std::string(name), member);
        }
        return;
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
        faults_.push_back(key + " is above 2^63 - 1");
        return;
      case element_type::STRING:
        return put(key, MetadataValue{std::string(std::string_view(value))});
    }
  }

 private:
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
    if (!metadata_.emplace(key, std::move(value)).second) faults_.push_back(key + " occurs twice");
  }

  Metadata metadata_;
  std::vector<std::string> faults_;
};

/// "line 3, column 7: ...": simdjson says only that a text is wrong, so the slower reader says where.
std::string whereJsonBreaks(std::string_view text, std::string_view otherwise) {
  try {
    if (const auto whole = nlohmann::json::parse(text); whole.is_null()) return std::string(otherwise);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string what = error.what();  // "[json.exception...] parse error at line 3, column 7: ..."
    const size_t place = what.find("line ");
    return escaped(place == std::string::npos ? what : what.substr(place));
  } catch (const nlohmann::json::exception& error) {  // a number that no double holds
    const std::string what = error.what();
    return escaped(what.substr(what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2));
  }
  return std::string(otherwise);
}

}  // namespace

Result<Checkpoint> openConfig(const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string source = folder ? path + "/config.json" : path;
  SUBLANE_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(source));
  simdjson::dom::parser parser;
  element root;
  const char* text = reinterpret_cast<const char*>(file->bytes().data());
  if (auto code = parser.parse(text, file->bytes().size()).get(root)) {
    return inputError(
        "{}: not valid JSON: {}", source,
        whereJsonBreaks(std::string_view(text, file->bytes().size()), simdjson::error_message(code)));
  }
  if (!root.is_object()) return inputError("{}: a config is a JSON object", source);
  Flattener flattener;
  flattener.add("", root);
  if (!flattener.faults().empty()) {
    return inputError("{}: {}", source, fmt::join(flattener.faults(), "; "));
  }
  Checkpoint checkpoint;
  checkpoint.source = source;
  checkpoint.folder = std::filesystem::path(source).parent_path().string();
  if (checkpoint.folder.empty()) checkpoint.folder = ".";
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

}  // namespace sublane::io
