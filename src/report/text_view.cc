#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "report/report.h"
#include "report/text_parts.h"

namespace sublane::report {
namespace {

/// Rows that differ in their layer only.
struct Group {
  const Row* first = nullptr;
  int32_t low = 0, high = 0;
  int64_t count = 0, cycles = 0, hbm_bytes = 0, flops = 0;
  bool flops_known = true;
  double us = 0;
};

std::string flagLetters(const Row& row) {
  constexpr std::string_view kLetters = "<?~|=#^";
  std::string letters;
  for (Flag flag : row.flags) letters += kLetters[static_cast<size_t>(flag)];
  std::sort(letters.begin(), letters.end());
  return letters;
}

/// "HBM+VMEM -> VMEM" as "H+V>V".
std::string memoryLetters(const std::string& memory) {
  std::string out;
  for (size_t i = 0; i < memory.size(); ++i) {
    const char before = i == 0 ? ' ' : memory[i - 1];
    if (memory[i] == '>' || memory[i] == '+') out += memory[i];
    if ((std::isalpha(static_cast<unsigned char>(memory[i])) || memory[i] == '-') &&
        (before == ' ' || before == '+') && memory.substr(i, 2) != "->") {
      out += memory[i];
    }
  }
  return out;
}

std::vector<Group> groupsOf(const Step& step) {
  std::map<std::tuple<std::string, std::string, Origin, std::string, std::string, bool>, Group> groups;
  for (const Row& row : step.rows) {
    const bool layered = row.place.layer != RowPlace::kNone;
    Group& group = groups[{row.place.part, row.kind, row.origin, row.memory, flagLetters(row), layered}];
    if (!group.first) {
      group.first = &row;
      group.low = group.high = row.place.layer;
    }
    group.low = std::min(group.low, row.place.layer);
    group.high = std::max(group.high, row.place.layer);
    group.count += row.count;
    group.cycles += row.cycles;
    group.hbm_bytes += row.hbm_bytes;
    group.flops += row.flops.value_or(0);
    group.flops_known &= row.flops.has_value();
    group.us += row.us;
  }
  std::vector<Group> sorted;
  sorted.reserve(groups.size());
  for (auto& [key, group] : groups) sorted.push_back(group);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Group& a, const Group& b) {
    return std::tuple(-a.us, a.first->id) < std::tuple(-b.us, b.first->id);
  });
  return sorted;
}

std::string layerText(const Group& group) {
  if (group.low == RowPlace::kEvery) return "*";
  if (group.low == RowPlace::kNone) return "-";
  return group.low == group.high ? fmt::format("{}", group.low) : fmt::format("{}-{}", group.low, group.high);
}

std::string groupLine(const Group& group, double total_us) {
  const Row& row = *group.first;
  std::string line = fmt::format(
      "{:>9.1f} {:>5.1f}% {:>6} {:<9} {:>5} {:>5} {:<16} {:<12} {:>6} {:>6} {:<6} {}", group.us,
      total_us > 0 ? 100 * group.us / total_us : 0, scaled(group.cycles), name(row.origin), group.count,
      layerText(group), shortened(row.place.part.empty() ? "(none)" : escaped(row.place.part), 16),
      shortened(row.kind, 12), scaled(group.hbm_bytes), group.flops_known ? scaled(group.flops) : "?",
      shortened(memoryLetters(row.memory), 6), flagLetters(row));
  while (line.back() == ' ') line.pop_back();
  return line + "\n";
}

/// "1,292 operations", and how often they run where loops repeat them.
std::string operations(const Step& step) {
  int64_t executions = 0;
  for (const Row& row : step.rows) executions += row.count;
  std::string text = formatCount(step.total.rows) + (step.total.rows == 1 ? " operation" : " operations");
  if (executions != step.total.rows) text += fmt::format(" ({} executions)", formatCount(executions));
  return text;
}

std::string rowsText(const Step& step, int64_t top) {
  const std::vector<Group> groups = groupsOf(step);
  std::string text =
      fmt::format("{:>9} {:>6} {:>6} {:<9} {:>5} {:>5} {:<16} {:<12} {:>6} {:>6} {:<6}\n", "us", "share",
                  "cycles", "origin", "ops", "layer", "part", "kind", "HBM B", "FLOP", "memory");
  std::string used_flags;
  Group rest;
  int64_t rest_lines = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (top > 0 && static_cast<int64_t>(i) >= top) {
      rest_lines += 1;
      rest.us += groups[i].us;
      rest.count += groups[i].count;
      continue;
    }
    text += groupLine(groups[i], step.total.us);
    used_flags += flagLetters(*groups[i].first);
  }
  if (rest_lines > 0) {
    text += fmt::format("{:>9.1f} {:>5.1f}% {} more lines, {} executions (--top 0 shows all)\n", rest.us,
                        step.total.us > 0 ? 100 * rest.us / step.total.us : 0, rest_lines,
                        formatCount(rest.count));
  }
  text += fmt::format("{:>9.1f} {:>6} {:>6} total: the sum of {}, in schedule order one after another\n",
                      step.total.us, "100.0%", scaled(step.total.cycles), operations(step));
  const std::pair<char, const char*> legend[] = {
      {'<', "the compiler's estimate is below the row's own HBM bound"},
      {'?', "no cost description: FLOP unknown, bytes of operands and results"},
      {'~', "in a loop of unknown length: counted once"},
      {'|', "the most expensive branch"},
      {'=', "copies a whole donated buffer, such as the cache"},
      {'#', "copies a whole large argument, such as a weight"},
      {'^', "may be done by the run before (cross-program prefetch)"}};
  for (const auto& [letter, meaning] : legend) {
    if (used_flags.find(letter) != std::string::npos)
      text += fmt::format("          {}  {}\n", letter, meaning);
  }
  return text;
}

