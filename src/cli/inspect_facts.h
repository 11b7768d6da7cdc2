// What `inspect` tells of a checkpoint: its tensors by format, its files, what a model makes of its
// configuration, its text, and all that was assumed. Private to the folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/checkpoint.h"
#include "models/models.h"
#include "text/text.h"

namespace sublane::cli {

struct TensorTotal {
  int64_t tensors = 0, parameters = 0, bytes = 0;
  void add(const io::Tensor& tensor);
};

struct InspectedFile {
  std::string path;
  int64_t bytes = 0, tensors = 0;
};

struct InspectFacts {
  io::Checkpoint checkpoint;
  TensorTotal total;
  std::vector<std::pair<std::string, TensorTotal>> by_format;  // most bytes first
  std::vector<InspectedFile> files;

  std::optional<models::DecoderConfig> config;
  std::optional<Error> model_fault;  // no model takes it, or its tensors don't fit
  std::optional<text::Tokenizer> tokenizer;
  std::optional<Error> text_fault;

  /// Of the configuration and of opening, in that order.
  std::vector<std::string> assumptions() const;
};

/// With all the parts of a quantised matrix.
int64_t storedBytes(const io::Tensor& tensor);
/// How a tensor's numbers are stored: "BF16", or a quantiser's parts in words.
std::string formatOf(const io::Tensor& tensor);

InspectFacts inspectFacts(io::Checkpoint checkpoint);

}  // namespace sublane::cli
