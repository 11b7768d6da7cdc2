#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "gate/gate.h"
#include "report/text_parts.h"

namespace sublane::gate {
namespace {

using Json = nlohmann::ordered_json;
using report::StepCheck;
using report::wrapped;

std::string titleOf(const Checked& checked) { return checked.entry.name + " on " + checked.entry.chip; }

std::string worstText(const StepCheck::Worst& worst) {
  std::string text = fmt::format("{} {}: {:.2f} us -> {:.2f} us", escaped(worst.before.place),
                                 worst.before.kind, worst.before.us, worst.after_us);
  if (!worst.op.empty()) text += " (" + escaped(worst.op) + ")";
  if (!worst.source.empty() && worst.source != worst.before.place) text += " at " + escaped(worst.source);
  return text;
}

std::string stepText(const StepCheck& step, const Checked& checked) {
  std::string text = fmt::format("{} {} {}: {:.2f} us", step.passed ? "ok    " : "FAILED",
                                 escaped(titleOf(checked)), escaped(step.name), step.after_us);
  text += step.before_us > 0 ? fmt::format(", baseline {:.2f} us (simulated)\n", step.before_us)
                             : std::string(" (simulated)\n");
  if (!step.reason.empty()) text += wrapped(step.reason, "  ", "  ");
  if (step.passed) return text;
  for (const StepCheck::Worst& worst : step.worst)
    text += wrapped("slower: " + worstText(worst), "  ", "    ");
  return text;
}

/// Text for XML: what it may not hold is written as \xNN.
std::string xml(const std::string& text) {
  std::string out;
  for (const char c : escaped(text, 4000)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string caseText(const StepCheck& step, const Checked& checked) {
  std::string text =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(titleOf(checked)), xml(step.name));
  if (step.passed) return text + "/>\n";
  std::string lines;
  for (const StepCheck::Worst& worst : step.worst) lines += xml(worstText(worst)) + "\n";
  return text + fmt::format(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                            xml(step.reason), lines);
}

std::string suiteText(const Checked& checked) {
  int64_t failures = 0;
  std::string cases;
  for (const StepCheck& step : checked.check.steps) {
    failures += !step.passed;
    cases += caseText(step, checked);
  }
  if (checked.error) {
    cases += fmt::format(
        "    <testcase classname=\"{}\" name=\"simulate\">\n      <error message=\"{}\"></error>\n    "
        "</testcase>\n",
        xml(titleOf(checked)), xml(checked.error->message()));
  }
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}  </testsuite>\n",
      xml(titleOf(checked)), checked.check.steps.size() + (checked.error ? 1 : 0), failures,
      checked.error ? 1 : 0, cases);
}

Json stepJson(const StepCheck& step) {
  Json slower = Json::array();
  for (const StepCheck::Worst& worst : step.worst) {
    slower.push_back({{"place", worst.before.place},
                      {"kind", worst.before.kind},
                      {"op", worst.op},
                      {"before_us", worst.before.us},
                      {"after_us", worst.after_us},
                      {"source", worst.source}});
  }
  return {
      {"name", step.name},         {"passed", step.passed},
      {"reason", step.reason},     {"before_us", step.before_us > 0 ? Json(step.before_us) : Json(nullptr)},
      {"after_us", step.after_us}, {"origin", "simulated"},
      {"slower", slower}};
}

Json entryJson(const Checked& checked) {
  Json json = {{"name", checked.entry.name},
               {"subject", checked.entry.subject.empty() ? checked.entry.config : checked.entry.subject},
               {"chip", checked.entry.chip},
               {"passed", checked.passed()},
               {"updated", checked.updated},
               {"compiler", checked.compiler},
               {"notes", checked.check.notes},
               {"error", checked.error ? Json(checked.error->message()) : Json(nullptr)},
               {"steps", Json::array()},
               {"findings", Json::array()}};
  for (const StepCheck& step : checked.check.steps) json["steps"].push_back(stepJson(step));
  for (const views::SarifResult& finding : checked.findings)
    json["findings"].push_back({{"rule", finding.rule},
                                {"level", finding.level},
                                {"message", finding.message},
                                {"sources", finding.sources}});
  return json;
}

std::string lineOf(const std::string& file, int64_t line) {
  return file.empty() || line < 1 ? "" : fmt::format("{}:{}", file, line);
}

void addSlower(const Checked& checked, std::vector<views::SarifResult>& results) {
  constexpr const char* kRule = "slower-than-allowed";
  for (const StepCheck& step : checked.check.steps) {
    if (step.passed) continue;
    const std::string head = fmt::format("{} {}: ", titleOf(checked), step.name);
    const std::string kept = lineOf(checked.entry.baseline, step.baseline_line);
    results.push_back({.rule = kRule,
                       .level = "error",
                       .message = head + step.reason,
                       .sources = {kept.empty() ? checked.entry.where : kept}});
    for (const StepCheck::Worst& worst : step.worst)
      results.push_back(
          {.rule = kRule, .level = "error", .message = head + worstText(worst), .sources = {worst.source}});
  }
  if (checked.error)
    results.push_back({.rule = "not-checked",
                       .level = "error",
                       .message = titleOf(checked) + ": " + checked.error->message(),
                       .sources = {checked.entry.where}});
}

}  // namespace

std::string toText(const std::vector<Checked>& all) {
  std::string text;
  for (const Checked& checked : all) {
    if (checked.updated)
      text += fmt::format("wrote  {} ({})\n", escaped(checked.entry.baseline), escaped(titleOf(checked)));
    for (const StepCheck& step : checked.check.steps) text += stepText(step, checked);
    for (const std::string& note : checked.check.notes) text += wrapped(note, "  note: ", "  ");
    if (!checked.error) continue;
    text += fmt::format("ERROR  {}\n", escaped(titleOf(checked)));
    text += wrapped(checked.error->message(), "  ", "  ");
    if (!checked.error->hint().empty()) text += wrapped(checked.error->hint(), "  hint: ", "  ");
  }
  return text;
}

std::string toJson(const std::vector<Checked>& all) {
  Json document = jsonDocument("sublane.check/1");
  document["passed"] = passed(all);
  document["entries"] = Json::array();
  for (const Checked& checked : all) document["entries"].push_back(entryJson(checked));
  return jsonText(document);
}

std::string toJunit(const std::vector<Checked>& all) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sublane check\">\n";
  for (const Checked& checked : all) text += suiteText(checked);
  return text + "</testsuites>\n";
}

std::string toSarif(const std::vector<Checked>& all) {
  std::vector<views::SarifRule> rules = {
      {"slower-than-allowed", "Slower than its baseline or budget allows (simulated)"},
      {"not-checked", "The program could not be compiled or simulated"}};
  for (views::SarifRule& rule : views::sarifRules()) rules.push_back(std::move(rule));
  std::vector<views::SarifResult> results;
  for (const Checked& checked : all) addSlower(checked, results);
  for (const Checked& checked : all)
    results.insert(results.end(), checked.findings.begin(), checked.findings.end());
  return views::toSarif(rules, results);
}

}  // namespace sublane::gate
