#include "report/findings.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"

namespace sublane::report {
namespace {

struct Look {
  const Step& step;
  const chips::Chip& chip;
  bool layers_in_loop;

  double percent(double us) const { return step.total.us > 0 ? 100 * us / step.total.us : 0; }
};

bool has(const Row& row, Flag flag) {
  return std::find(row.flags.begin(), row.flags.end(), flag) != row.flags.end();
}

/// Executions: an operation in a loop counts each time.
std::string ops(int64_t count) {
  return fmt::format("{} {}", formatCount(count), count == 1 ? "operation" : "operations");
}
/// "1 operation copies", "2 operations copy".
std::string ops(int64_t count, std::string_view does, std::string_view they_do) {
  return ops(count) + " " + std::string(count == 1 ? does : they_do);
}

/// Sum over the rows for which `pick` holds.
struct Sum {
  double us = 0, bound_us = 0, hbm_us = 0, mxu_us = 0;
  int64_t bytes = 0, count = 0;
};
template <class Pick>
Sum sumOf(const Step& step, Pick&& pick) {
  Sum sum;
  for (const Row& row : step.rows) {
    if (!pick(row)) continue;
    sum.us += row.us;
    sum.bound_us += std::max(row.hbm_us, row.mxu_us);
    sum.bytes += row.hbm_bytes;
    sum.count += row.count;
  }
  return sum;
}

Finding stateCopies(const Look& look) {
  const Sum sum = sumOf(look.step, [](const Row& row) { return has(row, Flag::kWholeState); });
  if (sum.count == 0) return {};
  return {fmt::format("{} a whole donated buffer (cache): {:.1f} us ({:.0f} %), {} moved",
                      ops(sum.count, "copies", "copy"), sum.us, look.percent(sum.us),
                      formatBytes(static_cast<double>(sum.bytes))),
          look.layers_in_loop
              ? "it is donated, and copied in the loop all the same: --layers unrolled updates it in place"
              : "the program wants the buffer in another layout than its argument has: store it that way",
          sum.us};
}

Finding argumentCopies(const Look& look) {
  const Sum sum = sumOf(look.step, [](const Row& row) { return has(row, Flag::kWholeArgument); });
  if (sum.count == 0) return {};
  return {fmt::format("{} a whole weight at each step: {:.1f} us ({:.0f} %), {} moved",
                      ops(sum.count, "copies", "copy"), sum.us, look.percent(sum.us),
                      formatBytes(static_cast<double>(sum.bytes))),
          "the program wants the weight in another layout than its argument has: store it that way", sum.us};
}

Finding wholeTemporaries(const Look& look) {
  const auto& memory = look.step.memory;
  if (!memory || !memory->holdsWholeState()) return {};
  return {fmt::format("temporaries take {}, beside {} of donated state: room for a copy of the cache",
                      formatBytes(static_cast<double>(memory->temporaries)),
                      formatBytes(static_cast<double>(memory->state))),
          look.layers_in_loop
              ? "XLA may keep a copy of a cache that is updated in a loop: try --layers unrolled"
              : "look for the copies of the cache among the rows; a kernel that aliases needs none",
          2e6 * static_cast<double>(memory->temporaries) / look.chip.hbm_bytes_per_second};
}

/// The part whose matrix products lose most against their own bound.
Finding slowMatmuls(const Look& look) {
  std::map<std::string, Sum> parts;
  for (const Row& row : look.step.rows) {
    if (row.kind != "matmul") continue;
    Sum& sum = parts[row.place.part];
    sum.us += row.us;
    sum.bound_us += std::max(row.hbm_us, row.mxu_us);
    sum.hbm_us += row.hbm_us;
    sum.mxu_us += row.mxu_us;
    sum.bytes += row.hbm_bytes;
    sum.count += row.count;
  }
  Finding worst;
  for (const auto& [part, sum] : parts) {
    const double lost = sum.us - sum.bound_us;
    if (lost <= worst.us || sum.bound_us > 0.8 * sum.us) continue;
    worst = {fmt::format("{}: {} of matrix products take {:.1f} us ({:.0f} %), their bound is {:.1f} us "
                         "({:.0f} % reached)",
                         part.empty() ? "(no part)" : escaped(part), ops(sum.count), sum.us,
                         look.percent(sum.us), sum.bound_us, 100 * sum.bound_us / sum.us),
             sum.mxu_us > sum.hbm_us
                 ? "the MXU waits: larger tiles or products, or a kernel with better reuse of weights"
             : sum.bytes / std::max<int64_t>(1, sum.count) < (1 << 20)
                 ? "each reads little: join products that share their input, or prefetch their weights"
                 : "weights could stream faster: prefetch them, or merge products that share their input",
             lost};
  }
  return worst;
}

Finding slicedWeights(const Look& look) {
  const Sum sum = sumOf(look.step, [](const Row& row) {
    return row.kind == "slice" && row.count > 1 && row.hbm_bytes / row.count > (1 << 16);
  });
  if (sum.count == 0) return {};
  return {fmt::format("{} slices out of stacked arrays in a loop: {:.1f} us ({:.0f} %), {} moved",
                      ops(sum.count, "cuts", "cut"), sum.us, look.percent(sum.us),
                      formatBytes(static_cast<double>(sum.bytes))),
          look.layers_in_loop
              ? "weights are copied before they are used: --layers unrolled reads them in place"
              : "read the array in place, or split it into one argument each",
          sum.us};
}

/// The part whose vector work (elementwise, reductions, relayouts) takes most beyond its bytes.
Finding vectorWork(const Look& look) {
  std::map<std::string, Sum> parts;
  for (const Row& row : look.step.rows) {
    const bool vector =
        row.kind == "elementwise" || row.kind == "reduce" || (row.kind == "copy" && row.flags.empty());
    const double each = row.us / static_cast<double>(std::max<int64_t>(1, row.count));
    if (!vector || each < 5) continue;  // smaller ones: see smallOperations
    Sum& sum = parts[row.place.part];
    sum.us += row.us;
    sum.bound_us += std::max(row.hbm_us, row.mxu_us);
    sum.count += row.count;
  }
  Finding worst;
  for (const auto& [part, sum] : parts) {
    if (sum.us - sum.bound_us <= worst.us) continue;
    worst = {
        fmt::format("{}: {} of vector work take {:.1f} us ({:.0f} %), their bytes {:.1f} us",
                    part.empty() ? "(no part)" : escaped(part), ops(sum.count), sum.us, look.percent(sum.us),
                    sum.bound_us),
        "vector units, not memory: a kernel that keeps it in registers, a narrower type, or less padding",
        sum.us - sum.bound_us};
  }
  return worst;
}

Finding smallOperations(const Look& look) {
  auto small = [](const Row& row) {
    const double each = row.us / static_cast<double>(std::max<int64_t>(1, row.count));
    return row.origin == Origin::kCompiler && row.kind != "matmul" && each < 5 &&
           std::max(row.hbm_us, row.mxu_us) < 0.25 * row.us;
  };
  const Sum sum = sumOf(look.step, small);
  if (sum.count < 10) return {};
  return {fmt::format("{} of under 5 us each, not matmuls and far above their bounds, take {:.1f} us "
                      "({:.0f} %), their bytes only {:.1f} us",
                      ops(sum.count), sum.us, look.percent(sum.us), sum.bound_us),
          "a fixed cost each: fewer, larger operations (fuse, or a kernel for the part)",
          sum.us - sum.bound_us};
}

Finding exposedCopies(const Look& look) {
  const Sum sum = sumOf(look.step, [](const Row& row) {
    return row.kind == "prefetch" || row.kind == "async copy" || row.kind == "write back";
  });
  const double exposed = look.step.total.overlapped_us - (look.step.total.us - sum.us);
  if (sum.count == 0 || exposed < 0.02 * look.step.total.us) return {};
  return {
      fmt::format("asynchronous copies: {:.1f} us of {:.1f} us cannot hide behind the rows before their use",
                  exposed, sum.us),
      "start them earlier or read less: their time is HBM time (a bound, not a measurement)", exposed};
}

Finding padding(const Look& look) {
  const auto& memory = look.step.memory;
  if (!memory || memory->argument_data == 0 || memory->arguments < memory->argument_data * 11 / 10) return {};
  const int64_t waste = memory->arguments - memory->argument_data;
  return {fmt::format("arguments take {} for {} of data: tiles pad {:.0f} %",
                      formatBytes(static_cast<double>(memory->arguments)),
                      formatBytes(static_cast<double>(memory->argument_data)),
                      100 * static_cast<double>(waste) / static_cast<double>(memory->argument_data)),
          "the minor dimension is not a multiple of 128 lanes: pack heads or pages into it",
          1e6 * static_cast<double>(waste) / look.chip.hbm_bytes_per_second};
}

Finding wideResults(const Look& look) {
  auto wide = [](const Row& row) {
    return row.shape.substr(0, 4) == "f32[" && row.memory.size() >= 3 && row.memory.ends_with("-> HBM") &&
           row.hbm_bytes / std::max<int64_t>(1, row.count) > (1 << 20);
  };
  const Sum sum = sumOf(look.step, wide);
  if (sum.count == 0) return {};
  return {fmt::format("{} float32 results to HBM: {} moved, {:.1f} us", ops(sum.count, "writes", "write"),
                      formatBytes(static_cast<double>(sum.bytes)), sum.us),
          "half the bytes in bf16, or none if the next operation is fused with it", 0.5 * sum.bound_us};
}

Finding unknownCost(const Look& look) {
  const Sum sum = sumOf(look.step, [](const Row& row) { return has(row, Flag::kNoDescription); });
  if (sum.count == 0) return {};
  return {
      fmt::format("{} (kernels, custom calls) have no cost description: counted as {} of HBM traffic only",
                  ops(sum.count), formatBytes(static_cast<double>(sum.bytes))),
      "give the kernel a cost estimate, or simulate its bundles", sum.us};
}

Finding largestRow(const Look& look) {
  const Row* largest = nullptr;
  for (const Row& row : look.step.rows) {
    if (!largest || row.us > largest->us) largest = &row;
  }
  if (!largest || largest->us <= 0) return {};
  return {fmt::format("the largest operation is {} ({}{}{}): {:.1f} us ({:.0f} %), its bound is {:.1f} us",
                      escaped(largest->op), escaped(largest->place.part),
                      largest->place.part.empty() ? "" : ", ", largest->kind, largest->us,
                      look.percent(largest->us), std::max(largest->hbm_us, largest->mxu_us)),
          std::max(largest->hbm_us, largest->mxu_us) < 0.5 * largest->us
              ? "far above both bounds: neither bytes nor the MXU limit it; sublane simulate says what does"
          : largest->bound == Bound::kMxu
              ? "limited by the MXU: fewer operations, or a narrower type"
              : "limited by bytes: fewer bytes (quantised weights or cache), or better overlap",
          0.1 * largest->us};
}

}  // namespace

std::vector<Finding> findingsOf(const Step& step, const chips::Chip& chip, bool layers_in_loop) {
  const Look look{step, chip, layers_in_loop};
  std::vector<Finding> all;
  for (auto rule : {stateCopies, argumentCopies, wholeTemporaries, slicedWeights, slowMatmuls, vectorWork,
                    smallOperations, exposedCopies, padding, wideResults, unknownCost, largestRow}) {
    Finding finding = rule(look);
    if (!finding.what.empty()) all.push_back(std::move(finding));
  }
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) { return a.us > b.us; });
  if (all.size() > 3) all.resize(3);
  return all;
}

}  // namespace sublane::report
