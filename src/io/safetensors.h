// Safetensors: a JSON header that names tensors, then their bytes, one after the other. Private to the
// folder.
//
// Read as strictly as the format's own library reads it: every byte of the data belongs to exactly one
// tensor.
//
//   SUBLANE_TRY(Safetensors file, parseSafetensors(map->bytes(), "model.safetensors"));
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/checkpoint.h"

namespace sublane::io {

struct Safetensors {
  std::vector<Tensor> tensors;                  // by offset, then by name
  std::map<std::string, std::string> metadata;  // "__metadata__"
};

/// Parses a whole file in memory; tensors point into `bytes`. Source:
/// https://github.com/huggingface/safetensors
Result<Safetensors> parseSafetensors(std::span<const std::byte> bytes, const std::string& source);

/// model.safetensors.index.json: which file holds which tensor.
struct SafetensorsIndex {
  std::map<std::string, std::string> file_of;  // tensor -> name of a file in the same folder
  int64_t total_size = -1;                     // bytes by its metadata; -1: not said
};
/// Errors: not such JSON; a tensor twice; a file's name that is a path.
Result<SafetensorsIndex> parseSafetensorsIndex(std::string_view text, const std::string& source);

/// All tensors of the folder's safetensors files, by the rule of one file or of an index. Fills tensors,
/// files and notes of `checkpoint`, whose folder is set. Error: every missing file and tensor, at once.
Status openSafetensorsFiles(Checkpoint& checkpoint);

}  // namespace sublane::io
