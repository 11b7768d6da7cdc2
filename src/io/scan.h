// Reads every byte of every tensor once and counts the numbers that are NaN or infinite.
//
// Plain floats are looked at one by one. In a block format only its scales and minima can be NaN or infinite,
// so those are counted; the other bytes are still read, into the checksum. Chunks are handed to threads as
// they become free; counts and checksum do not depend on the number of threads.
//
//   CheckpointScan scan = scanCheckpoint(checkpoint, 2);
//   if (scan.nans + scan.infinities > 0) return inputError("{}: not finite", scan.findings[0].tensor);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/checkpoint.h"

namespace sublane::io {

struct TensorFinding {
  std::string tensor;
  int64_t nans = 0;
  int64_t infinities = 0;
};

struct CheckpointScan {
  int64_t bytes = 0;  // of tensors
  int64_t nans = 0;   // numbers: values, or scales of blocks
  int64_t infinities = 0;
  std::vector<TensorFinding> findings;  // tensors that have some, in file order
  uint64_t checksum = 0;                // exclusive or of all 8-byte words of each tensor, zero-padded
  int threads = 1;
  double seconds = 0;  // measured, wall
};

/// threads < 1: as many as the machine has cores.
CheckpointScan scanCheckpoint(const Checkpoint& checkpoint, int threads = 0);

}  // namespace sublane::io
