#include "report/cost.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "report/kind.h"
#include "report/place.h"
#include "report/traffic.h"
#include "report/whole_buffers.h"
#include "report/work.h"

namespace sublane::report {
namespace {

using llo::Computation;
using llo::HloModule;
using llo::Instruction;

constexpr int64_t kMostVisits = 5'000'000;

int64_t clamped(double value) {
  constexpr double kMost = 9e18;
  return value >= kMost ? static_cast<int64_t>(kMost) : std::llround(std::max(0.0, value));
}

std::string sourceOf(const llo::OpMetadata& metadata) {
  if (metadata.source_file.empty()) return "";
  return fmt::format("{}:{}", std::filesystem::path(metadata.source_file).filename().string(),
                     metadata.source_line);
}

/// What surrounds the operation being priced.
struct Context {
  double count = 1;  // executions
  bool trips_unknown = false;
  bool branch = false;
};

class Walk {
 public:
  Walk(const HloModule& module, const chips::Chip& chip)
      : module_(module), chip_(chip), work_(module, chip), places_(module), buffers_(module) {}

  Status computation(int32_t index, const Context& context);
  std::vector<Row> takeRows() { return std::move(rows_); }

 private:
  Status instruction(int32_t computation, int32_t index, const Context& context);
  Status loop(int32_t computation, const Instruction& at, Context context);
  void noteEnd(int32_t computation, const Instruction& done);
  Status conditional(const Instruction& at, const Context& context);
  Row row(int32_t computation, int32_t index, const Context& context);
  void price(const Instruction& at, const llo::BackendConfig& config, double mxu_seconds, double bytes,
             Row& row) const;
  void flag(int32_t computation, const Instruction& at, const Context& context, Row& row) const;

