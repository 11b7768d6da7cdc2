// `sublane simulate` and `sublane chips --show` from a user's side: wrong use, interrupts, what is printed.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <span>

#include "base/paths.h"
#include "base/subprocess.h"
#include "io/npz.h"

namespace sublane {
namespace {

constexpr const char* kProgram = R"(module @twice {
  func.func public @main(%x: tensor<8x128xf32>) -> tensor<8x128xf32> {
    %0 = stablehlo.add %x, %x : tensor<8x128xf32>
    return %0 : tensor<8x128xf32>
  }
})";

class SimulateVerb : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    program_ = folder_->path() + "/twice.mlir";
    ASSERT_TRUE(writeFileAtomically(program_, kProgram).ok());
  }
  SubprocessResult sublane(const std::vector<std::string>& arguments) {
    Subprocess child;
    child.argv = before_;
    child.argv.emplace_back(SUBLANE_BINARY_DIR "/sublane");
    child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
    child.environment = environment_;
    return run(child).value();
  }
  /// What is said of a wrong use, which must end with code 2.
  std::string refused(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"simulate", program_, "--chip", "v6e"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const SubprocessResult result = sublane(arguments);
    EXPECT_EQ(result.code, 2) << result.errors;
    EXPECT_EQ(result.output, "");
    return result.errors;
  }
  std::optional<TemporaryDirectory> folder_;
  std::string program_;
  std::vector<std::string> before_;
  std::map<std::string, std::string> environment_;
};

TEST_F(SimulateVerb, PrintsTheSameFactsAsTextAndAsJson) {
  const SubprocessResult text = sublane({"simulate", program_, "--chip", "v6e"});
  ASSERT_EQ(text.code, 0) << text.errors;
  const SubprocessResult json = sublane({"simulate", program_, "--chip", "v6e", "--json"});
  ASSERT_EQ(json.code, 0) << json.errors;
  const auto document = nlohmann::json::parse(json.output);
  EXPECT_EQ(document["schema"], "sublane.simulate/1");
  EXPECT_GT(document["total_us"].get<double>(), 0);
  EXPECT_NE(text.output.find(fmt::format("{:.2f} us", document["total_us"].get<double>())), std::string::npos)
      << text.output;
  EXPECT_NE(text.output.find(document["model_hash"].get<std::string>().substr(0, 12)), std::string::npos);
  EXPECT_NE(text.output.find("simulated"), std::string::npos);
}

TEST_F(SimulateVerb, WrongUseIsSaidWithWhatWouldBeRight) {
  EXPECT_EQ(refused({"--without", "gravity"}),
            "sublane: --without gravity: not a cause that can be taken away\n"
            "  hint: one of hbm-limit, dma-latency, dma, spills, launch, dependencies, branches, overlays\n");
  EXPECT_NE(refused({"--inputs", folder_->path() + "/none.npz"}).find("none.npz"), std::string::npos);
  EXPECT_NE(refused({"--inputs", program_}).find("not an .npz file"), std::string::npos);
  EXPECT_NE(refused({"--batch", "3"}).find("--batch is of a model's steps"), std::string::npos);
  EXPECT_NE(refused({"--step", "decode"}).find("a program has no steps"), std::string::npos);
  EXPECT_NE(refused({"--outputs", "x.npz"}).find("without --values there are none"), std::string::npos);
  EXPECT_NE(refused({"--expect", "x.npz"}).find("without --values there is nothing to compare"),
            std::string::npos);
  EXPECT_NE(refused({"--values"}).find("--values needs every argument; an argument is not given: 0"),
            std::string::npos);
  EXPECT_NE(refused({"--compile-option", "flag"}).find("not of the form flag=value"), std::string::npos);
  EXPECT_NE(refused({"--dma", "none"}).find("--dma"), std::string::npos);
  EXPECT_NE(refused({"--mode", "none"}).find("--mode"), std::string::npos);
  EXPECT_EQ(sublane({"simulate", program_, "--chip", "v9"}).errors,
            "sublane: --chip v9: no such chip\n  hint: chips: v4, v5e, v5p, v6e, tpu7x\n");
  EXPECT_EQ(sublane({"simulate", "--chip", "v6e"}).code, 2);
}

/// 8 x 128 floats as an array of an .npz file.
io::NpyArray arrayOf(const std::string& name, const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {.name = name,
          .dtype = "<f4",
          .element_bytes = 4,
          .shape = {8, 128},
          .bytes = {bytes.begin(), bytes.end()}};
}

