// Simulating a model or a program: compile it for a chip, execute its bundles, and join what happened to the
// operations of its schedule.
//
// A ladder that never breaks: the bundles are executed; where libtpu gives no listings, or they cannot be
// read or executed, libtpu's own estimates stand in; where it gives none, a roofline. Each step says on which
// rung it stands and why.
//
//   SUBLANE_TRY(report::Simulation simulation, report::simulateFile("f.mlir", {.chip = "v6e"}, {}));
//   fmt::print("{} us\n", simulation.steps[0].us);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/events.h"
#include "io/npz.h"
#include "report/anatomy.h"
#include "report/report.h"
#include "report/request.h"
#include "sim/sim.h"

namespace sublane::report {

/// What the times of a step stand on.
enum class Rung : uint8_t {
  kBundles,   // executed
  kCompiler,  // libtpu's estimates of the scheduled operations, bounds where it gives none
  kRoofline,  // bounds by the datasheet only
};
std::string_view name(Rung rung);  // "bundles", "compiler", "roofline"

using EventSink = std::function<void(const events::Event&)>;

struct SimulateOptions {
  std::string inputs{};  // an .npz file with arguments of a program, by number or by name
  std::string events{};  // file for one JSON line an event
  /// Asked once for each step that is executed, and told its events. `program` is gone when the step is over.
  std::function<EventSink(const std::string& step, const llo::Program& program, const sim::ChipModel& model)>
      sink_for{};
  std::string step{};  // of a model: this step only
  std::vector<sim::Without> without{};
  std::vector<std::string> without_names{};  // as they are shown
  sim::DmaTiming dma = sim::DmaTiming::kShared;
  sim::Mode mode = sim::Mode::kPacked;
  bool values = false;
  bool bundle_texts = false;                // in the anatomy's kernels
  int64_t most_bundles = int64_t{1} << 36;  // stops a program that does not end
  bool assume_scalars = false;  // integer scalars of a program that are not given are 0, with a note
  bool estimates = false;       // by the compiler's estimates: compiles without listings, executes nothing
  std::string expect{};         // with values: an .npz file with results to compare with, by number
  /// |result - expected| at most, of the array's largest magnitude; integers are equal. Default: 4 roundings
  /// to bf16, which matrix units may round f32 operands to as well.
  double within = 0x1p-6;
};

/// How far measured times of a class of operations were from simulated ones: from the fit of the chip's
/// model. Relative.
struct ClassError {
  std::string name;  // "flash attention"
  int64_t points = 0;
  double median = 0, p90 = 0;
  /// Of the ratio of two points, of one kernel or of two: 9 of 10 pairs were within it. 0: too few pairs.
  double paired_p90 = 0, paired_between_p90 = 0;
};

/// The error of a step's time: of the classes that its time is in.
struct StepError {
  double relative = 0;  // 9 of 10 measured points were within it
  std::string name;     // the class, or "3 classes"
  int64_t points = 0;
  double covered = 0;  // share of the time that is in those classes
};

struct SimulatedRow {
  Row row;  // on the rung kBundles: cycles, time, count and HBM bytes are those of the execution
  events::CauseCycles causes{};  // add up to row.cycles
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0;
  Issued issued{};          // instructions by unit
  std::string error_class;  // empty: none
};

/// A result of a program that was executed for values.
struct OutputValue {
  int32_t number = 0;
  std::string shape;
  std::string sha256;  // of the row-major bytes
  int64_t elements = 0, not_finite = 0;
  double least = 0, greatest = 0, mean = 0;  // of the finite ones
  llo::ElementType type{};
  std::vector<int64_t> dims;
  std::vector<std::byte> host;  // row-major
  bool compared = false;
  double worst = 0;  // largest |result - expected|
  std::string
      difference;  // empty: equal within the bound; else the first element that is not, and who wrote it
};

struct SimulatedStep {
  std::string name, bucket, fingerprint;
  Rung rung = Rung::kBundles;
  std::string reason, hint;        // why not a higher rung
  std::vector<SimulatedRow> rows;  // in order of first execution
  int64_t cycles = 0;
  double us = 0;  // the rows' and launch_us
  double launch_us = 0;
  events::CauseCycles causes{};
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0, bundles = 0, transfers = 0;
  int64_t vector_bundles = 0;     // of the bundles: with vector work that was executed for values
  double compiler_us = 0;         // the sum of explain's rows, for comparison
  double hbm_us = 0, mxu_us = 0;  // bounds of the whole by the datasheet
  std::optional<StepError> error;
  std::string unknown_class;  // without an error: the class of most of the time, if it has one
  std::vector<std::string> notes;
  std::vector<OutputValue> outputs;
  Anatomy anatomy;
  std::optional<HbmUse> memory;
  std::shared_ptr<const llo::HloModule> module;  // as it was compiled
  Origin origin() const {
    return rung == Rung::kBundles    ? Origin::kSimulated
           : rung == Rung::kCompiler ? Origin::kCompiler
                                     : Origin::kDatasheet;
  }
};

struct Simulation {
  std::string subject, detail;
  bool layers_in_loop = false;  // of one of our models
  const chips::Chip* chip = nullptr;
  std::string compiler;
  std::string model_hash;  // of the chip's model and the simulator's version; empty: there is no model
  double clock_hz = 0;     // of the model
  std::vector<std::string> flags;
  std::vector<std::string> without;
  sim::DmaTiming dma = sim::DmaTiming::kShared;
  sim::Mode mode = sim::Mode::kPacked;
  std::vector<std::string> assumptions;
  std::vector<SimulatedStep> steps;
};

/// Errors: buildPrograms's; the compiler's refusal (a program that does not fit: both sizes and a hint), an
/// abort of libtpu, no libtpu; and with values, counterfactuals, events or libtpu's DMA model, which need the
/// bundles, what keeps them from being executed.
Result<Simulation> simulateModel(const ModelRequest& request, const SimulateOptions& options);
/// Errors also: an .npz that cannot be read, an array that is no argument, a shape or type that is not the
/// argument's (both are named).
Result<Simulation> simulateFile(const std::string& path, const CompileRequest& common,
                                const SimulateOptions& options);

/// HLO that a compiler has made already, as text, proto or a directory of dumps (brought.h); `module` picks
/// one of several. Executed where libtpu's listings are there and the arguments' values suffice; else priced.
/// Errors: readBrought's, and as above.
Result<Simulation> simulateBrought(const std::string& path, const std::string& module,
                                   const CompileRequest& common, const SimulateOptions& options);

/// An output as an array for an .npz file.
io::NpyArray npyOf(const OutputValue& output);

/// `after_step` adds what others have to say of a step, under its totals.
std::string toText(const Simulation& simulation, const TextOptions& options,
                   const std::function<std::string(const SimulatedStep&)>& after_step = {});
/// Schema "sublane.simulate/1": docs/schemas/simulate-1.schema.json.
std::string toJson(const Simulation& simulation);

}  // namespace sublane::report