  const HloModule& module_;
  const chips::Chip& chip_;
  WorkCounter work_;
  Places places_;
  std::vector<Row> rows_;
  std::map<std::pair<int32_t, int32_t>, int32_t> started_;  // asynchronous copies to their rows
  WholeBuffers buffers_;
  int64_t visits_ = 0;
};

Status Walk::computation(int32_t index, const Context& context) {
  for (int32_t position : module_.at(index).schedule) SUBLANE_CHECK_OK(instruction(index, position, context));
  return Ok{};
}

Status Walk::instruction(int32_t computation_index, int32_t index, const Context& context) {
  const Computation& in = module_.at(computation_index);
  const Instruction& at = in.at(index);
  if (++visits_ > kMostVisits) return inputError("cost: more than {} operations to walk", kMostVisits);
  if (at.is("while")) return loop(computation_index, at, context);
  if (at.is("conditional")) return conditional(at, context);
  if (at.is("call")) {
    for (int32_t called : at.called) SUBLANE_CHECK_OK(computation(called, context));
    return Ok{};
  }
  if (at.is("copy-done") || at.is("async-done")) noteEnd(computation_index, at);
  const std::string kind = kindOf(module_, in, at);
  buffers_.visit(computation_index, index, kind);
  if (kind.empty()) return Ok{};
  rows_.push_back(row(computation_index, index, context));
  if (at.is("copy-start") || at.is("async-start")) started_[{computation_index, index}] = rows_.back().id;
  return Ok{};
}

/// The next row is the first that may use what the copy brought.
void Walk::noteEnd(int32_t computation_index, const Instruction& done) {
  if (done.operands.size() != 1) return;
  int32_t start = done.operands[0];
  const Computation& in = module_.at(computation_index);
  while (in.at(start).is("async-update") && !in.at(start).operands.empty()) start = in.at(start).operands[0];
  auto found = started_.find({computation_index, start});
  if (found == started_.end() || static_cast<size_t>(found->second) >= rows_.size()) return;
  rows_[static_cast<size_t>(found->second)].needed_by = static_cast<int32_t>(rows_.size());
}

Status Walk::loop(int32_t computation_index, const Instruction& at, Context context) {
  if (at.called.size() != 2)
    return inputError("cost: loop {} calls {} computations, not 2", at.name, at.called.size());
  const std::optional<int64_t> trips = llo::tripCount(module_, module_.at(computation_index), at);
  context.count *= static_cast<double>(trips.value_or(1));
  context.trips_unknown |= !trips;
  buffers_.enterLoop(computation_index, at);
  return computation(at.called[0], context);
}

/// Prices every branch and keeps the rows of the most expensive one.
Status Walk::conditional(const Instruction& at, const Context& context) {
  std::vector<Row> before = std::move(rows_), best;
  const auto first_id = static_cast<int32_t>(before.size());
  double best_us = -1;
  Context inside = context;
  inside.branch = true;
  for (int32_t branch : at.called) {
    rows_.clear();
    SUBLANE_CHECK_OK(computation(branch, inside));
    double us = 0;
    for (const Row& row : rows_) us += row.us;
    if (us > best_us) {
      best_us = us;
      best = std::move(rows_);
    }
  }
  rows_ = std::move(before);
  for (Row& row : best) {
    row.id += first_id;
    if (row.needed_by >= 0) row.needed_by += first_id;
    rows_.push_back(std::move(row));
  }
  return Ok{};
}

Row Walk::row(int32_t computation_index, int32_t index, const Context& context) {
  const Computation& in = module_.at(computation_index);
  const Instruction& at = in.at(index);
  const Work work = work_.of(in, at) * context.count;
  const double bytes = trafficOf(module_, in, at).total() * context.count;
  Row row;
  row.id = static_cast<int32_t>(rows_.size());
  row.place = places_.of(computation_index, index);
  row.kind = kindOf(module_, in, at);
  row.op = at.name;
  row.kernel = kernelName(at);
  row.count = clamped(context.count);
  row.hbm_bytes = clamped(bytes);
  if (!work.unknown) row.flops = clamped(work.matmul_flops + work.other_flops);
  row.matmul_flops = clamped(work.matmul_flops);
  row.transcendentals = clamped(work.transcendentals);
  row.memory = memorySpaces(in, at);
  row.shape = toString(at.shape);
  row.source = sourceOf(at.metadata);
  price(at, llo::readBackendConfig(at.backend_config), work.mxu_seconds, bytes, row);
  flag(computation_index, at, context, row);
  return row;
}

void Walk::price(const Instruction&, const llo::BackendConfig& config, double mxu_seconds, double bytes,
                 Row& row) const {
  row.hbm_us = 1e6 * bytes / chip_.hbm_bytes_per_second;
  row.mxu_us = 1e6 * mxu_seconds;
  const double bound_us = std::max(row.hbm_us, row.mxu_us);
  if (bound_us > 0) row.bound = row.hbm_us >= row.mxu_us ? Bound::kHbm : Bound::kMxu;
  if (config.estimated_cycles && *config.estimated_cycles > 0) {
    row.origin = Origin::kCompiler;
    row.cycles = clamped(static_cast<double>(*config.estimated_cycles) * static_cast<double>(row.count));
    row.us = 1e6 * static_cast<double>(row.cycles) / chip_.clock_hz;
    if (row.us < row.hbm_us) row.flags.push_back(Flag::kBelowHbmBound);
    return;
  }
  row.origin = Origin::kDatasheet;
  row.us = bound_us;
  row.cycles = clamped(bound_us * 1e-6 * chip_.clock_hz);
}

void Walk::flag(int32_t computation_index, const Instruction& at, const Context& context, Row& row) const {
  if (!row.flops) row.flags.push_back(Flag::kNoDescription);
  if (context.trips_unknown) row.flags.push_back(Flag::kTripsUnknown);
  if (context.branch) row.flags.push_back(Flag::kLargestBranch);
  if (at.cross_program_prefetch) row.flags.push_back(Flag::kOtherProgram);
  if ((row.kind != "copy" && row.kind != "async copy") || at.operands.empty()) return;
  const llo::Shape& source = module_.at(computation_index).at(at.operands[0]).shape;
  constexpr int64_t kLarge = 1 << 20;
  if (llo::hbmBytes(source) == 0 || llo::logicalBytes(source) < kLarge) return;
  const WholeBuffer whole = buffers_.of(computation_index, at.operands[0]);
  if (whole == WholeBuffer::kState) row.flags.push_back(Flag::kWholeState);
  if (whole == WholeBuffer::kArgument) row.flags.push_back(Flag::kWholeArgument);
}

bool isAsynchronous(const Row& row) {
  return row.kind == "prefetch" || row.kind == "write back" || row.kind == "async copy";
}

/// The step's time if asynchronous copies run while rows between their start and their end leave the HBM
/// idle; what is left when their result is needed is waited for. One HBM serves them in order of start.
double overlapped(const std::vector<Row>& rows) {
  struct Pending {
    double us;
    int32_t needed_by;
  };
  std::vector<Pending> pending;
  double us = 0;
  auto wait = [&](auto&& due) {
    for (Pending& copy : pending) us += due(copy) ? copy.us : 0;
    std::erase_if(pending, due);
  };
  for (const Row& row : rows) {
    wait([&](const Pending& copy) { return copy.needed_by >= 0 && copy.needed_by <= row.id; });
    if (isAsynchronous(row)) {
      pending.push_back({row.us, row.needed_by});
      continue;
    }
    us += row.us;
    double idle = std::max(0.0, row.us - row.hbm_us);
    for (Pending& copy : pending) {
      const double hidden = std::min(idle, copy.us);
      copy.us -= hidden;
      idle -= hidden;
    }
    std::erase_if(pending, [](const Pending& copy) { return copy.us <= 0; });
  }
  wait([](const Pending&) { return true; });
  return us;
}

}  // namespace

/// Foreign programs may hold counts that no sum of integers can.
static void add(int64_t& sum, int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = std::numeric_limits<int64_t>::max();
}

void sumRows(Step& step, const chips::Chip& chip) {
  Total total;
  for (const Row& row : step.rows) {
    total.rows += 1;
    add(total.cycles, row.cycles);
    total.us += row.us;
    add(total.hbm_bytes, row.hbm_bytes);
    add(total.flops, row.flops.value_or(0));
    add(total.matmul_flops, row.matmul_flops);
    total.mxu_us += row.mxu_us;
    total.raised_us += std::max(row.us, row.hbm_us);
    (row.origin == Origin::kCompiler ? total.compiler_us : total.datasheet_us) += row.us;
    if (!row.place.part.empty()) total.placed_us += row.us;
    total.unknown_rows += !row.flops;
    total.below_bound_rows += std::count(row.flags.begin(), row.flags.end(), Flag::kBelowHbmBound);
  }
  total.hbm_us = 1e6 * static_cast<double>(total.hbm_bytes) / chip.hbm_bytes_per_second;
  total.overlapped_us = overlapped(step.rows);
  for (Row& row : step.rows) row.share = total.us > 0 ? row.us / total.us : 0;
  step.total = total;
}

Result<Step> costOf(const HloModule& module, const chips::Chip& chip) {
  Walk walk(module, chip);
  SUBLANE_CHECK_OK(walk.computation(module.entry, Context{}));
  Step step;
  step.rows = walk.takeRows();
  sumRows(step, chip);
  return step;
}

std::string_view name(Bound bound) {
  constexpr std::string_view kNames[] = {"none", "hbm", "mxu"};
  return kNames[static_cast<size_t>(bound)];
}

std::string_view name(Flag flag) {
  constexpr std::string_view kNames[] = {"below-hbm-bound",   "no-description",     "trips-unknown",
                                         "largest-branch",    "copies-whole-state", "copies-whole-argument",
                                         "may-be-done-before"};
  return kNames[static_cast<size_t>(flag)];
}

}  // namespace sublane::report
