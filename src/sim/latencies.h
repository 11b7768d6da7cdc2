// How far apart a chip's schedules keep an operation and what depends on it: data of the scoreboard.
//
// The compiler's listings say it: over many of them, the smallest distance between an operation and the
// first that takes its result is the latency that the compiler counts with, and the smallest between two
// operations of one unit is how long the first keeps the second waiting. `Seen` collects such distances,
// `src/sim/latencies/<chip>.csv` keeps them, `Latencies` answers.
//
//   Latencies latencies = *latenciesOf("v6e");
//   latencies.result("vexp2.f32", llo::Unit::kPop);   // 13
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "llo/listing.h"

namespace sublane::sim {

/// "vadd.f32": an instruction's words, without its unit's number.
std::string kindOf(const llo::Listing& listing, const llo::BundleInstruction& instruction);

/// A smallest distance in cycles, how often it was seen, and how many pairs there were.
struct Distance {
  int cycles = 0;
  int64_t hits = 0, pairs = 0;
};

/// Distances by what they lie between: an operation's kind and the unit that takes its result, or two kinds
/// of one unit.
struct Seen {
  using Key = std::pair<std::string, std::string>;
  std::map<Key, Distance> results, intervals;

  static void note(std::map<Key, Distance>& rows, const Key& key, int cycles);
  void add(const llo::Listing& listing, int delay_slots);
  /// Lines "result|interval,from,to,cycles,hits,pairs", sorted.
  std::string toCsv() const;
};

class Latencies {
 public:
  /// Cycles from an operation's issue until its result can be taken. A distance that was hit less than
  /// kFewestHits times may be chance: then the smallest of the kind is taken, then of its operation in any
  /// form, then 1.
  int result(const std::string& kind, llo::Unit taker) const;
  /// Cycles from the issue of one operation to that of the next on the same unit; then, likewise, the
  /// smallest of the operations in any form, then 1.
  int interval(const std::string& from, const std::string& to) const;

  static constexpr int64_t kFewestHits = 3;

 private:
  friend Result<Latencies> readLatencies(std::string_view csv, const std::string& where);
  std::map<Seen::Key, int> results_, intervals_, of_operations_;  // the last: intervals of any forms
  std::map<std::string, int> of_kind_, of_operation_;
};

/// Errors: a line that is not such a row.
Result<Latencies> readLatencies(std::string_view csv, const std::string& where);
/// Errors: no table of the chip.
Result<Latencies> latenciesOf(const std::string& chip);

}  // namespace sublane::sim
