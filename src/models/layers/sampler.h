// Sampling inside the program: greedy, or temperature, then top-k, then top-p, then a draw.
//
// Order: logits are divided by the temperature; top-k keeps the k largest (all that tie with the k-th); top-p
// keeps, of what is left and renormalised, the smallest set of largest tokens whose probability reaches p. At
// least one token is kept. A row is greedy (argmax, the lowest id on ties) when temperature <= 0, top_k = 1
// or top_p <= 0; top_k <= 0 or >= vocabulary and top_p >= 1 limit nothing; -inf and NaN logits are
// never drawn; a row with nothing but NaN draws -1.
//
// A draw depends on the row's logits, its seed and the position of the drawn token only: not on the row, the
// batch or the steps before. There is no sort: thresholds are found by bisection over the bits of the logits.
//
//   ValueId token = buildSampler(b, {logits, temperature, top_k, top_p, seed, position});
#pragma once

#include "graph/builder.h"

namespace sublane::models {

struct SamplerInputs {
  graph::ValueId logits = -1;       // f32 [S, V]
  graph::ValueId temperature = -1;  // f32 [S]
  graph::ValueId top_k = -1;        // i32 [S]
  graph::ValueId top_p = -1;        // f32 [S]
  graph::ValueId seed = -1;         // u32 [S]
  graph::ValueId position = -1;     // i32 [S]
};

/// i32 [S]
graph::ValueId buildSampler(graph::Builder& b, const SamplerInputs& in);
graph::ValueId buildGreedySampler(graph::Builder& b, graph::ValueId logits);

/// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011):
/// the first word of the output. All u32 of one shape.
graph::ValueId threefry(graph::Builder& b, graph::ValueId key0, graph::ValueId key1, graph::ValueId counter0,
                        graph::ValueId counter1);

}  // namespace sublane::models
