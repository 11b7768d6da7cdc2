// Bytes over time to and from the HBM, in a bounded number of equal intervals whose length doubles when they
// do not reach. Private to the folder.
//
// Transfers share the HBM: with n of them moving bytes at once, each gets 1/n (docs/simulator.md). So a
// transfer's bytes are spread over its time by what the others left to it. Sums are exact.
//
//   Traffic traffic(4096);
//   traffic.add({.begin = 100, .end = 164, .bytes = 2048, .read = true});
//   traffic.finish();
//   for (const int64_t bytes : traffic.read()) fmt::print("{} in {} cycles\n", bytes, traffic.interval());
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublane::views {

class Traffic {
 public:
  /// Bytes that move between two cycles; both ways, if they are copied within the HBM.
  struct Move {
    int64_t begin = 0, end = 0, bytes = 0;
    bool read = false, written = false;
  };

  explicit Traffic(size_t most) : most_(most) {}
  void add(const Move& move);
  /// To be called before the results are read.
  void finish();

  int64_t interval() const { return interval_; }              // cycles
  const std::vector<int64_t>& read() const { return read_; }  // of each interval from cycle 0
  const std::vector<int64_t>& written() const { return written_; }

 private:
  void reach(int64_t cycle);

  size_t most_;
  int64_t interval_ = 64;
  std::vector<Move> moves_;  // not spread yet
  std::vector<int64_t> read_, written_;
};

}  // namespace sublane::views
