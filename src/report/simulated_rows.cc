#include "report/simulated_rows.h"

#include <map>

#include "report/anatomy_of.h"
#include "report/kind.h"
#include "report/place.h"

namespace sublane::report {
namespace {

/// Flags of estimates that say nothing of an execution: its bytes, trips and branches are those that
/// happened.
bool ofEstimates(Flag flag) {
  return flag == Flag::kBelowHbmBound || flag == Flag::kTripsUnknown || flag == Flag::kLargestBranch;
}

/// Of the bytes of one core, whose likes the device's others move, too.
double hbmUs(int64_t bytes, const chips::Chip& chip) {
  return 1e6 * static_cast<double>(bytes) * static_cast<double>(chip.cores_per_device) /
         chip.hbm_bytes_per_second;
}

class Join {
 public:
  Join(const llo::Program& program, const Step& priced, const chips::Chip& chip, double clock_hz)
      : program_(program), chip_(chip), clock_hz_(clock_hz), places_(program.module) {
    for (const Row& row : priced.rows) priced_.try_emplace(row.op, &row);
  }

  SimulatedRow rowOf(const sim::OpTime& time) const {
    SimulatedRow simulated{.row = described(time.traced), .causes = time.causes};
    simulated.hbm_read_bytes = time.hbm_read_bytes;
    simulated.hbm_write_bytes = time.hbm_write_bytes;
    simulated.issued = issuedOf(time.issued);
    Row& row = simulated.row;
    const double times =
        row.count > 0 ? static_cast<double>(time.executions) / static_cast<double>(row.count) : 0;
    const auto scaled = [&](int64_t value) {
      return static_cast<int64_t>(static_cast<double>(value) * times);
    };
    if (row.flops) row.flops = scaled(*row.flops);
    row.matmul_flops = scaled(row.matmul_flops);
    row.transcendentals = scaled(row.transcendentals);
    row.mxu_us *= times;
    row.count = time.executions;
    row.cycles = time.cycles;
    row.us = 1e6 * static_cast<double>(time.cycles) / clock_hz_;
    row.hbm_bytes = time.hbm_read_bytes + time.hbm_write_bytes;
    row.hbm_us = hbmUs(row.hbm_bytes, chip_);
    row.bound = row.hbm_us <= 0 && row.mxu_us <= 0 ? Bound::kNone
                : row.hbm_us >= row.mxu_us         ? Bound::kHbm
                                                   : Bound::kMxu;
    row.origin = Origin::kSimulated;
    std::erase_if(row.flags, ofEstimates);
    return simulated;
  }

 private:
  Row described(int32_t traced) const {
    if (traced < 0 || static_cast<size_t>(traced) >= program_.traced.size()) {
      Row row;
      row.kind = "start, end";
      row.op = "(outside of operations)";
      row.count = 1;
      row.flops = 0;
      return row;
    }
    const llo::TracedOp& op = program_.traced[static_cast<size_t>(traced)];
    const auto priced = priced_.find(op.name);
    return priced != priced_.end() ? *priced->second : unpriced(op);
  }

  /// What explain gives no row: ends of asynchronous copies, loops, parts of the compiler's own.
  Row unpriced(const llo::TracedOp& op) const {
    Row row;
    row.op = op.name;
    row.kind = "other";
    row.flops = 0;
    if (op.computation < 0 || op.instruction < 0) return row;
    const llo::Computation& computation = program_.module.at(op.computation);
    const llo::Instruction& at = computation.at(op.instruction);
    row.place = places_.of(op.computation, op.instruction);
    row.kind = kindOf(program_.module, computation, at);
    if (at.opcode.ends_with("-done")) row.kind = "wait";
    if (at.is("while")) row.kind = "loop";
    if (at.is("conditional")) row.kind = "branch";
    if (row.kind.empty()) row.kind = at.opcode;
    row.shape = llo::toString(at.shape);
    if (!at.metadata.source_file.empty())
      row.source = fmt::format("{}:{}", at.metadata.source_file, at.metadata.source_line);
    return row;
  }

  const llo::Program& program_;
  const chips::Chip& chip_;
  double clock_hz_;
  Places places_;
  std::map<std::string, const Row*> priced_;
};

void copyTotals(const Step& priced, SimulatedStep& step) {
  step.name = priced.name;
  step.bucket = priced.bucket;
  step.fingerprint = priced.fingerprint;
  step.memory = priced.memory;
  step.compiler_us = priced.total.us;
  step.hbm_us = priced.total.hbm_us;
  step.mxu_us = priced.total.mxu_us;
}

}  // namespace

SimulatedStep simulatedStep(const sim::Run& run, const llo::Program& program, const Step& priced,
                            const chips::Chip& chip, const sim::ChipModel& model) {
  SimulatedStep step;
  copyTotals(priced, step);
  step.cycles = run.cycles;
  step.us = run.us;
  step.launch_us = run.us - 1e6 * static_cast<double>(run.cycles) / model.clock_hz;
  if (step.launch_us < 1e-9 * run.us) step.launch_us = 0;  // only rounding
  step.causes = run.causes;
  step.bundles = run.bundles;
  step.vector_bundles = run.vector_bundles;
  step.transfers = run.transfers;
  step.hbm_read_bytes = run.hbm_read_bytes;
  step.hbm_write_bytes = run.hbm_write_bytes;
  step.hbm_us = hbmUs(run.hbm_read_bytes + run.hbm_write_bytes, chip);
  step.notes = run.notes;
  const Join join(program, priced, chip, model.clock_hz);
  for (const sim::OpTime& time : run.ops) {
    SimulatedRow row = join.rowOf(time);
    row.row.id = static_cast<int32_t>(step.rows.size());
    row.row.needed_by = -1;  // ids of explain's rows
    row.row.share = run.cycles > 0 ? static_cast<double>(time.cycles) / static_cast<double>(run.cycles) : 0;
    step.rows.push_back(std::move(row));
  }
  return step;
}

SimulatedStep estimatedStep(const Step& priced, std::string reason, std::string hint) {
  SimulatedStep step;
  copyTotals(priced, step);
  step.rung = priced.total.compiler_us > 0 ? Rung::kCompiler : Rung::kRoofline;
  step.reason = std::move(reason);
  step.hint = std::move(hint);
  step.cycles = priced.total.cycles;
  step.us = priced.total.us;
  for (const Row& row : priced.rows) step.rows.push_back({.row = row});
  return step;
}

std::string_view name(Rung rung) {
  static constexpr std::string_view kNames[] = {"bundles", "compiler", "roofline"};
  return kNames[static_cast<size_t>(rung)];
}

}  // namespace sublane::report
