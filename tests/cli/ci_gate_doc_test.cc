// docs/ci-gate.md is kept honest: its workflow is YAML, what it runs is there, its verbs have the flags that
// it names, and its sublane.toml is read.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "base/paths.h"
#include "base/subprocess.h"
#include "gate/project.h"

namespace sublane {
namespace {

const std::string& page() {
  static const std::string kPage = readFile(SUBLANE_SOURCE_DIR "/docs/ci-gate.md").value();
  return kPage;
}

/// The block of this language.
std::string block(const std::string& language) {
  const size_t from = page().find("```" + language + "\n") + language.size() + 4;
  return page().substr(from, page().find("\n```", from) + 1 - from);
}

SubprocessResult outputOf(const std::vector<std::string>& arguments) {
  Subprocess child;
  child.argv = arguments;
  return run(child).value();
}

TEST(CiGateDoc, ItsProjectIsRead) {
  const Result<std::vector<gate::Entry>> entries = gate::parseProject(block("toml"), "sublane.toml");
  ASSERT_TRUE(entries.ok()) << entries.error().text();
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_DOUBLE_EQ(*(*entries)[2].budget.us, 5000);
}

TEST(CiGateDoc, ItsVerbsHaveTheFlagsThatItNames) {
  std::set<std::pair<std::string, std::string>> seen;
  const std::regex command(R"(sublane (check|diff|simulate|log|explain|chips)\b([^\n`]*))"),
      flag(R"(--[a-z][a-z-]*[a-z])");
  const std::string text = page();
  for (std::sregex_iterator at(text.begin(), text.end(), command), end; at != end; ++at) {
    std::string rest = (*at)[2];
    rest = rest.substr(0, rest.find(" # "));
    for (std::sregex_iterator found(rest.begin(), rest.end(), flag); found != end; ++found)
      seen.emplace((*at)[1], found->str());
  }
  EXPECT_GT(seen.size(), 10u);
  for (const auto& [verb, name] : seen) {
    const std::string help = outputOf({SUBLANE_BINARY_DIR "/sublane", verb, "--help"}).output;
    EXPECT_TRUE(std::regex_search(help, std::regex(name + R"(\b)"))) << verb << " has no " << name;
  }
}

TEST(CiGateDoc, ItsWorkflowIsYamlAndWhatItRunsIsThere) {
  const std::string workflow = block("yaml");
  for (const char* file : {"tools/setup.sh", "tools/versions.env", "Makefile"})
    EXPECT_TRUE(readFile(std::string(SUBLANE_SOURCE_DIR "/") + file).ok()) << file;
  EXPECT_NE(readFile(SUBLANE_SOURCE_DIR "/Makefile")->find("\nbuild:"), std::string::npos) << "make build";
  EXPECT_NE(workflow.find("make -C sublane build"), std::string::npos);
  if (outputOf({"python3", "-c", "import yaml"}).code != 0) GTEST_SKIP() << "python3 has no yaml here";
  const TemporaryDirectory folder = TemporaryDirectory::create().value();
  ASSERT_TRUE(writeFileAtomically(folder.path() + "/w.yml", workflow).ok());
  const SubprocessResult parsed =
      outputOf({"python3", "-c",
                "import sys, yaml\n"
                "w = yaml.safe_load(open(sys.argv[1]))\n"
                "steps = w['jobs']['check']['steps']\n"
                "assert all(len({'run', 'uses'} & set(s)) == 1 for s in steps), steps\n"
                "assert any('sublane check' in s.get('run', '') for s in steps)\n"
                "assert any('upload-sarif' in s.get('uses', '') for s in steps)\n"
                "assert any('actions/cache' in s.get('uses', '') for s in steps)\n",
                folder.path() + "/w.yml"});
  EXPECT_EQ(parsed.code, 0) << parsed.errors;
}

}  // namespace
}  // namespace sublane
