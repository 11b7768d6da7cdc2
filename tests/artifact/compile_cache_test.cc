#include "artifact/compile_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/paths.h"

namespace sublane::artifact {
namespace {

namespace fs = std::filesystem;
using pjrt::AheadOfTimeRequest;
using pjrt::AheadOfTimeResult;

AheadOfTimeResult someResult(const std::string& hlo = "an HLO module") {
  AheadOfTimeResult result;
  result.optimized_hlo = hlo;
  result.executable = std::string("\0\x01\xff", 3);
  result.fingerprint = "f00d";
  result.platform_version = "libtpu of a test";
  result.device_kind = "TPU v6 lite";
  result.device_count = 1;
  result.memory = pjrt::MemoryStats{1, 2, 3, 4, 5, int64_t{6} << 40};
  result.seconds = 1.25;
  result.dump = {{"TLP", "a-label", "text"}};
  return result;
}

class CompileCache : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    libtpu_ = folder_->path() + "/libtpu.so";
    std::ofstream(libtpu_) << "a compiler";
    options_.directory = folder_->path() + "/compiles";
    options_.compile = [this](const AheadOfTimeRequest& request) -> Result<AheadOfTimeResult> {
      ++compiles_;
      return someResult("compiled " + request.stablehlo);
    };
  }
  AheadOfTimeRequest request(const std::string& stablehlo = "a program") {
    AheadOfTimeRequest request;
    request.stablehlo = stablehlo;
    request.topology = "v6e:1x1";
    request.libtpu_path = libtpu_;
    return request;
  }
  /// Compiles through the cache; says whether it came from there.
  bool cached(const AheadOfTimeRequest& request) {
    bool from_cache = false;
    Result<AheadOfTimeResult> result = compileCached(request, &from_cache, options_);
    EXPECT_TRUE(result.ok()) << result.error().text();
    EXPECT_EQ(result->optimized_hlo, "compiled " + request.stablehlo);
    return from_cache;
  }
  std::string entryPath(const AheadOfTimeRequest& request) {
    return options_.directory + "/" + *compileKey(request);
  }

  std::optional<TemporaryDirectory> folder_;
  std::string libtpu_;
  CompileCacheOptions options_;
  int compiles_ = 0;
};

TEST_F(CompileCache, SecondTimeComesFromTheDisk) {
  EXPECT_FALSE(cached(request()));
  EXPECT_TRUE(cached(request()));
  EXPECT_EQ(compiles_, 1);
  Result<AheadOfTimeResult> result = compileCached(request(), nullptr, options_);
  ASSERT_TRUE(result.ok());
  const AheadOfTimeResult expected = someResult("compiled a program");
  EXPECT_EQ(result->executable, expected.executable);
  EXPECT_EQ(result->fingerprint, expected.fingerprint);
  EXPECT_EQ(result->platform_version, expected.platform_version);
  EXPECT_EQ(result->device_kind, expected.device_kind);
  EXPECT_EQ(result->device_count, expected.device_count);
  EXPECT_EQ(result->seconds, expected.seconds);
  EXPECT_EQ(result->dump, expected.dump);
  ASSERT_TRUE(result->memory.has_value());
  EXPECT_EQ(result->memory->peak, int64_t{6} << 40);
  EXPECT_EQ(result->memory->code, 1);
}

TEST_F(CompileCache, EachFieldChangesTheKey) {
  std::vector<AheadOfTimeRequest> requests(15, request());
  requests[1].stablehlo = "another";
  requests[2].topology = "v5e:1x1";
  requests[3].topology_options = {{"chip_config_name", std::string("megacore")}};
  requests[4].options.replicas = 2;
  requests[5].options.partitions = 2;
  requests[6].options.overrides = {{"flag", true}};
  requests[7].options.overrides = {{"flag", int64_t{1}}};
  requests[8].options.overrides = {{"flag", 1.0}};
  requests[9].init_args = {"--flag"};
  requests[10].want_executable = true;
  requests[11].libtpu_path = folder_->path() + "/other.so";
  std::ofstream(requests[11].libtpu_path) << "a compiler";
  requests[12].want_listings = true;
  requests[13].want_assembly = true;
  requests[14].want_profile = true;
  std::set<std::string> keys;
  for (const AheadOfTimeRequest& each : requests) keys.insert(*compileKey(each));
  EXPECT_EQ(keys.size(), requests.size());

  AheadOfTimeRequest patient = request();
  patient.timeout_seconds = 5;
  EXPECT_EQ(*compileKey(patient), *compileKey(request())) << "the timeout changes no result";
}

