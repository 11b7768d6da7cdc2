// `sublane diff --set` with two versions of libtpu: the upgrade report.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/paths.h"
#include "base/subprocess.h"

namespace sublane {
namespace {

SubprocessResult diff(std::vector<std::string> more) {
  Subprocess child;
  child.argv = {SUBLANE_BINARY_DIR "/sublane",
                "diff",
                "--chip",
                "v6e",
                "--libtpu",
                "0.0.51",
                "--other-libtpu",
                "0.0.52"};
  child.argv.insert(child.argv.end(), more.begin(), more.end());
  return run(child).value();
}

TEST(DiffSetVerb, AnUpgradeOverAFolder) {
  const TemporaryDirectory folder = TemporaryDirectory::create().value();
  for (const char* name : {"scan_24.mlir", "unrolled_24.mlir"})
    ASSERT_TRUE(writeFileAtomically(
                    folder.path() + "/" + name,
                    readFile(std::string(SUBLANE_SOURCE_DIR "/tests/report/stablehlo/") + name).value())
                    .ok());
  ASSERT_TRUE(
      writeFileAtomically(folder.path() + "/wrong.mlir", "module {\n  this is no StableHLO\n}\n").ok());
  const SubprocessResult text = diff({"--set", folder.path()});
  ASSERT_EQ(text.code, 0) << text.errors;
  EXPECT_NE(text.output.find("libtpu 0.0.52 against libtpu 0.0.51"), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("wrong.mlir compiles or runs with neither"), std::string::npos) << text.output;
  const SubprocessResult json = diff({"--set", folder.path(), "--json"});
  const auto document = nlohmann::json::parse(json.output);
  EXPECT_EQ(document["programs"].size(), 3u);
  EXPECT_EQ(document["compared"], 2);
  EXPECT_GT(document["geometric_mean_ratio"].get<double>(), 0.2);
  EXPECT_EQ(diff({"--set", folder.path(), "--json"}).output, json.output);
}

}  // namespace
}  // namespace sublane
