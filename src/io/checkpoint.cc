#include "io/checkpoint.h"

#include <algorithm>
#include <filesystem>

#include "io/gguf.h"
#include "io/known_checkpoints.h"
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

Result<Checkpoint> openFolder(const std::string& folder) {
  const std::vector<std::string> files = filesEndingIn(folder, ".gguf");
  if (files.size() == 1) return openGguf(files[0]);
  if (files.size() > 1) {
    return inputError("{}: holds {} .gguf files, not one:\n  {}", folder, files.size(),
                      fmt::join(files, "\n  "))
        .hint("give one of them as MODEL");
  }
  std::error_code ignored;
  if (fs::exists(folder + "/config.json", ignored) || !filesEndingIn(folder, ".safetensors").empty()) {
    return inputError("{}: a Hugging Face folder; reading safetensors comes later", folder)
        .hint(fmt::format("where shapes are enough (explain), use --config {}/config.json", folder));
  }
  return inputError("{}: the folder holds no .gguf file", folder)
      .hint(fmt::format("give a .gguf file, such a folder, or a name: {}", knownCheckpointNames()));
}

}  // namespace

const Tensor* Checkpoint::find(const std::string& name) const {
  auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Result<Checkpoint> openCheckpoint(const std::string& model) {
  if (const KnownCheckpoint* known = findKnownCheckpoint(model)) return openKnown(*known);
  std::error_code ignored;
  const fs::file_status status = fs::status(model, ignored);
  if (status.type() == fs::file_type::not_found || model.empty()) {
    return inputError("{}: no such file or folder, and no known name", model.empty() ? "MODEL" : model)
        .hint(
            fmt::format("give a .gguf file, a folder that holds one, or a name: {}", knownCheckpointNames()));
  }
  if (fs::is_directory(status)) return openFolder(model);
  if (fs::path(model).extension() == ".safetensors") {
    return inputError("{}: reading safetensors comes later", model)
        .hint("where shapes are enough (explain), use --config with the model's config.json");
  }
  if (fs::path(model).extension() == ".json") {
    return inputError("{}: a configuration, not a checkpoint", model)
        .hint(fmt::format("where shapes are enough (explain, simulate), use --config {}", model));
  }
  return openGguf(model);
}

}  // namespace sublane::io
