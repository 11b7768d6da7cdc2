#include <algorithm>
#include <set>

#include "sim/decode.h"
#include "sim/machine.h"
#include "sim/needed_values.h"
#include "sim/not_modelled.h"
#include "sim/sim.h"

namespace sublane::sim {
namespace {

struct WithoutName {
  std::string_view text;
  Without without;
};
constexpr WithoutName kWithouts[] = {
    {"hbm-limit", Without::kHbmLimit},
    {"dma-latency", Without::kDmaLatency},
    {"dma", Without::kDma},
    {"spills", Without::kSpills},
    {"launch", Without::kLaunch},
    {"dependencies", Without::kDependencies},
    {"branches", Without::kBranches},
    {"overlays", Without::kOverlays},
};

/// More attempts than this to find out what has to be computed mean that something else is wrong.
constexpr int kMostAttempts = 100;

Slice sliceOf(const Options& options) { return {.dims = options.slice}; }

/// Of each traced operation: the devices that its collective joins.
std::vector<std::vector<int64_t>> groupsOf(const llo::Program& program) {
  std::vector<std::vector<int64_t>> groups;
  for (const llo::TracedOp& op : program.traced) {
    const bool known = op.instruction >= 0 && op.computation >= 0;
    groups.push_back(known ? program.module.at(op.computation).at(op.instruction).group
                           : std::vector<int64_t>{});
  }
  return groups;
}

/// One whole simulation, with the values that it turns out to need.
class Simulation {
 public:
  Simulation(const llo::Program& program, const ChipModel& model, const Options& options)
      : program_(program), model_(model), options_(options), slice_(program.module) {}

  Result<Run> run() {
    SUBLANE_CHECK_OK(refuseWhatIsNotModelled(program_, !options_.slice.empty()));
    if (options_.values && cores() > 1) {
      return inputError("simulator: values of {} are not computed: one of its {} cores is executed",
                        model_.chip, cores())
          .hint("leave --values out, or take a chip whose devices have one core");
    }
    if (options_.values && sliceOf(options_).devices() > 1) {
      return inputError("simulator: values of a program for {} devices are not computed: one stands for all",
                        sliceOf(options_).devices())
          .hint("leave --values out");
    }
    SUBLANE_TRY(placement_, place(program_, model_));
    SUBLANE_TRY(timing_, memoryTiming(model_, options_.dma, options_.without));
    SUBLANE_CHECK_OK(planWhatIfs());
    if (options_.mode == Mode::kScoreboard) {
      SUBLANE_TRY(latencies_, latenciesOf(model_.chip));
    }
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      Result<std::optional<Run>> result = this->attempt({});
      if (!result.ok()) return std::move(result).error();
      if (!*result) continue;
      // Events are told once, of the run that counts.
      if (options_.sink) result = this->attempt(options_.sink);
      if (!result.ok()) return std::move(result).error();
      return finish(std::move(**result));
    }
    return machineError("simulator: after {} attempts it is still not known which operations to execute",
                        kMostAttempts);
  }

 private:
  /// What each of these costs, a run beside this one says.
  Status planWhatIfs() {
    for (const Without without : {Without::kHbmLimit, Without::kDmaLatency, Without::kDependencies,
                                  Without::kSpills, Without::kBranches}) {
      std::vector<Without> all = options_.without;
      all.push_back(without);
      SUBLANE_TRY(MemoryTiming timing, memoryTiming(model_, options_.dma, all));
      what_ifs_.push_back({.without = without, .timing = timing});
    }
    return Ok{};
  }

  bool without(Without what) const {
    return std::find(options_.without.begin(), options_.without.end(), what) != options_.without.end();
  }

  bool withValues() const { return options_.values || top_valued_ || !slice_.names().empty(); }

  /// A run; or nothing, when more has to be executed for its values.
  Result<std::optional<Run>> attempt(const std::function<void(const events::Event&)>& sink) {
    std::optional<VectorUnit> vector;
    if (withValues()) {
      vector.emplace(VectorOptions{.chip = model_.chip,
                                   .vmem_rows = placement_.vmem_rows,
                                   .track_writers = options_.track_writers,
                                   .guard_transfers = options_.values});
    }
    DecodeOptions decoding{.delay_slots = model_.branch_delay_slots,
                           .slots = slotsOf(model_),
                           .without = options_.without,
                           .scoreboard = latencies_ ? &*latencies_ : nullptr,
                           .all_valued = options_.values,
                           .valued = slice_.names(),
                           .top_valued = top_valued_};
    if (vector) {
      decoding.prepare = [&](const llo::Listing& listing, std::span<const int64_t> addresses) {
        return vector->prepare(listing, addresses);
      };
    }
    SUBLANE_TRY(const Code code, decode(program_, placement_, decoding));
    MachineOptions machine_options{
        .timing = timing_,
        .overlays = options_.dma == DmaTiming::kShared && !without(Without::kOverlays),
        .what_ifs = what_ifs_,
        .fast_forward = options_.fast_forward && !sink,
        .valued = slice_.names(),
        .all_valued = options_.values,
        .top_valued = top_valued_,
        .late_transfers = options_.values,
        .track_writers = options_.track_writers,
        .most_bundles = options_.most_bundles,
        .sink = sink,
        .cancel = options_.cancel,
        .slice = sliceOf(options_),
        .groups = groupsOf(program_)};
    Machine machine(program_, placement_, code, std::move(machine_options), vector ? &*vector : nullptr);
    machine.prepare(options_.inputs);
    Status status = machine.run();
    if (status.ok()) {
      Run run = machine.takeRun();
      if (options_.values) takeOutputs(machine, run);
      if (vector) run.vector_bundles = vector->bundles();
      if (options_.track_writers && vector) run.stores_hash = vector->storesHash();
      return std::optional<Run>(std::move(run));
    }
    const std::optional<Origin>& cause = machine.missing() ? machine.missing() : machine.refused();
    if (cause && !options_.values && needsMore(machine, code, *cause)) return std::optional<Run>();
    return explained(std::move(status).error(), machine);
  }