TEST_F(SimulateVerb, ComparesResultsAndNamesWhoWroteWhatDiffers) {
  std::vector<float> values(1024);
  std::iota(values.begin(), values.end(), 0.0f);
  const std::string inputs = folder_->path() + "/in.npz", want = folder_->path() + "/want.npz";
  ASSERT_TRUE(io::writeNpz(inputs, {arrayOf("arg0", values)}).ok());
  std::vector<std::string> verb = {"simulate", program_,   "--chip",   "v6e", "--inputs",
                                   inputs,     "--values", "--expect", want};
  for (float& value : values) value *= 2;
  ASSERT_TRUE(io::writeNpz(want, {arrayOf("output0", values)}).ok());
  const SubprocessResult same = sublane(verb);
  EXPECT_EQ(same.code, 0) << same.errors;
  EXPECT_NE(same.output.find("as expected; worst by 0"), std::string::npos) << same.output;

  values[5 * 128 + 7] = 0;
  ASSERT_TRUE(io::writeNpz(want, {arrayOf("output0", values)}).ok());
  verb.push_back("--json");
  const SubprocessResult other = sublane(verb);
  EXPECT_EQ(other.code, 1) << other.errors;
  const auto document = nlohmann::json::parse(other.output);
  const std::string said = document["steps"][0]["outputs"][0]["expected"]["difference"];
  EXPECT_NE(said.find("1 of 1024 elements outside"), std::string::npos) << said;
  EXPECT_NE(said.find("first at [5,7]: 1294, not 0 (row 5 of the buffer, lane 7), last written by "),
            std::string::npos)
      << said;
  EXPECT_NE(said.find(", bundle 0x"), std::string::npos) << said;
  EXPECT_NE(other.errors.find("result 0 is not as " + want + " says"), std::string::npos) << other.errors;
  ASSERT_TRUE(io::writeNpz(want, {}).ok());
  EXPECT_EQ(sublane(verb).code, 2) << "nothing was compared";
}

TEST_F(SimulateVerb, AFileThatCannotBeMadeIsAnErrorBeforeTheCompile) {
  for (const std::string flag : {"--events", "--trace"}) {
    const SubprocessResult result =
        sublane({"simulate", program_, "--chip", "v6e", flag, "/no/such/folder/file"});
    EXPECT_NE(result.code, 0);
    EXPECT_NE(result.errors.find("/no/such/folder/file"), std::string::npos) << result.errors;
  }
}

TEST_F(SimulateVerb, TraceChangesNothingButTheFile) {
  const std::string events = folder_->path() + "/events", trace = folder_->path() + "/trace";
  const SubprocessResult plain = sublane({"simulate", program_, "--chip", "v6e"});
  const SubprocessResult traced =
      sublane({"simulate", program_, "--chip", "v6e", "--trace", trace, "--events", events});
  ASSERT_EQ(traced.code, 0) << traced.errors;
  EXPECT_EQ(plain.output, traced.output);
  EXPECT_GT(std::filesystem::file_size(trace), 1000u);
  EXPECT_GT(std::filesystem::file_size(events), 1000u) << "both are told";
}

TEST_F(SimulateVerb, AnInterruptEndsTheCompileAndLeavesNothing) {
  const std::string temporary = folder_->path() + "/tmp";
  ASSERT_TRUE(createDirectories(temporary).ok());
  environment_ = {{"TMPDIR", temporary}, {"SUBLANE_WORKER_TEST", "hang"}};
  // A program of its own, so that no cache answers.
  ASSERT_TRUE(writeFileAtomically(program_, std::string(kProgram) + "\n// " + folder_->path() + "\n").ok());
  // In the foreground: otherwise timeout signals its whole group too, and a second Ctrl-C ends the program at
  // once.
  before_ = {"timeout", "--foreground", "--preserve-status", "--signal=INT", "--kill-after=20", "1"};
  const SubprocessResult result = sublane({"simulate", program_, "--chip", "v6e"});
  EXPECT_EQ(result.describe(), "exited with code 130") << "as a shell reports SIGINT";
  EXPECT_EQ(result.errors, "sublane: simulate: interrupted\n");
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

TEST_F(SimulateVerb, ChipsShowsEveryNumberOfTheModelWithItsSource) {
  for (const char* chip : {"v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    const SubprocessResult shown = sublane({"chips", "--show", chip, "--json"});
    ASSERT_EQ(shown.code, 0) << shown.errors;
    const auto model = nlohmann::json::parse(shown.output)["chips"][0]["model"];
    ASSERT_TRUE(model.is_object()) << chip;
    EXPECT_EQ(model["hash"].get<std::string>().size(), 64u);
    const std::string text = sublane({"chips", "--show", chip}).output;
    EXPECT_NE(text.find(model["hash"].get<std::string>()), std::string::npos);
    EXPECT_NE(text.find(model["simulator"].get<std::string>()), std::string::npos);
    EXPECT_GE(model["parameters"].size(), 10u);
    for (const auto& [key, number] : model["parameters"].items()) {
      EXPECT_NE(text.find("  " + key + " "), std::string::npos) << key;
      for (const char* field : {"unit", "origin", "source"})
        EXPECT_FALSE(number[field].get<std::string>().empty()) << key;
    }
  }
}

}  // namespace
}  // namespace sublane
