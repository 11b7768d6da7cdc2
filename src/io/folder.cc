#include "io/folder.h"

#include <filesystem>

#include "base/text.h"
#include "io/checkpoint.h"

namespace sublane::io {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostCompanionBytes = uint64_t{256} << 20;
constexpr size_t kMostNameBytes = 255;  // of one part of a path, on Linux

bool isOnePart(std::string_view name) {
  return !name.empty() && name.size() <= kMostNameBytes && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

/// models--org--name/snapshots/<revision>, or a folder in it: its files may be links into
/// models--org--name/blobs.
std::optional<fs::path> blobsOf(fs::path real_folder) {
  if (real_folder.parent_path().parent_path().filename() == "snapshots")
    real_folder = real_folder.parent_path();
  if (real_folder.parent_path().filename() != "snapshots") return std::nullopt;
  const fs::path repository = real_folder.parent_path().parent_path();
  if (!repository.filename().string().starts_with("models--")) return std::nullopt;
  return repository / "blobs";
}

}  // namespace

Result<std::optional<std::string>> pathInFolder(const std::string& folder, std::string_view name) {
  if (!isOnePart(name)) {
    return inputError("{}: {} is not the name of a file in this folder", folder, inQuotes(name, 80))
        .hint("files of a checkpoint lie beside each other; a path is never followed");
  }
  std::error_code code;
  const fs::path real_folder = fs::canonical(folder, code);
  if (code) return inputError("{}: cannot open: {}", folder, code.message());
  const fs::path path = real_folder / name;
  if (!fs::exists(fs::symlink_status(path, code))) return std::optional<std::string>();
  const fs::path real = fs::canonical(path, code);
  if (code) return inputError("{}: {} is a link to nothing", folder, inQuotes(name, 80));
  const bool inside = real.parent_path() == real_folder || real.parent_path() == blobsOf(real_folder);
  if (inside) return std::optional<std::string>(real.string());
  return inputError("{}: {} is a link that leaves the folder, to {}", folder, inQuotes(name, 80),
                    real.string())
      .hint(fmt::format("give the folder that holds the files themselves: {}", real.parent_path().string()));
}

Result<std::shared_ptr<const MappedFile>> openInFolder(const std::string& folder, std::string_view name,
                                                       uint64_t most_bytes) {
  SUBLANE_TRY(std::optional<std::string> path, pathInFolder(folder, name));
  if (!path) return std::shared_ptr<const MappedFile>();
  SUBLANE_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(*path));
  const uint64_t bytes = file->bytes().size();
  if (bytes > most_bytes) {
    return inputError("{}: {} has {} bytes, more than the {} that are read", folder, inQuotes(name), bytes,
                      most_bytes);
  }
  return file;
}

Result<std::optional<std::string>> readCompanion(const Checkpoint& checkpoint, std::string_view file_name) {
  if (checkpoint.folder.empty()) return std::optional<std::string>();
  SUBLANE_TRY(std::shared_ptr<const MappedFile> file,
              openInFolder(checkpoint.folder, file_name, kMostCompanionBytes));
  if (!file) return std::optional<std::string>();
  return std::optional<std::string>(std::in_place, reinterpret_cast<const char*>(file->bytes().data()),
                                    file->bytes().size());
}

Result<std::map<std::string, std::string>> readCompanions(const Checkpoint& checkpoint,
                                                          std::string_view folder, std::string_view ending) {
  constexpr size_t kMostFiles = 64;
  std::map<std::string, std::string> texts;
  const fs::path path = fs::path(checkpoint.folder) / folder;
  std::error_code code;
  if (checkpoint.folder.empty() || !fs::is_directory(fs::symlink_status(path, code))) return texts;
  for (fs::directory_iterator entry(path, code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(ending)) continue;
    if (texts.size() == kMostFiles) return inputError("{}: more than {} files", path.string(), kMostFiles);
    SUBLANE_TRY(std::shared_ptr<const MappedFile> file,
                openInFolder(path.string(), name, kMostCompanionBytes));
    if (file)
      texts[name.substr(0, name.size() - ending.size())].assign(
          reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  }
  return texts;
}

}  // namespace sublane::io
