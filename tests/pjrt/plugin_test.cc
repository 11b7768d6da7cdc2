// What Plugin::load and pluginPath refuse, and what they say.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/paths.h"
#include "pjrt/parts.h"
#include "pjrt/pjrt.h"
#include "pjrt/worker.h"

namespace sublane::pjrt {
namespace {

namespace fs = std::filesystem;

std::string fixture(const std::string& name) {
  return SUBLANE_BINARY_DIR "/fixtures/pjrt_fixture_" + name + ".so";
}

Error loadError(const std::string& path) {
  Result<Plugin> plugin = Plugin::load(path);
  return plugin.ok() ? inputError("loaded") : plugin.error();
}

TEST(PluginLoad, MissingFile) {
  const Error error = loadError("/no/such/plugin.so");
  EXPECT_EQ(error.fault(), Fault::kMachine);
  EXPECT_EQ(error.text(),
            "plugin /no/such/plugin.so: no such file\n"
            "  hint: name a PJRT plugin's shared library, or run tools/setup.sh to install the pinned ones");
}

TEST(PluginLoad, FileThatIsNoLibrary) {
  const Error error = loadError(SUBLANE_SOURCE_DIR "/README.md");
  EXPECT_TRUE(error.message().find(": cannot be loaded: ") != std::string::npos ||
              error.message().find(": no such file") != std::string::npos)
      << error.message();
  const Error text = loadError(SUBLANE_SOURCE_DIR "/CMakeLists.txt");
  EXPECT_NE(text.message().find("CMakeLists.txt: cannot be loaded: "), std::string::npos) << text.message();
}

TEST(PluginLoad, LibraryThatIsNoPlugin) {
  EXPECT_EQ(loadError(fixture("no_entry")).message(),
            "plugin " + fixture("no_entry") + ": not a PJRT plugin: it has no function GetPjrtApi");
}

TEST(PluginLoad, WrongMajorVersion) {
  EXPECT_EQ(loadError(fixture("wrong_major")).message(),
            "plugin " + fixture("wrong_major") + ": PJRT API 3.7: major version 3, but Sublane speaks 0");
}

TEST(PluginLoad, EntriesPastItsStructAreNeverCalled) {
  EXPECT_EQ(loadError(fixture("too_small")).message(),
            "plugin " + fixture("too_small") + ": PJRT API 0.7 has no PJRT_Plugin_Initialize");
}

// ---- parts

class Parts : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"XDG_CACHE_HOME", "SUBLANE_LIBTPU", "SUBLANE_CPU_PLUGIN"}) {
      const char* value = std::getenv(name);
      saved_.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
    Result<TemporaryDirectory> folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    setenv("XDG_CACHE_HOME", folder_->path().c_str(), 1);
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_)
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
  std::string install(const std::string& path) {
    const fs::path file = fs::path(folder_->path()) / "sublane/parts" / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "library";
    return file;
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> saved_;
  std::optional<TemporaryDirectory> folder_;
};

const Part& part(std::string_view name) {
  for (const Part& each : parts()) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "no part " << name;
  return parts()[0];
}

TEST_F(Parts, AllFourPluginsArePinned) {
  ASSERT_EQ(parts().size(), 4u);
  for (const Part& each : parts()) {
    EXPECT_FALSE(each.version.empty());
    EXPECT_FALSE(each.package.empty());
    const std::string path = install(fmt::format("{}-{}/{}", each.name, each.version, each.library));
    Result<std::string> found = pluginPath(std::string(each.name));
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(*found, path);
  }
}

TEST_F(Parts, MissingPartSaysWhatInstallsIt) {
  Result<std::string> path = pluginPath("libtpu");
  ASSERT_FALSE(path.ok());
  const std::string version(part("libtpu").version);
  EXPECT_EQ(path.error().fault(), Fault::kMachine);
  EXPECT_EQ(
      path.error().text(),
      fmt::format(
          "libtpu {0}: not installed: no file {1}/sublane/parts/libtpu-{0}/libtpu/libtpu.so\n"
          "  hint: run `make demo` or tools/setup.sh, which install libtpu {0}, or set SUBLANE_LIBTPU to "
          "another one",
          version, folder_->path()));
}

TEST_F(Parts, AnotherVersionIsNamedBesideThePinnedOne) {
  install("libtpu-0.0.7/libtpu/libtpu.so");
  install("libtpu-0.0.1/libtpu/libtpu.so");
  Result<std::string> path = pluginPath("libtpu");
  ASSERT_FALSE(path.ok());
  EXPECT_TRUE(path.error().message().starts_with("libtpu: version 0.0.1, 0.0.7 is installed, Sublane needs " +
                                                 std::string(part("libtpu").version)))
      << path.error().message();
  // "cpu-xla-..." must not count as a version of "cpu".
  install("cpu-xla-9/library.so");
  EXPECT_NE(pluginPath("cpu").error().message().find("not installed"), std::string::npos);
}

TEST_F(Parts, OverrideRules) {
  const std::string other = install("elsewhere/my_libtpu.so");
  setenv("SUBLANE_LIBTPU", other.c_str(), 1);
  EXPECT_EQ(*pluginPath("libtpu"), other);
  setenv("SUBLANE_LIBTPU", "/no/such/file", 1);
  EXPECT_EQ(pluginPath("libtpu").error().message(),
            "libtpu: $SUBLANE_LIBTPU names /no/such/file, which is not a file");
  setenv("SUBLANE_LIBTPU", "", 1);
  EXPECT_NE(pluginPath("libtpu").error().message().find("not installed"), std::string::npos);
}

TEST_F(Parts, UnknownPartListsThoseThatExist) {
  const std::string message = pluginPath("gpu").error().message();
  EXPECT_EQ(message.substr(0, 31), "part gpu: unknown; there are li") << message;
  EXPECT_NE(message.find("cpu-fastatomstruct"), std::string::npos);
}

}  // namespace
}  // namespace sublane::pjrt
