// --redact from a user's side: no name of the program is in any output.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/paths.h"
#include "base/subprocess.h"

namespace sublane {
namespace {

const std::string kFolder = SUBLANE_SOURCE_DIR "/tests/report/stablehlo/";

std::string sublane(std::vector<std::string> arguments, const std::string& folder = "/tmp") {
  Subprocess child;
  child.argv = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder, SUBLANE_BINARY_DIR "/sublane"};
  child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
  const SubprocessResult result = run(child).value();
  EXPECT_EQ(result.code, 0) << result.errors;
  return result.output;
}

/// Words that are the program's own: names of operations, parts, kernels, files, steps.
std::set<std::string> namesIn(const std::string& json) {
  std::set<std::string> names;
  const auto document = nlohmann::json::parse(json);
  std::vector<nlohmann::json> rows = document.value("ops", nlohmann::json::array());
  for (const auto& step : document["steps"])
    for (const auto& row : step.value("ops", nlohmann::json::array())) rows.push_back(row);
  for (const auto& row : rows) {
    for (const char* key : {"op", "part", "kernel", "source"}) {
      if (!row[key].is_string()) continue;
      const std::string name = row[key].get<std::string>();
      if (name[0] == '(') continue;  // ours: what is outside of operations
      // Shorter ones ("add") are in words of ours; those are looked up as whole JSON strings.
      names.insert(name.size() < 8 ? "\"" + name + "\"" : name);
    }
  }
  for (const auto& row : rows) {  // an operation may be called as its kind is
    const std::string kind = row["kind"].get<std::string>();
    names.erase(kind);
    names.erase("\"" + kind + "\"");
  }
  names.insert(kFolder);
  names.insert("gather_top_k_sort.mlir");
  return names;
}

TEST(RedactVerb, NoNameIsInAnyOutput) {
  const std::string program = kFolder + "gather_top_k_sort.mlir";
  for (const std::string verb : {"simulate", "explain"}) {
    const std::vector<std::string> usual = {verb, program, "--chip", "v6e", "--top", "0"};
    std::vector<std::string> json = usual, closed = usual, closed_json = usual;
    json.emplace_back("--json");
    closed.emplace_back("--redact");
    closed_json.insert(closed_json.end(), {"--redact", "--json"});
    const std::set<std::string> names = namesIn(sublane(json));
    EXPECT_GT(names.size(), 10u);
    for (const std::string& view : {sublane(closed), sublane(closed_json)})
      for (const std::string& name : names)
        EXPECT_EQ(view.find(name), std::string::npos) << verb << ": " << name;
    EXPECT_EQ(sublane(closed_json), sublane(closed_json)) << "the same name has the same pseudonym";
  }
}

TEST(RedactVerb, ADifferenceStillMatches) {
  const std::vector<std::string> both = {
      "diff", kFolder + "unrolled_24.mlir", kFolder + "scan_24.mlir", "--chip", "v6e", "--json"};
  std::vector<std::string> closed = both;
  closed.emplace_back("--redact");
  const auto open = nlohmann::json::parse(sublane(both)), hidden = nlohmann::json::parse(sublane(closed));
  EXPECT_EQ(open["steps"][0]["change_us"], hidden["steps"][0]["change_us"]);
  EXPECT_EQ(open["steps"][0]["lines"].size(), hidden["steps"][0]["lines"].size());
  EXPECT_EQ(hidden.dump().find("_24"), std::string::npos);
}

}  // namespace
}  // namespace sublane
