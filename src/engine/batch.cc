#include "engine/batch.h"

#include <bit>

namespace sublane::engine {
namespace {

void putToken(Batch& batch, const models::StepShape& shape, const Slice& slice, size_t row, size_t column,
              size_t t) {
  auto position = static_cast<size_t>(slice.first) + column;
  auto page_size = static_cast<size_t>(shape.page_size);
  auto page = static_cast<size_t>(slice.pages[position / page_size]);
  batch["tokens"][t] = static_cast<uint32_t>(slice.tokens[column]);
  batch["positions"][t] = static_cast<uint32_t>(position);
  batch["token_sequence"][t] = static_cast<uint32_t>(row);
  batch["token_column"][t] = static_cast<uint32_t>(column);
  batch["query_token"][row * static_cast<size_t>(shape.queries) + column] = static_cast<uint32_t>(t);
  batch["kv_slots"][t] = static_cast<uint32_t>(page * page_size + position % page_size);
}

void putRow(Batch& batch, const models::StepShape& shape, const Slice& slice, size_t row, size_t last_token) {
  for (size_t p = 0; p < slice.pages.size(); ++p) {
    batch["page_table"][row * static_cast<size_t>(shape.pages_per_sequence) + p] =
        static_cast<uint32_t>(slice.pages[p]);
  }
  batch["lengths"][row] = static_cast<uint32_t>(slice.first) + static_cast<uint32_t>(slice.tokens.size());
  batch["state_slots"][row] = static_cast<uint32_t>(slice.state_slot);
  batch["logit_token"][row] = static_cast<uint32_t>(last_token);
  batch["temperature"][row] = std::bit_cast<uint32_t>(slice.draw.temperature);
  batch["top_k"][row] = static_cast<uint32_t>(slice.draw.top_k);
  batch["top_p"][row] = std::bit_cast<uint32_t>(slice.draw.top_p);
  batch["seed"][row] = slice.draw.seed;
}

}  // namespace

Batch packBatch(const models::StepShape& shape, std::span<const Slice> slices) {
  auto T = static_cast<size_t>(shape.tokens), S = static_cast<size_t>(shape.sequences);
  auto Q = static_cast<size_t>(shape.queries), P = static_cast<size_t>(shape.pages_per_sequence);
  constexpr uint32_t kNone = static_cast<uint32_t>(-1);
  Batch batch;
  for (const char* name : {"tokens", "positions", "token_column"}) batch[name].assign(T, 0);
  batch["token_sequence"].assign(T, static_cast<uint32_t>(S));
  batch["kv_slots"].assign(T, kNone);
  batch["query_token"].assign(S * Q, kNone);
  batch["state_slots"].assign(S, kNone);
  batch["page_table"].assign(S * P, 0);
  for (const char* name : {"lengths", "logit_token", "temperature", "top_k", "seed"})
    batch[name].assign(S, 0);
  batch["top_p"].assign(S, std::bit_cast<uint32_t>(1.0f));

  size_t t = 0;
  for (size_t row = 0; row < slices.size(); ++row) {
    for (size_t column = 0; column < slices[row].tokens.size(); ++column) {
      putToken(batch, shape, slices[row], row, column, t++);
    }
    putRow(batch, shape, slices[row], row, t - 1);
  }
  return batch;
}

}  // namespace sublane::engine
