// `hf:org/name[@revision]`: a model in the local cache of the Hugging Face hub. Nothing is downloaded.
// Private to the folder.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sublane::io {

constexpr std::string_view kHubPrefix = "hf:";

/// The folder of the revision's files ("main" unless said; a branch, a tag or a commit). The cache is
/// $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub.
/// Errors: a name that is not org/name; not in the cache, with the command that downloads it.
/// Source: https://huggingface.co/docs/huggingface_hub/guides/manage-cache
Result<std::string> hubFolder(std::string_view name);

}  // namespace sublane::io
