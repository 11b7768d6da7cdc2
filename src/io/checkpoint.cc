#include "io/checkpoint.h"

#include <algorithm>
#include <filesystem>

#include "io/gguf.h"
#include "io/hub_cache.h"
#include "io/known_checkpoints.h"
#include "io/quantised.h"
#include "io/safetensors.h"
#include "io/verified_file.h"

namespace sublane::io {
namespace {

namespace fs = std::filesystem;

Result<Checkpoint> openKnown(const KnownCheckpoint& known) {
  SUBLANE_TRY(std::string path, cachedPath(known));
  std::error_code ignored;
  const uintmax_t bytes = fs::file_size(path, ignored);
  const std::string hint = fmt::format("run: sublane fetch {}", known.name);
  if (ignored) return machineError("{}: not fetched yet ({} is missing)", known.name, path).hint(hint);
  if (bytes != known.bytes) {
    return machineError("{}: {} has {} bytes, not {}", known.name, path, bytes, known.bytes).hint(hint);
  }
  SUBLANE_TRY(bool unchanged, isVerified(path, known.bytes, known.sha256));
  if (!unchanged) {
    return machineError("{}: {} has changed since it was fetched: its sha256 is not {}", known.name, path,
                        known.sha256)
        .hint(hint);
  }
  return openGguf(path);
}

std::vector<std::string> filesEndingIn(const std::string& folder, std::string_view extension) {
  std::vector<std::string> found;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    if (entry->path().extension() == extension) found.push_back(entry->path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool holds(const std::string& folder, const char* name) {
  std::error_code ignored;
  return fs::exists(folder + "/" + name, ignored);
}

Result<Checkpoint> openHuggingFace(const std::string& folder) {
  if (!holds(folder, "config.json")) {
    const bool adapter = holds(folder, "adapter_config.json");
    return inputError("{}: {}", folder,
                      adapter ? "an adapter (adapter_config.json), not a model" : "no config.json")
        .hint(adapter ? "merge it into its base model: merge_and_unload of peft, then save_pretrained"
                      : "a Hugging Face folder holds config.json beside its .safetensors files");
  }
  SUBLANE_TRY(Checkpoint checkpoint, openConfig(folder));
  checkpoint.source = checkpoint.folder = folder;
  SUBLANE_CHECK_OK(openSafetensorsFiles(checkpoint));
  SUBLANE_TRY(JoinedTensors joined,
              joinQuantised(checkpoint.metadata, std::move(checkpoint.tensors), checkpoint.source));
  checkpoint.tensors = std::move(joined.tensors);
  checkpoint.notes.insert(checkpoint.notes.end(), joined.notes.begin(), joined.notes.end());
  return checkpoint;
}

Result<Checkpoint> openFolder(const std::string& folder) {
  const std::vector<std::string> files = filesEndingIn(folder, ".gguf");
  const bool hugging_face = !filesEndingIn(folder, ".safetensors").empty() || holds(folder, "config.json");
  if (files.size() == 1 && !hugging_face) return openGguf(files[0]);
  if (!files.empty()) {
    return inputError("{}: holds {} .gguf file{}{}:\n  {}", folder, files.size(),
                      files.size() == 1 ? "" : "s",
                      hugging_face ? " and a Hugging Face checkpoint" : ", not one", fmt::join(files, "\n  "))
        .hint("give one of them as MODEL");
  }
  if (hugging_face) return openHuggingFace(folder);
  return inputError("{}: the folder holds neither a .gguf file nor a Hugging Face checkpoint", folder)
      .hint(fmt::format("give a .gguf file, a folder with config.json and .safetensors, or a name: {}",
                        knownCheckpointNames()));
}

}  // namespace

const Tensor* Checkpoint::find(const std::string& name) const {
  auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Result<Checkpoint> openCheckpoint(const std::string& model) {
  if (const KnownCheckpoint* known = findKnownCheckpoint(model)) return openKnown(*known);
  if (model.starts_with(kHubPrefix)) {
    SUBLANE_TRY(std::string folder, hubFolder(model));
    return openFolder(folder);
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(model, ignored);
  if (status.type() == fs::file_type::not_found || model.empty()) {
    return inputError("{}: no such file or folder, and no known name", model.empty() ? "MODEL" : model)
        .hint(fmt::format("give a .gguf file, a Hugging Face folder, hf:org/name, or a name: {}",
                          knownCheckpointNames()));
  }
  if (fs::is_directory(status)) return openFolder(model);
  const std::string extension = fs::path(model).extension().string();
  if (extension == ".safetensors") {
    return inputError("{}: one file of a Hugging Face checkpoint", model)
        .hint("give the folder that holds it, with config.json beside it");
  }
  if (extension == ".json") {
    return inputError("{}: a configuration, not a checkpoint", model)
        .hint(fmt::format("where shapes are enough (explain, simulate), use --config {}", model));
  }
  return openGguf(model);
}

}  // namespace sublane::io
