#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "report/baseline.h"
#include "report/text_parts.h"

namespace sublane::report {
namespace {

using Json = nlohmann::ordered_json;

std::string worstText(const StepCheck::Worst& worst) {
  return fmt::format(
      "{} {}: {:.2f} us -> {:.2f} us{}", escaped(worst.before.place), worst.before.kind, worst.before.us,
      worst.after_us,
      worst.source.empty() || worst.source == worst.before.place ? "" : " (" + escaped(worst.source) + ")");
}

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : escaped(text)) {
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

/// {"uri", line} of "model.py:42"; no line: nothing.
Json locationOf(const std::string& source) {
  const size_t colon = source.rfind(':');
  if (colon == std::string::npos || colon + 1 == source.size()) return nullptr;
  const int64_t line = std::strtoll(source.c_str() + colon + 1, nullptr, 10);
  if (line < 1) return nullptr;
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", source.substr(0, colon)}}}, {"region", {{"startLine", line}}}}}};
}

}  // namespace

std::string toText(const BaselineCheck& check, const std::string& subject) {
  std::string text;
  for (const StepCheck& step : check.steps) {
    text += fmt::format("{} {} {}: {:.2f} us, baseline {:.2f} us (simulated)\n",
                        step.passed ? "ok    " : "FAILED", escaped(subject), step.name, step.after_us,
                        step.before_us);
    if (!step.reason.empty()) text += wrapped(step.reason, "  ", "  ");
    if (step.passed) continue;
    for (const StepCheck::Worst& worst : step.worst) text += "  slower: " + worstText(worst) + "\n";
  }
  for (const std::string& note : check.notes) text += wrapped(note, "  note: ", "  ");
  return text;
}

std::string toJson(const BaselineCheck& check, const std::string& subject) {
  Json document = jsonDocument("sublane.check/1");
  document["subject"] = subject;
  document["passed"] = check.passed();
  document["notes"] = check.notes;
  document["steps"] = Json::array();
  for (const StepCheck& step : check.steps) {
    Json slower = Json::array();
    for (const StepCheck::Worst& worst : step.worst) {
      slower.push_back({{"place", worst.before.place},
                        {"kind", worst.before.kind},
                        {"before_us", worst.before.us},
                        {"after_us", worst.after_us},
                        {"source", worst.source}});
    }
    document["steps"].push_back({{"name", step.name},
                                 {"passed", step.passed},
                                 {"reason", step.reason},
                                 {"before_us", step.before_us},
                                 {"after_us", step.after_us},
                                 {"origin", "simulated"},
                                 {"slower", slower}});
  }
  return jsonText(document);
}

std::string toJunit(const BaselineCheck& check, const std::string& subject) {
  int64_t failures = 0;
  std::string cases;
  for (const StepCheck& step : check.steps) {
    failures += !step.passed;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(subject), xml(step.name));
    if (step.passed) {
      cases += "/>\n";
      continue;
    }
    std::string lines;
    for (const StepCheck::Worst& worst : step.worst) lines += worstText(worst) + "\n";
    cases += fmt::format(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n", xml(step.reason),
                         xml(lines));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"sublane check\" "
      "tests=\"{}\" "
      "failures=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
      check.steps.size(), failures, cases);
}

std::string toSarif(const BaselineCheck& check, const std::string& subject) {
  Json results = Json::array();
  for (const StepCheck& step : check.steps) {
    if (step.passed) continue;
    const auto add = [&](const std::string& message, const std::string& source) {
      Json result = {
          {"ruleId", "slower-than-baseline"}, {"level", "error"}, {"message", {{"text", message}}}};
      if (Json location = locationOf(source); !location.is_null()) result["locations"] = {location};
      results.push_back(std::move(result));
    };
    add(fmt::format("{} {}: {}", subject, step.name, step.reason), "");
    for (const StepCheck::Worst& worst : step.worst) add(worstText(worst), worst.source);
  }
  const Json rule = {{"id", "slower-than-baseline"},
                     {"shortDescription", {{"text", "Slower than the baseline allows (simulated)"}}}};
  const Json tool = {{"driver", {{"name", "sublane"}, {"rules", {rule}}}}};
  return jsonText({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                   {"version", "2.1.0"},
                   {"runs", {{{"tool", tool}, {"results", results}}}}});
}

}  // namespace sublane::report
