#include "views/sarif.h"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"

namespace sublane::views {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kWarningPercent = 5;  // of the step, that a cure would save

/// What a URI's path may not hold is written as %XX.
std::string uriPath(const std::string& path) {
  constexpr std::string_view kPlain = "-._~/!$&'()*+,;=:@";
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    uri += letter || kPlain.find(c) != kPlain.npos ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

std::string uriOf(const std::string& file, const std::string& root) {
  const std::filesystem::path path(file);
  if (!path.is_absolute()) return uriPath(file);
  const std::filesystem::path relative = path.lexically_relative(root);
  if (!relative.empty() && *relative.begin() != "..") return uriPath(relative.string());
  return "file://" + uriPath(file);
}

/// Of "model.py:42".
std::optional<Json> locationOf(const std::string& source, const std::string& root) {
  const size_t colon = source.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  int64_t line = 0;
  const char* end = source.data() + source.size();
  const auto [at, error] = std::from_chars(source.data() + colon + 1, end, line);
  if (error != std::errc{} || at != end || line < 1) return std::nullopt;
  return Json{{"physicalLocation",
               {{"artifactLocation", {{"uri", uriOf(source.substr(0, colon), root)}}},
                {"region", {{"startLine", line}}}}}};
}

}  // namespace

std::vector<SarifRule> sarifRules() {
  std::vector<SarifRule> rules;
  for (const findings::Rule* rule : findings::allRules())
    rules.push_back({std::string(rule->name), std::string(rule->summary)});
  return rules;
}

std::vector<SarifResult> sarifOf(const std::vector<findings::Finding>& findings,
                                 const findings::Evidence& evidence, const std::string& subject) {
  std::vector<SarifResult> results;
  for (const findings::Finding& finding : findings) {
    const double percent = evidence.percent(finding.gain_us);
    results.push_back(
        {.rule = std::string(finding.rule),
         .level = percent >= kWarningPercent ? "warning" : "note",
         .message = fmt::format("{} {}: {}. Cure: {} ({:.1f} us, {:.0f} % of the step)", subject,
                                evidence.step.name, finding.what, finding.cure, finding.gain_us, percent),
         .sources = finding.sources});
  }
  return results;
}

std::string toSarif(const std::vector<SarifRule>& rules, const std::vector<SarifResult>& results,
                    const std::string& root) {
  std::error_code ignored;
  const std::string base = root.empty() ? std::filesystem::current_path(ignored).string() : root;
  Json rules_json = Json::array(), results_json = Json::array();
  for (const SarifRule& rule : rules)
    rules_json.push_back({{"id", rule.id}, {"shortDescription", {{"text", rule.summary}}}});
  for (const SarifResult& result : results) {
    Json json = {{"ruleId", result.rule}, {"level", result.level}, {"message", {{"text", result.message}}}};
    Json locations = Json::array();
    for (const std::string& source : result.sources)
      if (std::optional<Json> location = locationOf(source, base)) locations.push_back(std::move(*location));
    if (!locations.empty()) json["locations"] = std::move(locations);
    results_json.push_back(std::move(json));
  }
  const Json tool = {{"driver", {{"name", "sublane"}, {"rules", rules_json}}}};
  return jsonText({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                   {"version", "2.1.0"},
                   {"runs", {{{"tool", tool}, {"results", results_json}}}}});
}

}  // namespace sublane::views
