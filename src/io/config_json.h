// A Hugging Face config.json as metadata. Private to the folder; openConfig stands in checkpoint.h.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "io/checkpoint.h"

namespace sublane::io {

/// Objects are flattened ("rope_scaling.factor"); an array of objects too ("layers.0.size"). Errors: not
/// JSON, a key twice, a key above 512 bytes, no architecture.
Result<Checkpoint> parseConfig(std::string_view text, const std::string& source);

}  // namespace sublane::io
