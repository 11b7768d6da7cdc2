#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/interpreter_ops.h"

namespace sublane::graph {

Array runCacheWrite(Array cache, const Array& rows, const Array& slots) {
  int64_t slot_count = cache.type.shape[0] * cache.type.shape[1];
  std::vector<int64_t> where = unpackIntegers(slots);
  size_t bytes = where.empty() ? 0 : rows.data.size() / where.size();
  for (size_t i = 0; i < where.size(); ++i) {
    if (where[i] < 0 || where[i] >= slot_count || bytes == 0) continue;
    std::memcpy(cache.data.data() + static_cast<size_t>(where[i]) * bytes, rows.data.data() + i * bytes,
                bytes);
  }
  return cache;
}

namespace {

/// One step's attention, its operands unpacked.
struct Attention {
  AttentionAttrs attrs;
  int64_t heads, dim, kv_heads, pages, page_size, sequences, pages_per_sequence;
  std::vector<double> q;
  const Array& k_cache;
  const Array& v_cache;
  std::vector<int64_t> page_table, lengths;
  int64_t window;
  std::vector<double> sinks;  // by head; empty: none

  /// Where the key of this position lies in the cache, in slots.
  int64_t slot(int64_t sequence, int64_t position) const {
    int64_t page = page_table[static_cast<size_t>(sequence * pages_per_sequence + position / page_size)];
    return std::clamp<int64_t>(page, 0, pages - 1) * page_size + position % page_size;
  }
  /// The dim numbers of one head of one slot.
  std::vector<double> row(const Array& cache, int64_t slot, int64_t kv_head) const {
    size_t bytes = static_cast<size_t>(dim * formats::bytesPerElement(cache.type.dtype));
    Array one = zeros({cache.type.dtype, {dim}});
    if (bytes > 0)
      std::memcpy(one.data.data(), cache.data.data() + static_cast<size_t>(slot * kv_heads + kv_head) * bytes,
                  bytes);
    return unpackFloats(one);
  }
  double score(const double* query, const std::vector<double>& key) const {
    double sum = 0;
    for (int64_t d = 0; d < dim; ++d) sum += query[d] * key[static_cast<size_t>(d)];
    sum *= attrs.scale;
    return attrs.soft_cap == 0 ? sum : attrs.soft_cap * std::tanh(sum / attrs.soft_cap);
  }

  /// Keys [first, last) that a token at `position` sees: its past and itself, in the window, in the cache.
  std::pair<int64_t, int64_t> seen(int64_t sequence, int64_t position) const {
    int64_t last =
        std::min({position + 1, lengths[static_cast<size_t>(sequence)], pages_per_sequence * page_size});
    return {std::max<int64_t>(0, position - window + 1), last};
  }

  void token(int64_t token, int64_t sequence, int64_t position, std::vector<double>& out) const {
    auto [first, last] = seen(sequence, position);
    if (first >= last) return;  // sees nothing: stays 0
    for (int64_t head = 0; head < heads; ++head) {
      int64_t kv_head = head / (heads / kv_heads);
      int64_t at = (token * heads + head) * dim;
      std::vector<double> weights;
      for (int64_t key = first; key < last; ++key)
        weights.push_back(score(q.data() + at, row(k_cache, slot(sequence, key), kv_head)));
      double most = *std::max_element(weights.begin(), weights.end()), total = 0;
      if (!sinks.empty()) {
        most = std::max(most, sinks[static_cast<size_t>(head)]);
        total = std::exp(sinks[static_cast<size_t>(head)] - most);
      }
      for (double& weight : weights) total += weight = std::exp(weight - most);
      for (int64_t key = first; key < last; ++key) {
        std::vector<double> value = row(v_cache, slot(sequence, key), kv_head);
        double weight = weights[static_cast<size_t>(key - first)] / total;
        for (int64_t d = 0; d < dim; ++d)
          out[static_cast<size_t>(at + d)] += weight * value[static_cast<size_t>(d)];
      }
    }
  }
};

}  // namespace

Array runPagedAttention(const Call& call) {
  const Shape& q = call.in[0]->type.shape;
  const Shape& cache = call.in[1]->type.shape;
  const Shape& table = call.in[3]->type.shape;
  Attention attention{call.attrs<AttentionAttrs>(),
                      q[1],
                      q[2],
                      cache[2],
                      cache[0],
                      cache[1],
                      table[0],
                      table[1],
                      unpackFloats(*call.in[0]),
                      *call.in[1],
                      *call.in[2],
                      unpackIntegers(*call.in[3]),
                      unpackIntegers(*call.in[4]),
                      unpackIntegers(*call.in[9])[0],
                      call.in.size() > 10 ? unpackFloats(*call.in[10]) : std::vector<double>{}};
  std::vector<int64_t> positions = unpackIntegers(*call.in[5]), sequences = unpackIntegers(*call.in[6]);
  std::vector<double> out(attention.q.size(), 0.0);
  for (int64_t token = 0; token < q[0]; ++token) {
    int64_t sequence = sequences[static_cast<size_t>(token)];
    if (sequence >= 0 && sequence < attention.sequences)
      attention.token(token, sequence, positions[static_cast<size_t>(token)], out);
  }
  return packFloats(call.result, out);
}

}  // namespace sublane::graph
