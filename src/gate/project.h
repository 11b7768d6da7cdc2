// sublane.toml: what `sublane check` checks when it is given nothing else: programs, chips, budgets.
//
//   [defaults]                     # of every program
//   chips = ["v6e"]
//   max_regression = "2%"
//   baseline = "perf/{name}.{chip}.baseline"
//
//   [[program]]
//   file = "decode.mlir"           # or model = "smollm2-135m", or config = "config.json"
//   inputs = "decode.npz"
//   budget = {us = 500, hbm_bytes = 1_000_000_000}
//
//   SUBLANE_TRY(std::vector<Entry> entries, readProject("sublane.toml"));
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sublane::gate {

/// What each step may take at most, whatever a baseline says.
struct Budget {
  std::optional<double> us;
  std::optional<int64_t> hbm_bytes;
  bool empty() const { return !us && !hbm_bytes; }
};

/// One program on one chip. Paths are relative to the file's folder, which is put before them.
struct Entry {
  std::string name;     // unique with the chip; the file's or model's name, unless given
  std::string subject;  // a program's file or a model; empty with
  std::string config;   // a config.json: shapes only
  std::string chip, mesh, step, inputs, layers, dtype;
  int64_t batch = 0, context = 0, prefill_tokens = 0, page_size = 0;  // 0: not given
  std::vector<std::string> compile_options;                           // "xla_flag=value"
  std::string baseline;                                               // empty: only the budget counts
  double most_regression = 0.02;
  Budget budget;
  std::string where;  // "sublane.toml:12"
};

/// Errors, with file and line: no TOML, a key that is not known (those that are), a value of another type or
/// out of range, no chip, neither baseline nor budget, two entries of one name and chip.
Result<std::vector<Entry>> readProject(const std::string& path);
Result<std::vector<Entry>> parseProject(std::string_view text, const std::string& path);

/// "2%" or "0.02"; at most 1000 %.
Result<double> readShare(const std::string& text);

}  // namespace sublane::gate
