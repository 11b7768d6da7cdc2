// Which safetensors files of a folder hold the model: one file, or those that an index names.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "io/folder.h"
#include "io/safetensors.h"

namespace sublane::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kSingle = "model.safetensors";
constexpr uint64_t kMostIndexBytes = uint64_t{64} << 20;
constexpr uint64_t kAnySize = std::numeric_limits<uint64_t>::max();

std::vector<std::string> namesEndingIn(const std::string& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    std::string name = entry->path().filename().string();
    if (name.ends_with(ending)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

/// "1 of 3" of "model-00001-of-00003.safetensors".
bool isPart(const std::string& name) { return name.find("-of-0") != std::string::npos; }

Error noWeights(const std::string& folder) {
  for (const char* ending : {".bin", ".pth", ".pt", ".ckpt"}) {
    const std::vector<std::string> pickles = namesEndingIn(folder, ending);
    if (pickles.empty()) continue;
    return inputError("{}: no .safetensors file, but {}: pickled weights can run any code and are not read",
                      folder, inQuotes(pickles[0]))
        .hint(
            "convert them: save_pretrained(..., safe_serialization=True) of transformers writes safetensors");
  }
  return inputError("{}: no .safetensors file", folder)
      .hint("where shapes are enough (explain, simulate), use --config with the folder's config.json");
}

/// The one file to read when there is no index.
Result<std::string> singleFile(Checkpoint& checkpoint, const std::vector<std::string>& names) {
  if (names.empty()) return noWeights(checkpoint.folder);
  const bool usual = std::ranges::find(names, kSingle) != names.end();
  if (!usual && names.size() == 1 && !isPart(names[0])) return names[0];
  if (!usual) {
    return inputError("{}: {} .safetensors file{} and no {}, which says what they hold: {}",
                      checkpoint.folder, names.size(), names.size() == 1 ? "" : "s", kIndex,
                      fmt::join(names, ", "))
        .hint("fetch the index beside them; a folder without one holds a single model.safetensors");
  }
  for (const std::string& name : names) {
    if (name != kSingle)
      checkpoint.notes.push_back(fmt::format("{} is left aside: {} holds the model", escaped(name), kSingle));
  }
  return std::string(kSingle);
}

Status addFile(Checkpoint& checkpoint, std::shared_ptr<const MappedFile> file, std::vector<Tensor> tensors) {
  const auto number = static_cast<uint32_t>(checkpoint.files.size());
  checkpoint.files.push_back(std::move(file));
  for (Tensor& tensor : tensors) {
    tensor.file = number;
    checkpoint.tensors.push_back(std::move(tensor));
  }
  return Ok{};
}

Status openSingle(Checkpoint& checkpoint, const std::vector<std::string>& names) {
  SUBLANE_TRY(std::string name, singleFile(checkpoint, names));
  SUBLANE_TRY(std::shared_ptr<const MappedFile> file, openInFolder(checkpoint.folder, name, kAnySize));
  if (!file) return noWeights(checkpoint.folder);
  SUBLANE_TRY(Safetensors parsed, parseSafetensors(file->bytes(), checkpoint.folder + "/" + name));
  return addFile(checkpoint, std::move(file), std::move(parsed.tensors));
}

/// Faults of an index and its shards: all of them in one error.
class IndexFaults {
 public:
  explicit IndexFaults(std::string source) : source_(std::move(source)) {}
  void add(std::string fault) {
    if (++count_ <= 12) text_ += "\n  " + fault;
  }
  bool any() const { return count_ > 0; }
  Error error() const {
    std::string more = count_ > 12 ? fmt::format("\n  and {} more", count_ - 12) : "";
    return inputError("{}: {} fault{}:{}{}", source_, count_, count_ == 1 ? "" : "s", text_, more)
        .hint("a part is missing or of another download: fetch the whole folder again");
  }

 private:
  std::string source_, text_;
  size_t count_ = 0;
};

using Shards = std::map<std::string, std::set<std::string>>;  // file -> its tensors

Result<std::map<std::string, std::shared_ptr<const MappedFile>>> openShards(const std::string& folder,
                                                                            const Shards& shards,
                                                                            IndexFaults& faults) {
  std::map<std::string, std::shared_ptr<const MappedFile>> files;
  size_t missing = 0;
  for (const auto& [name, tensors] : shards) {
    SUBLANE_TRY(std::shared_ptr<const MappedFile> file, openInFolder(folder, name, kAnySize));
    if (file)
      files.emplace(name, std::move(file));
    else
      faults.add(fmt::format("{} is missing ({} of {} files, {} of its tensors are named)", inQuotes(name),
                             ++missing, shards.size(), tensors.size()));
  }
  return files;
}

/// What the index gives to a shard, in the shard's order; notes what else lies there.
std::vector<Tensor> chosen(std::vector<Tensor> stored, const std::string& name,
                           const std::set<std::string>& wanted, Checkpoint& checkpoint, IndexFaults& faults) {
  std::vector<Tensor> taken;
  std::set<std::string> found;
  for (Tensor& tensor : stored) {
    if (!wanted.contains(tensor.name)) {
      checkpoint.notes.push_back(fmt::format("tensor {} of {} is left aside: the index doesn't name it there",
                                             inQuotes(tensor.name), escaped(name)));
      continue;
    }
    found.insert(tensor.name);
    taken.push_back(std::move(tensor));
  }
  for (const std::string& tensor : wanted) {
    if (!found.contains(tensor))
      faults.add(
          fmt::format("tensor {} is not in {}, where the index says", inQuotes(tensor), inQuotes(name)));
  }
  return taken;
}

Status openIndexed(Checkpoint& checkpoint, const MappedFile& index_file,
                   const std::vector<std::string>& names) {
  const std::string source = checkpoint.folder + "/" + kIndex;
  const std::string_view text(reinterpret_cast<const char*>(index_file.bytes().data()),
                              index_file.bytes().size());
  SUBLANE_TRY(SafetensorsIndex index, parseSafetensorsIndex(text, source));
  Shards shards;
  for (const auto& [tensor, file] : index.file_of) shards[file].insert(tensor);
  if (shards.empty()) return inputError("{}: it names no tensor", source);
  if (std::ranges::find(names, kSingle) != names.end() && !shards.contains(kSingle)) {
    return inputError("{}: holds {} and also an index that doesn't name it: which of them is the model?",
                      checkpoint.folder, kSingle)
        .hint(fmt::format("move {} or {} away", kSingle, kIndex));
  }
  IndexFaults faults(source);
  SUBLANE_TRY(auto files, openShards(checkpoint.folder, shards, faults));
  int64_t bytes = 0;
  for (auto& [name, file] : files) {
    SUBLANE_TRY(Safetensors parsed, parseSafetensors(file->bytes(), checkpoint.folder + "/" + name));
    std::vector<Tensor> taken = chosen(std::move(parsed.tensors), name, shards[name], checkpoint, faults);
    for (const Tensor& tensor : taken) bytes += static_cast<int64_t>(tensor.bytes.size());
    SUBLANE_CHECK_OK(addFile(checkpoint, file, std::move(taken)));
  }
  if (faults.any()) return faults.error();
  for (const std::string& name : names) {
    if (!shards.contains(name))
      checkpoint.notes.push_back(fmt::format("{} is left aside: the index doesn't name it", escaped(name)));
  }
  if (index.total_size >= 0 && index.total_size != bytes)
    checkpoint.notes.push_back(
        fmt::format("{} says {} bytes in all, the tensors have {}", kIndex, index.total_size, bytes));
  return Ok{};
}

}  // namespace

Status openSafetensorsFiles(Checkpoint& checkpoint) {
  const std::vector<std::string> names = namesEndingIn(checkpoint.folder, ".safetensors");
  SUBLANE_TRY(std::shared_ptr<const MappedFile> index,
              openInFolder(checkpoint.folder, kIndex, kMostIndexBytes));
  return index ? openIndexed(checkpoint, *index, names) : openSingle(checkpoint, names);
}

Result<Checkpoint> openTensors(const std::string& path) {
  if (!path.ends_with(".safetensors")) return openCheckpoint(path);
  SUBLANE_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  SUBLANE_TRY(Safetensors parsed, parseSafetensors(file->bytes(), path));
  Checkpoint checkpoint;
  checkpoint.source = path;
  checkpoint.container = Container::kHuggingFace;
  SUBLANE_CHECK_OK(addFile(checkpoint, std::move(file), std::move(parsed.tensors)));
  return checkpoint;
}

}  // namespace sublane::io
