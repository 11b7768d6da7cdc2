#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/json_keys.h"
#include "base/text.h"
#include "gate/log_json.h"
#include "report/text_parts.h"

namespace sublane::gate {
namespace {

using Json = nlohmann::ordered_json;
using report::labelled;

constexpr std::string_view kSchema = "sublane.log/1";

std::string stepsText(const LogSide& side) {
  std::string text;
  for (const LogStep& step : side.steps)
    text += fmt::format("{}{} {:.2f} us ({})", text.empty() ? "" : ", ", escaped(step.name), step.us,
                        step.origin);
  return text;
}

std::string lineText(int64_t number, const LogEntry& entry) {
  std::string subjects;
  for (const LogSide& side : entry.sides)
    subjects += fmt::format("{}{} on {}",
                            subjects.empty()       ? ""
                            : entry.verb == "diff" ? " -> "
                                                   : ", ",
                            escaped(side.subject), side.chip);
  std::string text = report::wrapped(
      fmt::format("{:>4}  {}  {:<8} {}", number, entry.time, entry.verb, subjects), "", "        ");
  const std::string outcome = !entry.outcome.empty()    ? entry.outcome
                              : entry.sides.size() == 1 ? stepsText(entry.sides[0])
                                                        : "";
  if (!outcome.empty()) text += report::wrapped(outcome, "      ", "      ");
  if (!entry.note.empty()) text += report::wrapped("note: " + escaped(entry.note, 400), "      ", "      ");
  return text;
}

LogSide readSide(JsonKeys& keys) {
  LogSide side;
  keys.text("subject", side.subject);
  keys.text("chip", side.chip);
  keys.text("compiler", side.compiler);
  keys.text("program", side.program);
  keys.text("model", side.model);
  keys.texts("flags", side.flags);
  keys.each("steps", [&](JsonKeys& inner) {
    LogStep step;
    inner.text("name", step.name);
    inner.text("origin", step.origin);
    inner.number("us", step.us);
    side.steps.push_back(std::move(step));
  });
  return side;
}

}  // namespace

Json jsonOf(const LogEntry& entry) {
  Json json = {{"schema", kSchema},      {"time", entry.time},       {"verb", entry.verb},
               {"sides", Json::array()}, {"outcome", entry.outcome}, {"note", entry.note}};
  for (const LogSide& side : entry.sides) {
    Json steps = Json::array();
    for (const LogStep& step : side.steps)
      steps.push_back({{"name", step.name}, {"us", step.us}, {"origin", step.origin}});
    json["sides"].push_back({{"subject", side.subject},
                             {"chip", side.chip},
                             {"compiler", side.compiler},
                             {"program", side.program},
                             {"model", side.model},
                             {"flags", side.flags},
                             {"steps", steps}});
  }
  return json;
}

Result<LogEntry> readEntry(std::string_view line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return inputError("not JSON: it begins with {}", inQuotes(line, 40));
  LogEntry entry;
  std::string schema;
  JsonKeys keys(json);
  keys.text("schema", schema);
  if (keys.ok() && schema != kSchema)
    return inputError("schema {}, expected \"{}\"", inQuotes(schema), kSchema);
  keys.text("time", entry.time);
  keys.text("verb", entry.verb);
  keys.text("outcome", entry.outcome);
  keys.text("note", entry.note);
  keys.each("sides", [&](JsonKeys& side) { entry.sides.push_back(readSide(side)); });
  SUBLANE_CHECK_OK(keys.status());
  return entry;
}

std::string toText(const Log& log) {
  std::string text;
  for (const auto& [number, entry] : log.entries) text += lineText(number, entry);
  if (log.entries.empty()) text = "nothing is logged yet\n";
  for (const DamagedLine& line : log.damaged)
    text += report::wrapped(fmt::format("line {} is damaged: {}", line.number, line.what), "", "  ");
  return text;
}

std::string toJson(const Log& log) {
  Json document = jsonDocument(kSchema);
  document["entries"] = Json::array();
  for (const auto& [number, entry] : log.entries) {
    Json json = {{"line", number}};
    json.update(jsonOf(entry));
    json.erase("schema");
    document["entries"].push_back(std::move(json));
  }
  document["damaged"] = Json::array();
  for (const DamagedLine& line : log.damaged)
    document["damaged"].push_back({{"line", line.number}, {"what", line.what}});
  return jsonText(document);
}

std::string toText(int64_t number, const LogEntry& entry) {
  std::string text = lineText(number, entry);
  for (const LogSide& side : entry.sides) {
    text += labelled("subject", fmt::format("{} on {}", escaped(side.subject, 400), side.chip));
    text += labelled("steps", stepsText(side));
    text += labelled("compiler", escaped(side.compiler, 400));
    text += labelled("program", side.program.empty() ? "no hash" : side.program);
    text += labelled("chip model", side.model.empty() ? "not executed" : side.model);
    for (const std::string& flag : side.flags) text += labelled("flag", escaped(flag, 400));
  }
  return text;
}

}  // namespace sublane::gate
