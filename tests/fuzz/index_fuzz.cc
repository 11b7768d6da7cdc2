// Feeds any text to the reader of model.safetensors.index.json, and the files that it names to the rule that
// no name leads out of the folder.
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "io/folder.h"
#include "io/safetensors.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sublane;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = io::parseSafetensorsIndex(text, "fuzz");
  if (!parsed.ok()) return require(!parsed.error().message().empty()), 0;
  static const std::string folder = std::filesystem::temp_directory_path().string();
  static const std::string real = std::filesystem::canonical(folder).string();
  for (const auto& [tensor, file] : parsed->file_of) {
    auto path = io::pathInFolder(folder, file);
    if (path.ok() && *path) require((*path)->starts_with(real + "/") && file.find('/') == std::string::npos);
  }
  return 0;
}
