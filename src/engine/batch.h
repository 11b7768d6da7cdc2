// Packing: which tokens of which sequences go into a step, as the arrays that the step program takes.
//
//   Batch batch = packBatch(shape, {{.sequence = 0, .first = 12, .tokens = {...}, .pages = {...}}});
//   batch.array("kv_slots")     // i32 [T]
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "models/models.h"

namespace sublane::engine {

/// The part of one sequence that a step reads.
struct Slice {
  std::vector<int32_t> tokens;  // at least one
  int64_t first = 0;            // position of tokens[0]
  std::vector<int32_t> pages;   // of the sequence, in order; enough for first + tokens.size()
  int32_t state_slot = -1;      // of the sequence, in the caches of recurrent layers
  Draw draw;
};

/// Step inputs by name, 4 bytes an element (i32, u32 or f32 as the program declares).
using Batch = std::map<std::string, std::vector<uint32_t>>;

/// Packs the slices in order; row i of the step is slices[i]. The rest is padding as models.h describes it.
/// The caller has checked that they fit the shape.
Batch packBatch(const models::StepShape& shape, std::span<const Slice> slices);

}  // namespace sublane::engine
