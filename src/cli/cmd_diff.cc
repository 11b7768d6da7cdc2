#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/paths.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/keep_in_log.h"
#include "cli/model_options.h"
#include "pjrt/parts.h"
#include "report/diff.h"
#include "report/diff_set.h"
#include "report/read_report.h"
#include "report/redact.h"
#include "views/html.h"
#include "views/views.h"

namespace sublane::cli {
namespace {

/// What is simulated, or a report that says what was.
struct Side {
  ModelOptions model;
  report::SimulateOptions options;
  std::string libtpu;

  bool isSaved() const { return !model.subject.empty() && report::isReport(model.subject); }
};

/// The second side: what it does not say is as on the first.
struct OtherSide {
  std::string subject, chip, mesh, layers, libtpu, inputs;
  std::vector<std::string> compile_options;

  bool hasOptions() const {
    return !chip.empty() || !mesh.empty() || !layers.empty() || !libtpu.empty() || !inputs.empty() ||
           !compile_options.empty();
  }
};

struct DiffVerb {
  Side first;
  OtherSide other;
  std::vector<std::string> set;
  std::string output;  // of the page
};

/// A version that set-up has fetched, or a library's path; empty: the pinned one.
Result<std::string> libtpuOf(const std::string& wanted) {
  if (wanted.empty() || wanted.find('/') != std::string::npos) return wanted;
  SUBLANE_TRY(const std::string path, pjrt::installedPath("libtpu", wanted));
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return path;
  return inputError("--libtpu {}: no such version here ({})", wanted, path)
      .hint("give the path of a libtpu.so, or fetch versions with tools/setup.sh long");
}

Result<report::Simulation> savedSide(const Side& side) {
  SUBLANE_TRY(report::Simulation saved, report::readReport(side.model.subject));
  if (side.options.step.empty()) return saved;
  std::erase_if(saved.steps, [&](const auto& step) { return step.name != side.options.step; });
  if (saved.steps.empty())
    return inputError("--step {}: {} has no such step", side.options.step, side.model.subject);
  return saved;
}

Result<report::Simulation> simulated(const Side& side) {
  if (side.isSaved()) return savedSide(side);
  SUBLANE_TRY(const std::string library, libtpuOf(side.libtpu));
  if (!library.empty()) setenv("SUBLANE_LIBTPU", library.c_str(), /*overwrite=*/1);
  return simulationOf(side.model, side.options);
}

Side otherSide(const DiffVerb& verb) {
  Side side = verb.first;
  const OtherSide& other = verb.other;
  if (!other.subject.empty()) {
    side.model.subject = other.subject;
    side.model.request.config.clear();
  }
  if (!other.chip.empty()) side.model.request.common.chip = other.chip;
  if (!other.mesh.empty()) side.model.request.common.mesh = other.mesh;
  if (!other.layers.empty()) side.model.layers = other.layers;
  if (!other.inputs.empty()) side.options.inputs = other.inputs;
  if (!other.libtpu.empty()) side.libtpu = other.libtpu;
  side.model.compile_options.insert(side.model.compile_options.end(), other.compile_options.begin(),
                                    other.compile_options.end());
  return side;
}

/// A saved report has its chip, its flags and its inputs in it.
Status readSide(const CLI::App& app, bool has_options, Side& side) {
  if (side.isSaved()) {
    if (!has_options) return Ok{};
    return inputError("diff: {} is a saved report: --other-... cannot change it", side.model.subject);
  }
  if (side.model.request.common.chip.empty())
    return inputError("diff: --chip is required").hint("only saved reports bring their own");
  return readModelOptions(app, "diff", side.model);
}

/// "decode -12.10 us, prefill +0.30 us (not resolvable)"
std::string outcomeOf(const report::Difference& difference) {
  std::string text;
  for (const report::StepDiff& step : difference.steps) {
    text += fmt::format("{}{} {:+.2f} us{}", text.empty() ? "" : ", ", step.name, step.changeUs(),
                        step.error.known && !step.resolvable() ? " (not resolvable)" : "");
  }
  return text;
}

Status diffTwo(DiffVerb& verb, const CLI::App& app) {
  if (verb.other.subject.empty() && !verb.other.hasOptions()) {
    return inputError("diff: nothing to compare {} with", verb.first.model.subject)
        .hint(
            "give a second program, or one of --other-chip, --other-layers, --other-compile-option, "
            "--other-libtpu, --other-mesh, --other-inputs");
  }
  const bool page = verb.first.model.format == "html";
  if (page && verb.output.empty())
    return inputError("diff: --format html needs a file").hint("-o difference.html");
  if (page) verb.first.options.bundle_texts = true;
  Side second = otherSide(verb);
  if (!verb.other.layers.empty() && second.model.isProgram())
    return inputError("diff {}: --other-layers is of a model's steps; a program has its own",
                      second.model.subject);
  SUBLANE_CHECK_OK(readSide(app, false, verb.first));
  SUBLANE_CHECK_OK(readSide(app, verb.other.hasOptions(), second));
  SUBLANE_TRY(report::Simulation before, simulated(verb.first));
  SUBLANE_TRY(report::Simulation after, simulated(second));
  const ModelOptions& model = verb.first.model;
  if (model.redact) {
    report::Pseudonyms names;  // of both sides, so that they still match
    report::redact(before, names);
    report::redact(after, names);
  }
  SUBLANE_TRY(const report::Difference difference, report::differenceOf(before, after));
  if (model.format == "html") {
    const views::Report report = views::reportOf(after);
    SUBLANE_TRY(
        const std::string json,
        views::toJson(report, {.bundles = true, .redacted = model.redact, .difference = &difference}));
    SUBLANE_CHECK_OK(writeFileAtomically(verb.output, views::toHtml(json)));
    SUBLANE_CHECK_OK(writeOutput(fmt::format("wrote {}\n", verb.output)));
  } else {
    SUBLANE_CHECK_OK(writeOutput(model.format == "json" ? report::toJson(difference)
                                                        : report::toText(difference, model.text)));
  }
  keepInLog(model.note, {.verb = "diff",
                         .sides = {gate::sideOf(before), gate::sideOf(after)},
                         .outcome = outcomeOf(difference)});
  return Ok{};
}

bool isProgramName(const std::filesystem::path& path) {
  return path.extension() == ".mlir" || path.extension() == ".stablehlo";
}

/// Files and models as they are; of a folder, its programs by name.
Result<std::vector<std::string>> programsOf(const std::vector<std::string>& set) {
  std::vector<std::string> programs;
  for (const std::string& each : set) {
    std::error_code error;
    if (!std::filesystem::is_directory(each, error) ||
        std::filesystem::exists(std::filesystem::path(each) / "config.json", error)) {
      programs.push_back(each);
      continue;
    }
    std::vector<std::string> inside;
    for (std::filesystem::directory_iterator at(each, error), end; !error && at != end; at.increment(error))
      if (isProgramName(at->path())) inside.push_back(at->path().string());
    if (error) return inputError("--set {}: {}", each, error.message());
    if (inside.empty()) return inputError("--set {}: there is no .mlir or .stablehlo in it", each);
    std::sort(inside.begin(), inside.end());
    programs.insert(programs.end(), inside.begin(), inside.end());
  }
  return programs;
}

/// One side of one program of the set, with what was wrong with it.
Result<report::Simulation> ofSet(const CLI::App& app, Side side, const std::string& program) {
  side.model.subject = program;
  SUBLANE_CHECK_OK(readSide(app, false, side));
  return simulated(side);
}

std::string label(const Side& side, const std::string& compiler) {
  std::string text = side.libtpu.empty() ? compiler.substr(0, compiler.find(" (")) : "libtpu " + side.libtpu;
  for (const std::string& option : side.model.compile_options) text += " " + option;
  return text;
}

Status diffSet(DiffVerb& verb, const CLI::App& app) {
  if (!verb.first.model.subject.empty())
    return inputError("diff: {} is neither before nor in --set", verb.first.model.subject);
  if (!verb.other.hasOptions())
    return inputError("diff --set: nothing to compare with")
        .hint("--other-libtpu 0.0.51, or another --other-...");
  const Side second = otherSide(verb);
  SUBLANE_CHECK_OK(libtpuOf(verb.first.libtpu));
  SUBLANE_CHECK_OK(libtpuOf(second.libtpu));
  SUBLANE_TRY(const std::vector<std::string> programs, programsOf(verb.set));
  report::SetDiff set{.chip = verb.first.model.request.common.chip};
  if (second.model.request.common.chip != set.chip) set.chip += " and " + second.model.request.common.chip;
  gate::LogEntry entry{.verb = "diff"};
  report::Pseudonyms names;
  std::string compiler_before, compiler_after;
  for (const std::string& program : programs) {
    Result<report::Simulation> before = ofSet(app, verb.first, program), after = ofSet(app, second, program);
    if (interrupted().load()) return machineError("diff: interrupted");
    if (before.ok()) compiler_before = before->compiler;
    if (after.ok()) compiler_after = after->compiler;
    if (verb.first.model.redact) {
      for (Result<report::Simulation>* side : {&before, &after}) {
        if (side->ok()) report::redact(**side, names);
        if (!side->ok()) *side = Error(side->error().fault(), "(redacted)");
      }
    }
    set.programs.push_back(
        report::programDiff(verb.first.model.redact ? names.of("program", program) : program, before, after));
    for (const Result<report::Simulation>* side : {&before, &after})
      if (side->ok()) entry.sides.push_back(gate::sideOf(**side));
  }
  set.before = label(verb.first, compiler_before);
  set.after = label(second, compiler_after);
  SUBLANE_CHECK_OK(writeOutput(
      verb.first.model.format == "json" ? report::toJson(set) : report::toText(set, verb.first.model.text)));
  entry.outcome =
      fmt::format("{} against {}: geometric mean {:+.2f} % over {} of {} programs", set.after, set.before,
                  100 * (set.geometricMean() - 1), set.compared(), set.programs.size());
  keepInLog(verb.first.model.note, std::move(entry));
  return Ok{};
}

Status diff(DiffVerb& verb, const CLI::App& app) {
  verb.first.model.request.common.cancel = &interrupted();
  return verb.set.empty() ? diffTwo(verb, app) : diffSet(verb, app);
}

Action addDiff(CLI::App& app) {
  auto verb = std::make_shared<DiffVerb>();
  verb->first.model.formats = {"text", "json", "html"};
  addModelOptions(app, verb->first.model);
  app.add_option("-o,--output", verb->output, "With --format html: the page's file");
  app.get_option("--chip")->required(false);
  app.add_option("OTHER", verb->other.subject,
                 "The second model, program or saved report; none: the first, changed by --other-...");
  app.add_option("--inputs", verb->first.options.inputs, "An .npz file with a program's arguments");
  app.add_option("--step", verb->first.options.step, "Of a model: decode or prefill only");
  app.add_option("--set", verb->set,
                 "Instead of MODEL: files, models and folders of programs, each on both sides")
      ->type_name("PATH");
  app.add_option("--libtpu", verb->first.libtpu, "Compile the first with this version (0.0.51) or library");
  app.add_option("--other-chip", verb->other.chip, "The second side's chip");
  app.add_option("--other-mesh", verb->other.mesh, "Its slice");
  app.add_option("--other-layers", verb->other.layers, "Its layers: unrolled or loop")
      ->check(CLI::IsMember({"unrolled", "loop"}));
  app.add_option("--other-compile-option", verb->other.compile_options,
                 "A further flag of its compile; may repeat")
      ->allow_extra_args(false)
      ->type_name("FLAG=VALUE");
  app.add_option("--other-libtpu", verb->other.libtpu, "Its libtpu: a version or a library");
  app.add_option("--other-inputs", verb->other.inputs, "Its arguments");
  return [verb, &app] { return untilInterrupted("diff", [&] { return diff(*verb, app); }); };
}

}  // namespace

extern const Command cmd_diff;
const Command cmd_diff{"diff", "What changed between two programs, chips, flags or libtpu versions", addDiff};

}  // namespace sublane::cli
