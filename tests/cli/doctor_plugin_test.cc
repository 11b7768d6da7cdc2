// `sublane doctor` tells broken installations apart: each made in a cache of its own.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/paths.h"
#include "base/subprocess.h"
#include "pjrt/parts.h"
#include "pjrt/worker.h"

namespace sublane {
namespace {

namespace fs = std::filesystem;

class Doctor : public testing::Test {
 protected:
  void SetUp() override { cache_ = folder_.path() + "/sublane"; }

  SubprocessResult doctor(std::vector<std::string> options = {"--json"}) {
    Subprocess child;
    child.argv = {SUBLANE_BINARY_DIR "/sublane", "doctor"};
    child.argv.insert(child.argv.end(), options.begin(), options.end());
    child.environment = environment_;
    child.environment.try_emplace("XDG_CACHE_HOME", folder_.path());
    child.environment.try_emplace("SUBLANE_LIBTPU", "");
    child.environment.try_emplace("SUBLANE_CPU_PLUGIN", "");
    return run(child).value();
  }
  /// The check of that name in doctor's document.
  nlohmann::json check(const std::string& name) {
    const SubprocessResult ended = doctor();
    document_ = nlohmann::json::parse(ended.output);
    exit_code_ = ended.code;
    errors_ = ended.errors;
    for (const auto& check : document_.at("checks")) {
      if (check.at("name") == name) return check;
    }
    return nullptr;
  }
  static pjrt::Part part(std::string_view name) {
    for (const pjrt::Part& part : pjrt::parts()) {
      if (part.name == name) return part;
    }
    return {};
  }
  void write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(createDirectories(fs::path(path).parent_path()).ok());
    ASSERT_TRUE(writeFileAtomically(path, text).ok());
  }
  /// A part whose library is `text`, with a package that says it is of `version`.
  void install(const pjrt::Part& part, const std::string& folder_version, const std::string& package_version,
               const std::string& text) {
    const std::string folder = fmt::format("{}/parts/{}-{}", cache_, part.name, folder_version);
    write(fmt::format("{}/{}", folder, part.library), text);
    write(folder + "/x.dist-info/METADATA",
          "Metadata-Version: 2.4\nName: x\nVersion: " + package_version + "\n");
  }
  static bool has(const nlohmann::json& check, const char* key, const std::string& words) {
    return check.at(key).get<std::string>().find(words) != std::string::npos;
  }