  double cores() const {
    const auto found = model_.extra.find("cores_per_device");
    return found == model_.extra.end() ? 1 : found->second;
  }

  Error explained(Error error, const Machine& machine) const {
    if (cores() > 1 && error.message().find("deadlock: ") != std::string::npos) {
      return std::move(error).hint(fmt::format(
          "one of {} cores is executed; what another one sends to it (a reduction over both) is not modelled",
          cores()));
    }
    if (machine.unknownArguments().empty()) return error;
    std::string numbers;
    for (const int32_t number : machine.unknownArguments())
      numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", number);
    return std::move(error).hint(
        fmt::format("scalars depend on values of arguments that were not given (of {} were read): give them "
                    "with --inputs",
                    numbers));
  }

  /// Adds to the slice what would make the value known. False: it would not help.
  bool needsMore(const Machine& machine, const Code& code, const Origin& origin) {
    if (origin.kind == Origin::Kind::kUnwritten) return false;
    const int32_t listing = code.functions[static_cast<size_t>(origin.function)].listing;
    if (listing == program_.top) return needsMoreOfTop(origin.bundle);
    // What a kernel copies is mostly an argument of it; then its own work need not be executed.
    const std::string op = machine.opName(origin.op);
    if (origin.kind == Origin::Kind::kTransfer && slice_.addOperands(op)) return true;
    return slice_.add(op) || needsMoreOfCallsOf(op);
  }

  bool needsMoreOfTop(int32_t bundle) {
    bool more = !std::exchange(top_valued_, true);
    for (const std::string& name : sourcesOf(top(), bundle)) more |= slice_.add(name);
    return more;
  }

  /// The top-level program may have passed it a scalar that is not known.
  bool needsMoreOfCallsOf(const std::string& op) {
    bool more = false;
    for (size_t b = 0; b < top().bundles.size(); ++b) {
      for (const llo::BundleInstruction& i : top().of(top().bundles[b])) {
        if (i.callee >= 0 && top().callees[static_cast<size_t>(i.callee)] == op)
          more |= needsMoreOfTop(static_cast<int32_t>(b));
      }
    }
    return more;
  }

  const llo::Listing& top() const { return program_.listings[static_cast<size_t>(program_.top)]; }

  void takeOutputs(const Machine& machine, Run& run) const {
    for (size_t i = 0; i < placement_.outputs.size(); ++i) {
      std::vector<std::byte> bytes(static_cast<size_t>((placement_.outputs[i].bytes + 3) / 4 * 4));
      const int64_t unknown = machine.hbm().read(placement_.outputs[i].begin, bytes, kPoison);
      if (unknown > 0) {
        run.notes.push_back(
            fmt::format("output {}: {} of {} words were written by nobody", i, unknown, bytes.size() / 4));
      }
      if (options_.track_writers) {
        std::vector<WrittenBy>& writers = run.output_writers[static_cast<int32_t>(i)];
        for (int64_t at = 0; at < std::ssize(bytes); at += kGranuleBytes)
          writers.push_back(machine.writerOf(placement_.outputs[i].begin + at));
      }
      run.outputs[static_cast<int32_t>(i)] = std::move(bytes);
    }
  }

  Result<Run> finish(Run run) const {
    run.us = static_cast<double>(run.cycles) / model_.clock_hz * 1e6;
    if (!without(Without::kLaunch)) run.us += model_.launch_us;
    if (cores() > 1) {
      run.notes.push_back(fmt::format(
          "one of {} cores is executed, the others are assumed to do the same; HBM is shared, bytes and "
          "transfers are those of one",
          cores()));
    }
    if (!slice_.names().empty()) {
      run.notes.push_back(fmt::format("{} operations were executed for values that scalars depend on",
                                      slice_.names().size()));
    }
    return run;
  }

  const llo::Program& program_;
  const ChipModel& model_;
  const Options& options_;
  ValueSlice slice_;
  bool top_valued_ = false;
  std::optional<Latencies> latencies_;  // of the scoreboard
  Placement placement_;
  MemoryTiming timing_;
  std::vector<WhatIfOptions> what_ifs_;
};

}  // namespace

Result<Without> withoutOf(std::string_view name) {
  std::string known;
  for (const WithoutName& entry : kWithouts) {
    if (entry.text == name) return entry.without;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.text);
  }
  return inputError("--without {}: not a cause that can be taken away", name).hint("one of " + known);
}

Result<Run> simulate(const llo::Program& program, const ChipModel& model, const Options& options) {
  return Simulation(program, model, options).run();
}

}  // namespace sublane::sim