TEST_F(CompileCache, AnotherLibtpuIsAnotherKey) {
  const std::string before = *compileKey(request());
  std::ofstream(libtpu_) << "a newer compiler";
  EXPECT_NE(*compileKey(request()), before);
}

TEST_F(CompileCache, MissingLibtpuIsAnError) {
  AheadOfTimeRequest missing = request();
  missing.libtpu_path = "/no/such/libtpu.so";
  Result<AheadOfTimeResult> result = compileCached(missing, nullptr, options_);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().text(),
            "libtpu: no file /no/such/libtpu.so\n  hint: run `make demo` or tools/setup.sh");
}

TEST_F(CompileCache, EveryDamagedByteIsSeen) {
  const std::string key(64, 'a');
  const std::string entry = encodeEntry(key, someResult());
  ASSERT_TRUE(decodeEntry(key, entry).has_value());
  for (size_t at = 0; at < entry.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = entry;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      ASSERT_FALSE(decodeEntry(key, damaged).has_value()) << "byte " << at << " bit " << bit;
    }
  }
  for (size_t size = 0; size < entry.size(); ++size) {
    ASSERT_FALSE(decodeEntry(key, std::string_view(entry).substr(0, size)).has_value()) << "cut to " << size;
  }
  EXPECT_FALSE(decodeEntry(key, entry + "x").has_value());
  EXPECT_FALSE(decodeEntry(std::string(64, 'b'), entry).has_value()) << "an entry renamed to another key";
}

TEST_F(CompileCache, DamagedEntryIsCompiledAgainAndRepaired) {
  EXPECT_FALSE(cached(request()));
  const std::string path = entryPath(request());
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_FALSE(cached(request()));
  EXPECT_TRUE(cached(request()));
  std::ofstream(path, std::ios::trunc);  // empty
  EXPECT_FALSE(cached(request()));
  EXPECT_EQ(compiles_, 3);
}

TEST_F(CompileCache, ErrorsAreNotStored) {
  options_.compile = [this](const AheadOfTimeRequest&) -> Result<AheadOfTimeResult> {
    if (++compiles_ == 1) return inputError("refused");
    return someResult("compiled a program");
  };
  EXPECT_EQ(compileCached(request(), nullptr, options_).error().message(), "refused");
  EXPECT_FALSE(cached(request()));
  EXPECT_TRUE(cached(request()));
}

TEST_F(CompileCache, FolderThatCannotBeMadeOnlyCostsTime) {
  options_.directory = libtpu_ + "/compiles";  // below a file
  EXPECT_FALSE(cached(request()));
  EXPECT_FALSE(cached(request()));
}

TEST_F(CompileCache, OldestUnusedGoFirst) {
  auto age = [&](const AheadOfTimeRequest& request, int hours) {
    fs::last_write_time(entryPath(request), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (const char* program : {"one", "two", "three"}) cached(request(program));
  const auto bytes = static_cast<int64_t>(fs::file_size(entryPath(request("one"))));
  age(request("one"), 30);
  age(request("two"), 20);
  age(request("three"), 10);
  EXPECT_TRUE(cached(request("one")));  // used: now the youngest
  const std::string stale = options_.directory + "/left.tmp-x";
  const std::string fresh = options_.directory + "/right.tmp-y";
  for (const std::string& path : {stale, fresh}) std::ofstream(path) << "half";
  fs::last_write_time(stale, fs::file_time_type::clock::now() - std::chrono::hours(3));

  options_.most_bytes = 3 * bytes;  // room for "one", "three" and "four", but not for all
  cached(request("four"));
  EXPECT_FALSE(fs::exists(entryPath(request("two"))));
  EXPECT_TRUE(fs::exists(entryPath(request("one"))));
  EXPECT_TRUE(fs::exists(entryPath(request("four"))));
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(fresh)) << "another process may be writing it";
}

TEST_F(CompileCache, ManyProcessesShareIt) {
  constexpr int kProcesses = 6, kRounds = 40, kPrograms = 5;
  options_.most_bytes = 800;  // less than three: entries come and go under the readers
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (int round = 0; round < kRounds; ++round) {
        const std::string program = fmt::format("program {}", (round + p) % kPrograms);
        Result<AheadOfTimeResult> result = compileCached(request(program), nullptr, options_);
        if (!result.ok() || result->optimized_hlo != "compiled " + program) _exit(1);
      }
      _exit(0);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace sublane::artifact