  TemporaryDirectory folder_ = TemporaryDirectory::create().value();
  std::string cache_;
  std::map<std::string, std::string> environment_;
  nlohmann::json document_;
  int exit_code_ = -1;
  std::string errors_;
};

TEST_F(Doctor, FindsAWholeInstallation) {
  environment_["XDG_CACHE_HOME"] = fs::path(cacheDirectory().value()).parent_path();
  const nlohmann::json libtpu = check("libtpu");
  EXPECT_EQ(exit_code_, 0) << document_.dump(2);
  EXPECT_EQ(document_["schema"], "sublane.doctor/1");
  EXPECT_EQ(document_["good"], true);
  EXPECT_EQ(libtpu["version"], part("libtpu").version);
  EXPECT_EQ(libtpu["pjrt_api"], "0.117");
  EXPECT_TRUE(has(libtpu, "says", "TPU v6 lite"));
  for (const auto& [name, api] : std::map<std::string, std::string>{
           {"cpu", "0.115"}, {"cpu-fastatomstruct", "0.106"}, {"cpu-xla", "0.81"}}) {
    const nlohmann::json plugin = check(name);
    EXPECT_EQ(plugin["good"], true) << plugin;
    EXPECT_EQ(plugin["pjrt_api"], api);
    EXPECT_TRUE(has(plugin, "says", "cpu")) << plugin;
  }
}

TEST_F(Doctor, NothingInstalled) {
  const nlohmann::json libtpu = check("libtpu");
  EXPECT_EQ(exit_code_, 3);
  EXPECT_NE(errors_.find("doctor: needed, and not usable: libtpu (missing), cpu (missing)"),
            std::string::npos)
      << errors_;
  EXPECT_EQ(document_["good"], false);
  EXPECT_EQ(libtpu["state"], "missing");
  EXPECT_TRUE(has(libtpu, "problem", "not installed: no file " + cache_ + "/parts/libtpu-")) << libtpu;
  EXPECT_TRUE(has(libtpu, "fix", "tools/setup.sh")) << libtpu;
  EXPECT_EQ(check("smollm2-135m")["state"], "not fetched");
  EXPECT_EQ(check("smollm2-135m")["fix"], "sublane fetch smollm2-135m");
}

TEST_F(Doctor, OnlyAnotherVersion) {
  install(part("libtpu"), "0.0.1", "0.0.1", "");
  const nlohmann::json libtpu = check("libtpu");
  EXPECT_EQ(exit_code_, 3);
  EXPECT_EQ(libtpu["state"], "wrong version");
  EXPECT_TRUE(has(libtpu, "problem", "version 0.0.1 is installed, Sublane needs ")) << libtpu;
}

TEST_F(Doctor, AnotherVersionInThePinnedPlace) {
  install(part("libtpu"), std::string(part("libtpu").version), "0.0.1", "");
  const nlohmann::json libtpu = check("libtpu");
  EXPECT_EQ(libtpu["state"], "wrong version");
  EXPECT_TRUE(has(libtpu, "problem", "its package says version 0.0.1, Sublane needs ")) << libtpu;
}

TEST_F(Doctor, PluginThatCannotBeLoaded) {
  install(part("cpu"), std::string(part("cpu").version), std::string(part("cpu").version), "not a library");
  const nlohmann::json cpu = check("cpu");
  EXPECT_EQ(exit_code_, 3);
  EXPECT_EQ(cpu["state"], "cannot load");
  EXPECT_TRUE(has(cpu, "problem", "cannot be loaded: ")) << cpu;
  EXPECT_TRUE(has(cpu, "fix", "tools/setup.sh")) << cpu;
}

TEST_F(Doctor, TruncatedPluginThatKillsItsLoader) {
  const std::string whole = pjrt::pluginPath("cpu").value();
  const std::string bytes = readFile(whole).value().substr(0, 1 << 20);
  install(part("cpu"), std::string(part("cpu").version), std::string(part("cpu").version), bytes);
  EXPECT_EQ(check("cpu")["state"], "cannot load");
  EXPECT_EQ(exit_code_, 3);
}

TEST_F(Doctor, ChosenPluginIsNamedAsSuch) {
  environment_["SUBLANE_CPU_PLUGIN"] = pjrt::pluginPath("cpu-xla").value();
  const nlohmann::json cpu = check("cpu");
  EXPECT_EQ(cpu["state"], "ok, by $SUBLANE_CPU_PLUGIN");
  EXPECT_EQ(cpu["version"], part("cpu-xla").version);
  EXPECT_EQ(cpu["pjrt_api"], "0.81");
}

TEST_F(Doctor, ALibraryThatIsNoPlugin) {
  environment_["SUBLANE_LIBTPU"] = "/lib/x86_64-linux-gnu/libm.so.6";
  const nlohmann::json libtpu = check("libtpu");
  EXPECT_EQ(libtpu["state"], "cannot load");
  EXPECT_TRUE(has(libtpu, "problem", "GetPjrtApi")) << libtpu;
}

TEST_F(Doctor, AChosenLibraryThatIsNotThereIsBlamedNotTheInstalledOne) {
  install(part("libtpu"), "0.0.1", "0.0.1", "");
  for (const char* chosen : {"/no/such/libtpu.so", "/etc"}) {
    environment_["SUBLANE_LIBTPU"] = chosen;
    const nlohmann::json libtpu = check("libtpu");
    EXPECT_EQ(libtpu["state"], "missing") << libtpu;
    EXPECT_TRUE(
        has(libtpu, "problem", std::string("$SUBLANE_LIBTPU names ") + chosen + ", which is not a file"))
        << libtpu;
    EXPECT_TRUE(has(libtpu, "fix", "unset SUBLANE_LIBTPU")) << libtpu;
  }
  environment_["SUBLANE_LIBTPU"] = "/lib/x86_64-linux-gnu/libm.so.6";
  EXPECT_EQ(check("libtpu")["fix"], "unset SUBLANE_LIBTPU");
}

TEST_F(Doctor, DamagedCheckpoint) {
  environment_["XDG_CACHE_HOME"] = folder_.path();
  const std::string problem = check("smollm2-135m")["problem"];  // "no file PATH"
  write(problem.substr(problem.find('/')), "GGUF");
  EXPECT_EQ(check("smollm2-135m")["state"], "damaged");
  fs::resize_file(problem.substr(problem.find('/')), 98362432);  // as long as the right one
  const nlohmann::json zeros = check("smollm2-135m");
  EXPECT_EQ(zeros["state"], "damaged");
  EXPECT_TRUE(has(zeros, "problem", "its sha256 is not ")) << zeros;
}

TEST_F(Doctor, TextTellsTheSame) {
  const SubprocessResult ended = doctor({});
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(ended.output.find("PROBLEM: libtpu\n"), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("note: smollm2-135m (not needed)\n"), std::string::npos) << ended.output;
}

}  // namespace
}  // namespace sublane