std::string totalsText(const Step& step, const chips::Chip& chip) {
  const Total& total = step.total;
  auto percent = [&](double us) { return total.us > 0 ? 100 * us / total.us : 0; };
  std::string text;
  text += labelled(
      "origins",
      fmt::format("compiler {:.1f} %, datasheet {:.1f} % of the total; {:.1f} % has a part of the model",
                  percent(total.compiler_us), percent(total.datasheet_us), percent(total.placed_us)));
  text += labelled("HBM roofline", fmt::format("{} at {} need {:.1f} us: {:.1f} % of the total (datasheet)",
                                               formatBytes(static_cast<double>(total.hbm_bytes)),
                                               formatBytesPerSecond(chip.hbm_bytes_per_second), total.hbm_us,
                                               percent(total.hbm_us)));
  text += labelled("MXU roofline",
                   fmt::format("{} at {} bf16 need {:.1f} us: {:.1f} % of the total (datasheet)",
                               formatScaled(static_cast<double>(total.matmul_flops), "FLOP"),
                               formatFlopsPerSecond(chip.bf16_flops), total.mxu_us, percent(total.mxu_us)));
  text += labelled("each >= HBM",
                   fmt::format("{:.1f} us with each row raised to its HBM bound ({} rows were below)",
                               total.raised_us, total.below_bound_rows));
  text += labelled("overlapped",
                   fmt::format("{:.1f} us if asynchronous copies hide wherever the HBM is idle (assumed)",
                               total.overlapped_us));
  return text;
}

std::string memoryText(const HbmUse& memory, const chips::Chip& chip) {
  auto bytes = [](int64_t value) { return formatBytes(static_cast<double>(value)); };
  const int64_t free = static_cast<int64_t>(chip.hbm_usable_bytes) - memory.used();
  std::string text =
      labelled("HBM", fmt::format("{} used, {} free of the usable {} (compiler)", bytes(memory.used()),
                                  bytes(free), bytes(static_cast<int64_t>(chip.hbm_usable_bytes))));
  text += labelled(
      "", fmt::format("arguments {} ({} of data), temporaries {}, code {}, outputs {} of which {} in place",
                      bytes(memory.arguments), bytes(memory.argument_data), bytes(memory.temporaries),
                      bytes(memory.code), bytes(memory.outputs), bytes(memory.aliased)));
  if (memory.holdsWholeState()) {
    text += labelled(
        "", fmt::format("NOTE: temporaries of {} beside {} of donated state: room for a copy of the cache",
                        bytes(memory.temporaries), bytes(memory.state)));
  }
  return text;
}

std::string stepText(const Step& step, const chips::Chip& chip, const TextOptions& options) {
  std::string text = "\n" + wrapped(step.name + (step.bucket.empty() ? "" : ": " + step.bucket), "", "  ");
  text += rowsText(step, options.top);
  text += totalsText(step, chip);
  if (step.memory) text += memoryText(*step.memory, chip);
  if (!step.findings.empty()) text += "  Look first at\n";
  for (size_t i = 0; i < step.findings.size(); ++i) {
    text += wrapped(step.findings[i].what, fmt::format("   {}. ", i + 1), "      ");
    text += wrapped(step.findings[i].hint, "      -> ", "         ");
  }
  return text;
}

}  // namespace

std::string toText(const Explanation& explanation, const TextOptions& options) {
  const chips::Chip& chip = *explanation.chip;
  std::string text = wrapped(fmt::format("{} on {}, one device{}", explanation.subject, chip.name,
                                         explanation.detail.empty() ? "" : ": " + explanation.detail),
                             "", "  ");
  text += wrapped("compiled by " + explanation.compiler, "", "  ");
  text += wrapped(
      fmt::format("clock {} ({}), HBM {}, MXU {} bf16 (datasheet); nothing here was measured",
                  formatHz(chip.clock_hz), name(chip.numbers.at("clock_hz").origin),
                  formatBytesPerSecond(chip.hbm_bytes_per_second), formatFlopsPerSecond(chip.bf16_flops)),
      "", "  ");
  for (const std::string& flag : explanation.flags) text += wrapped("flag " + flag, "", "  ");
  for (const std::string& assumption : explanation.assumptions)
    text += wrapped("assumed: " + assumption, "", "  ");
  text += "H HBM, V VMEM, S SMEM, C CMEM, h host, o other; columns are explained in docs/explain.md\n";
  for (const Step& step : explanation.steps) text += stepText(step, chip, options);
  return text;
}

}  // namespace sublane::report
