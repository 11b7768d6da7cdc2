#include "report/redact.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace sublane::report {
namespace {

constexpr const char* kGone = "(redacted)";

/// Steps that are ours; others are named after a file.
bool isOurs(const std::string& step) { return step == "decode" || step == "prefill"; }

std::string stepName(const std::string& name, Pseudonyms& names) {
  return isOurs(name) ? name : names.of("program", name);
}

/// "xla_flag = 3" keeps its value if it is a number or a truth; others could be paths or names.
std::string flagText(const std::string& flag) {
  const size_t equals = flag.find(" = ");
  if (equals == std::string::npos) return kGone;
  const std::string value = flag.substr(equals + 3);
  const bool plain = value == "true" || value == "false" ||
                     (!value.empty() && value.find_first_not_of("0123456789.+-e") == std::string::npos);
  return plain ? flag : flag.substr(0, equals) + " = " + kGone;
}

/// Operations and kernels that libtpu or we name the same for everyone.
std::string opName(const std::string& op, Pseudonyms& names) {
  return op.starts_with('(') ? op : names.of("op", op);
}

void redactRow(Row& row, Pseudonyms& names) {
  row.place.part = names.ofPath(row.place.part);
  row.op = opName(row.op, names);
  row.kernel = names.of("kernel", row.kernel);
  row.source = names.ofSource(row.source);
}

/// A class or a kind stays; "kernel NAME" does not.
std::string className(const std::string& name, Pseudonyms& names) {
  constexpr std::string_view kKernel = "kernel ";
  return name.starts_with(kKernel) ? "kernel " + names.of("kernel", name.substr(kKernel.size())) : name;
}

void redactOutput(OutputValue& output) {
  output.sha256 = kGone;
  output.least = output.greatest = output.mean = 0;
  output.host.clear();
  if (!output.difference.empty()) output.difference = kGone;
}

std::string withoutFile(const std::string& compiler) {
  // A libtpu that is not one of ours may be named by its path.
  return compiler.find('/') == std::string::npos ? compiler : kGone;
}

/// "sadd.s32 ; vmatmul@0": operands are constants, callees and allocations.
std::string bundleText(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(" ; ", at), text.size());
    const std::string instruction = text.substr(at, end - at);
    const size_t equals = instruction.find(" = ");
    const size_t begin = equals != std::string::npos ? equals + 3
                         : instruction.starts_with('(')
                             ? std::min(instruction.find(") ") + 2, instruction.size())
                             : 0;
    out += (out.empty() ? "" : " ; ") + instruction.substr(begin, instruction.find(' ', begin) - begin);
    at = end + 3;
  }
  return out;
}

void redactAnatomy(Anatomy& anatomy, Pseudonyms& names) {
  for (KernelUse& kernel : anatomy.kernels) {
    if (kernel.name != "TLP" && !kernel.name.starts_with('<')) kernel.name = opName(kernel.name, names);
    kernel.source = names.ofSource(kernel.source);
    for (BundleUse& bundle : kernel.bundles) bundle.text = bundleText(bundle.text);
  }
  for (BufferLife& life : anatomy.buffers) life.op = opName(life.op, names);
  for (std::string& op : anatomy.schedule) op = opName(op, names);
}

/// Rules look at the module, too: it keeps its structure.
std::shared_ptr<const llo::HloModule> withoutNames(const llo::HloModule& module, Pseudonyms& names) {
  llo::HloModule copy = module;
  copy.name = names.of("program", copy.name);
  for (llo::Computation& computation : copy.computations) {
    computation.name = names.of("computation", computation.name);
    for (llo::Instruction& at : computation.instructions) {
      at.name = opName(at.name, names);
      at.metadata = {.op_name = names.ofPath(at.metadata.op_name),
                     .source_file = names.of("file", at.metadata.source_file),
                     .source_line = at.metadata.source_line};
      at.literal.clear();
      at.custom_call_target = names.of("kernel", at.custom_call_target);
    }
  }
  return std::make_shared<const llo::HloModule>(std::move(copy));
}

}  // namespace

std::string Pseudonyms::of(std::string_view what, const std::string& name) {
  if (name.empty()) return "";
  std::string& pseudonym = names_[{std::string(what), name}];
  if (pseudonym.empty()) pseudonym = fmt::format("{}-{}", what, ++counts_[std::string(what)]);
  return pseudonym;
}

std::string Pseudonyms::ofPath(const std::string& part) {
  std::string out;
  for (size_t at = 0; at <= part.size();) {
    const size_t end = std::min(part.find_first_of("./", at), part.size());
    out += of("part", part.substr(at, end - at));
    if (end < part.size()) out += part[end];
    at = end + 1;
  }
  return out;
}

std::string Pseudonyms::ofSource(const std::string& source) {
  const size_t colon = source.rfind(':');
  const bool line = colon != std::string::npos && colon + 1 < source.size() &&
                    source.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  return line ? of("file", source.substr(0, colon)) + source.substr(colon) : of("file", source);
}

void redact(Simulation& simulation, Pseudonyms& names) {
  simulation.subject = names.of("program", simulation.subject);
  if (!simulation.detail.empty()) simulation.detail = kGone;
  simulation.compiler = withoutFile(simulation.compiler);
  for (std::string& flag : simulation.flags) flag = flagText(flag);
  if (!simulation.assumptions.empty()) simulation.assumptions = {kGone};
  for (SimulatedStep& step : simulation.steps) {
    step.name = stepName(step.name, names);
    step.fingerprint.clear();  // it could be compared with that of a program one has
    for (SimulatedRow& row : step.rows) redactRow(row.row, names);
    if (!step.reason.empty()) step.reason = kGone;
    if (!step.hint.empty()) step.hint = kGone;
    if (!step.notes.empty()) step.notes = {kGone};
    step.unknown_class = className(step.unknown_class, names);
    for (OutputValue& output : step.outputs) redactOutput(output);
    redactAnatomy(step.anatomy, names);
    if (step.module) step.module = withoutNames(*step.module, names);
  }
}

void redact(BaselineCheck& check, const Simulation& now, Pseudonyms& names) {
  for (StepCheck& step : check.steps) {
    const auto ours = std::find_if(now.steps.begin(), now.steps.end(), [&](const SimulatedStep& each) {
      return baselineName(each) == step.name;
    });
    // The reason ends in why a step stands on a lower rung, which names operations.
    if (ours != now.steps.end() && !ours->reason.empty() && !step.reason.empty()) step.reason = kGone;
    step.name = stepName(ours == now.steps.end() ? step.name : ours->name, names);
    for (StepCheck::Worst& worst : step.worst) {
      // A baseline's place is a part, or a line of the source.
      worst.before.place = worst.before.place == "-"            ? "-"
                           : worst.before.place == worst.source ? names.ofSource(worst.before.place)
                                                                : names.ofPath(worst.before.place);
      worst.source = names.ofSource(worst.source);
      worst.op = opName(worst.op, names);
    }
  }
}

}  // namespace sublane::report
