// The checkpoint contract: what a file says, before any model interprets it.
//
// A Checkpoint is a GGUF file or a Hugging Face folder on memory maps: its tensors (name, shape, packing,
// where the bytes lie), its metadata, and nothing guessed. Models read the metadata through a ConfigReader,
// which knows which keys were consumed, so that a key which changes mathematics can never be dropped without
// a word.
//
//   SUBLANE_TRY(io::Checkpoint checkpoint, io::openCheckpoint("smollm2-135m"));
//   io::ConfigReader config(checkpoint.metadata, checkpoint.source);
//   int64_t layers = config.requireInt("llama.block_count");
//   SUBLANE_CHECK_OK(config.finish());      // missing, mistyped and unread keys, all at once
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "formats/formats.h"
#include "formats/quantised.h"

namespace sublane {
class MappedFile;  // base/mapped_file.h
}

namespace sublane::io {

enum class Container : uint8_t { kGguf, kHuggingFace };

struct MetadataValue;
using MetadataArray = std::vector<MetadataValue>;
/// A value of GGUF metadata or of config.json. Objects of config.json are flattened: "rope_scaling.factor".
struct MetadataValue {
  std::variant<std::monostate, bool, int64_t, double, std::string, MetadataArray, std::vector<int64_t>,
               std::vector<double>, std::vector<std::string>>
      value;
};
/// Ordered, so that every listing of it is the same bytes.
using Metadata = std::map<std::string, MetadataValue>;

struct Tensor {
  std::string name;
  std::vector<int64_t> shape = {};  // row-major, outermost first (GGUF's order reversed)
  formats::Packing packing = formats::Packing::kF32;
  std::span<const std::byte> bytes = {};  // in the map; lives as long as the Checkpoint
  uint64_t file_offset = 0;
  uint32_t file = 0;  // index into Checkpoint::files

  /// A matrix that was stored in parts, joined by joinQuantised: its rows are all sizes of the shape but the
  /// last. Then `packing`, `bytes` and `file_offset` are those of its codes. Null: those say all.
  std::shared_ptr<const formats::QuantisedMatrix> quantised = {};
  std::vector<Tensor> parts = {};  // what it was joined from, as stored; empty if it was not
};

struct Checkpoint {
  std::string source;  // the path, for messages
  std::string folder;  // of a Hugging Face checkpoint; empty: a GGUF file
  Container container = Container::kGguf;
  std::string architecture;  // "llama", "gemma3"
  Metadata metadata;
  std::vector<Tensor> tensors;                                    // in file order
  std::vector<std::shared_ptr<const sublane::MappedFile>> files;  // none for a config without weights
  std::vector<std::string> notes;  // what was decided or left aside on opening ("model.old.safetensors: ...")

  const Tensor* find(const std::string& name) const;
};

/// Opens what a MODEL argument names: a name known to `sublane fetch` (already fetched, else an error whose
/// hint is the fetch command), a .gguf file, a folder holding exactly one, a Hugging Face folder (config.json
/// and safetensors, one file or several with an index), or "hf:org/name[@revision]" in the hub's local cache.
/// Every tensor is checked against its file's length.
Result<Checkpoint> openCheckpoint(const std::string& model);

/// Tensors alone, without a configuration: a .safetensors file, or anything that openCheckpoint opens.
Result<Checkpoint> openTensors(const std::string& path);

/// The text of a file beside the tensors of a Hugging Face folder (tokenizer.json, chat_template.jinja);
/// nullopt when it is absent, or for a GGUF file. Errors: larger than 256 MiB, unreadable, a link that leaves
/// the folder.
Result<std::optional<std::string>> readCompanion(const Checkpoint& checkpoint, std::string_view file_name);

/// The texts of all files of such a folder's own folder with that ending, by name without it. Empty when
/// there is none. Errors as of readCompanion; more than 64 files.
Result<std::map<std::string, std::string>> readCompanions(const Checkpoint& checkpoint,
                                                          std::string_view folder, std::string_view ending);

/// A Hugging Face config.json as a Checkpoint without tensors ("shapes only").
Result<Checkpoint> openConfig(const std::string& path);

/// Reads metadata and remembers what was read. Errors are collected, in order of reading, until finish().
class ConfigReader {
 public:
  ConfigReader(const Metadata& metadata, std::string source);

  // A missing or mistyped required key is recorded and zero returned, so that all faults show at once.
  int64_t requireInt(const std::string& key);
  double requireFloat(const std::string& key);
  std::string requireString(const std::string& key);
  // Absent (or JSON null) keys give nullopt; mistyped ones are recorded.
  std::optional<int64_t> optionalInt(const std::string& key);
  std::optional<double> optionalFloat(const std::string& key);
  std::optional<bool> optionalBool(const std::string& key);
  std::optional<std::string> optionalString(const std::string& key);
  std::optional<std::vector<int64_t>> optionalInts(const std::string& key);
  std::optional<std::vector<std::string>> optionalStrings(const std::string& key);
  bool has(const std::string& key) const;
  bool isNull(const std::string& key) const;  // there, and null

  /// Marks keys that this model knows to carry no mathematics (names, authors, tokenizer.*).
  /// A trailing '*' matches a prefix.
  void ignore(const std::string& key_pattern);
  /// Records that an interpretation was chosen ("rope_theta absent: 10000 by the llama format").
  void assume(std::string what);
  /// Records a refusal: "rope_scaling.type = \"foo\" is not supported (default, linear, llama3)".
  void refuse(std::string what);

  const std::vector<std::string>& assumptions() const { return assumptions_; }
  /// Every recorded fault, and every key that was neither read nor ignored, in one error.
  Status finish() const;
  const std::string& source() const { return source_; }

 private:
  const MetadataValue* read(const std::string& key);
  const Metadata& metadata_;
  std::string source_;
  void refuseAbsent(const std::string& key);
  std::set<std::string> consumed_;
  std::vector<std::string> ignored_patterns_;
  std::vector<std::string> assumptions_;
  std::vector<std::string> faults_;
};

}  // namespace sublane::io
