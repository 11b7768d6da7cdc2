// libtpu in a child process: what it compiles, what it refuses, and how it can die.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/paths.h"
#include "base/wire.h"
#include "pjrt/worker.h"

namespace sublane::pjrt {
namespace {

/// Sets an environment variable for the time of a test.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~ScopedVariable() { old_ ? setenv(name_.c_str(), old_->c_str(), 1) : unsetenv(name_.c_str()); }

 private:
  std::string name_;
  std::optional<std::string> old_;
};

constexpr const char* kTiny = R"(module @tiny {
  func.func public @main(%x: tensor<128x256xbf16>, %w: tensor<256x512xbf16>) -> tensor<128x512xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<128x256xbf16>, tensor<256x512xbf16>) -> tensor<128x512xf32>
    %1 = stablehlo.tanh %0 : tensor<128x512xf32>
    return %1 : tensor<128x512xf32>
  }
})";

class AheadOfTime : public testing::Test {
 protected:
  ScopedVariable worker_{"SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane"};
};

AheadOfTimeRequest tiny(const std::string& topology) {
  AheadOfTimeRequest request;
  request.stablehlo = kTiny;
  request.topology = topology;
  request.timeout_seconds = 300;
  if (topology.starts_with("v4")) request.topology_options = {{"chip_config_name", std::string("megacore")}};
  return request;
}

/// Name of the module: field 1 of an HloModuleProto.
std::string moduleName(const std::string& hlo) {
  WireReader in(hlo);
  return in.next() && in.field() == 1 ? std::string(in.text()) : "";
}

struct ChipCase {
  const char* topology;
  const char* device_kind;
  int64_t devices;
};

class EachChip : public AheadOfTime, public testing::WithParamInterface<ChipCase> {};

TEST_P(EachChip, CompilesATinyProgram) {
  Result<AheadOfTimeResult> result = compileAheadOfTime(tiny(GetParam().topology));
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->device_kind, GetParam().device_kind);
  EXPECT_EQ(result->device_count, GetParam().devices);
  EXPECT_EQ(moduleName(result->optimized_hlo), "tiny");
  EXPECT_FALSE(result->fingerprint.empty());
  EXPECT_FALSE(result->platform_version.empty());
  EXPECT_TRUE(result->executable.empty()) << "not asked for";
  ASSERT_TRUE(result->memory.has_value());
  EXPECT_EQ(result->memory->arguments, (128 * 256 + 256 * 512) * 2);
  EXPECT_EQ(result->memory->outputs, 128 * 512 * 4);
  EXPECT_GT(result->memory->code, 0);
  EXPECT_GT(result->memory->peak, 0);
  EXPECT_GT(result->seconds, 0);
  std::printf("[ measured ] %s: compile %.2f s\n", GetParam().topology, result->seconds);
}

INSTANTIATE_TEST_SUITE_P(, EachChip,
                         testing::Values(ChipCase{"v4:1x1x1", "TPU v4", 1},
                                         ChipCase{"v5e:1x1", "TPU v5 lite", 1},
                                         ChipCase{"v5p:1x1x1", "TPU v5", 1},
                                         ChipCase{"v6e:1x1", "TPU v6 lite", 1},
                                         ChipCase{"tpu7x:1x1x1", "TPU7x", 2}),
                         [](const auto& info) {
                           const std::string topology = info.param.topology;
                           return topology.substr(0, topology.find(':'));
                         });

TEST_F(AheadOfTime, SameInputGivesSameBytes) {
  AheadOfTimeRequest request = tiny("v6e:1x1");
  request.want_executable = true;
  Result<AheadOfTimeResult> first = compileAheadOfTime(request);
  ASSERT_TRUE(first.ok()) << first.error().text();
  // What a shell may hold must not matter.
  ScopedVariable flags("LIBTPU_INIT_ARGS", "--no_such_flag_at_all=1");
  ScopedVariable type("TPU_ACCELERATOR_TYPE", "nonsense");
  Result<AheadOfTimeResult> second = compileAheadOfTime(request);
  ASSERT_TRUE(second.ok()) << second.error().text();
  EXPECT_TRUE(first->optimized_hlo == second->optimized_hlo);
  EXPECT_TRUE(first->executable == second->executable);
  EXPECT_GT(first->executable.size(), 10000u);
  EXPECT_EQ(first->fingerprint, second->fingerprint);
}

TEST_F(AheadOfTime, CompilersRefusalIsTheInputsFault) {
  AheadOfTimeRequest request = tiny("v6e:1x1");
  request.stablehlo = "module { func.func @main() { stablehlo.nonsense } }";
  Result<AheadOfTimeResult> result = compileAheadOfTime(request);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kInput);
  EXPECT_NE(result.error().message().find("stablehlo.nonsense"), std::string::npos)
      << result.error().message();
}

TEST_F(AheadOfTime, TooLargeForTheChipIsTheInputsFault) {
  AheadOfTimeRequest request = tiny("v5e:1x1");
  request.stablehlo = R"(module @large {
    func.func public @main(%x: tensor<8589934592xf32>) -> tensor<8589934592xf32> {
      %0 = stablehlo.tanh %x : tensor<8589934592xf32>
      return %0 : tensor<8589934592xf32>
    }
  })";
  Result<AheadOfTimeResult> result = compileAheadOfTime(request);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kInput) << result.error().text();
  EXPECT_NE(result.error().message().find("RESOURCE_EXHAUSTED"), std::string::npos)
      << result.error().message();
}

TEST_F(AheadOfTime, UnknownTopologyIsNamed) {
  Result<AheadOfTimeResult> result = compileAheadOfTime(tiny("tpu8:1x1"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kInput);
  EXPECT_TRUE(result.error().message().starts_with("topology tpu8:1x1: ")) << result.error().message();
}

TEST_F(AheadOfTime, UnknownOverrideIsACleanError) {
  AheadOfTimeRequest request = tiny("v6e:1x1");
  request.options.overrides = {{"xla_no_such_flag", true}};
  Result<AheadOfTimeResult> result = compileAheadOfTime(request);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kInput);
  EXPECT_NE(result.error().message().find("xla_no_such_flag"), std::string::npos) << result.error().message();
}

TEST_F(AheadOfTime, OverrideReachesTheCompiler) {
  AheadOfTimeRequest request = tiny("v6e:1x1");
  request.options.overrides = {{"xla_tpu_scoped_vmem_limit_kib", int64_t{65536}}};
  Result<AheadOfTimeResult> result = compileAheadOfTime(request);
  EXPECT_TRUE(result.ok()) << result.error().text();
}

TEST_F(AheadOfTime, ShardedProgramIsPartitioned) {
  AheadOfTimeRequest request = tiny("v6e:2x2");
  request.options.partitions = 4;
  request.stablehlo = R"(module @sharded {
    sdy.mesh @mesh = <["x"=4]>
    func.func public @main(%x: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
        -> (tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
      %0 = stablehlo.tanh %x : tensor<512x256xf32>
      return %0 : tensor<512x256xf32>
    }
  })";
  Result<AheadOfTimeResult> result = compileAheadOfTime(request);
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->device_count, 4);
  EXPECT_EQ(result->memory->arguments, 512 * 256 * 4 / 4) << "one device's share";
}

TEST_F(AheadOfTime, UnknownInitFlagEndsTheChildNotUs) {
  AheadOfTimeRequest request = tiny("v6e:1x1");
  request.init_args = {"--xla_no_such_flag=1"};
  Result<AheadOfTimeResult> result = compileAheadOfTime(request);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kMachine);
  EXPECT_NE(result.error().message().find("exited with code 1"), std::string::npos)
      << result.error().message();
  EXPECT_NE(result.error().message().find("xla_no_such_flag"), std::string::npos) << result.error().message();
}

// ---- what libtpu writes beside

/// The worker's folder for dumps lies in $TMPDIR, which is ours here: it must be empty afterwards.
class Listings : public AheadOfTime {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    variable_.emplace("TMPDIR", folder_->path());
  }
  void TearDown() override { EXPECT_TRUE(std::filesystem::is_empty(folder_->path())); }
  static size_t count(const AheadOfTimeResult& result, std::string_view label) {
    return static_cast<size_t>(
        std::count_if(result.dump.begin(), result.dump.end(),
                      [&](const DumpFile& file) { return file.label == label && !file.text.empty(); }));
  }
  std::optional<TemporaryDirectory> folder_;
  std::optional<ScopedVariable> variable_;
};

TEST_F(Listings, ComeForEveryChip) {
  for (const char* topology : {"v4:1x1x1", "v5e:1x1", "v5p:1x1x1", "v6e:1x1", "tpu7x:1x1x1"}) {
    SCOPED_TRACE(topology);
    AheadOfTimeRequest request = tiny(topology);
    request.want_listings = true;
    Result<AheadOfTimeResult> result = compileAheadOfTime(request);
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_GE(count(*result, "packed-bundles-post-ra"), 3u) << "the program, its start and its end";
    EXPECT_EQ(count(*result, "packed-bundles-post-ra"), count(*result, "post-delay-converter"));
    for (const char* label : {"deduplication-map", "trace-markers", "hlo-details"}) {
      EXPECT_EQ(count(*result, label), 1u) << label;
    }
    EXPECT_EQ(count(*result, "assembly"), 0u) << "not asked for";
    size_t bytes = 0;
    for (const DumpFile& file : result->dump) bytes += file.text.size();
    std::printf("[ measured ] %s: %zu files, %zu bytes\n", topology, result->dump.size(), bytes);
  }
}

TEST_F(Listings, AssemblyAndProfileComeWhenWanted) {
  AheadOfTimeRequest request = tiny("v6e:1x1");
  request.want_assembly = request.want_profile = true;
  Result<AheadOfTimeResult> result = compileAheadOfTime(request);
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(count(*result, "assembly"), 1u);
  EXPECT_GE(count(*result, "static-profile"), 1u);
}

TEST_F(Listings, AnAbortLeavesNoFolder) {
  ScopedVariable fault("SUBLANE_WORKER_TEST", "abort");
  AheadOfTimeRequest request = tiny("v6e:1x1");
  request.want_profile = true;
  Result<AheadOfTimeResult> result = compileAheadOfTime(request);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().hint(), "libtpu's static profile can end its own process: compile without it");
}

TEST_F(Listings, AnInterruptEndsTheChild) {
  ScopedVariable fault("SUBLANE_WORKER_TEST", "hang");
  std::atomic<bool> cancel{true};
  AheadOfTimeRequest request = tiny("v6e:1x1");
  request.want_listings = true;
  request.cancel = &cancel;
  Result<AheadOfTimeResult> result = compileAheadOfTime(request);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message(), "compile for v6e:1x1: interrupted");
}

// ---- how a child can die

TEST_F(AheadOfTime, AbortBecomesAnErrorWithItsLastWords) {
  ScopedVariable fault("SUBLANE_WORKER_TEST", "abort");
  Result<AheadOfTimeResult> result = compileAheadOfTime(tiny("v6e:1x1"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kMachine);
  EXPECT_EQ(result.error().message(),
            "compile for v6e:1x1: the compiler's process killed by signal 6 (Aborted); its last words:\n"
            "  | line 16 before the end\n"
            "  | line 17 before the end\n"
            "  | line 18 before the end\n"
            "  | line 19 before the end\n"
            "  | F0101 00:00:00.000000 1 test.cc:1] Check failed: told to abort");
}

TEST_F(AheadOfTime, ExitBecomesAnError) {
  ScopedVariable fault("SUBLANE_WORKER_TEST", "exit");
  Result<AheadOfTimeResult> result = compileAheadOfTime(tiny("v6e:1x1"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kMachine);
  EXPECT_EQ(result.error().message(),
            "compile for v6e:1x1: the compiler's process exited with code 1; its last words:\n"
            "  | unknown flag: told to exit");
}

TEST_F(AheadOfTime, HangEndsAtTheTimeout) {
  ScopedVariable fault("SUBLANE_WORKER_TEST", "hang");
  AheadOfTimeRequest request = tiny("v6e:1x1");
  request.timeout_seconds = 0.5;
  Result<AheadOfTimeResult> result = compileAheadOfTime(request);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kMachine);
  EXPECT_NE(result.error().message().find("within the limit of 0.5 s; it said nothing"), std::string::npos)
      << result.error().message();
}

TEST_F(AheadOfTime, GarbageAndCutRepliesAreErrors) {
  for (const auto& [fault, text] :
       {std::pair{"garbage", "does not start with \"SUBL\""}, std::pair{"truncated", "its header says 25"}}) {
    ScopedVariable variable("SUBLANE_WORKER_TEST", fault);
    Result<AheadOfTimeResult> result = compileAheadOfTime(tiny("v6e:1x1"));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().fault(), Fault::kMachine);
    EXPECT_NE(result.error().message().find(text), std::string::npos) << result.error().message();
  }
}

TEST_F(AheadOfTime, ChatterOnStdoutDoesNotHarmTheReply) {
  ScopedVariable fault("SUBLANE_WORKER_TEST", "noise");
  Result<AheadOfTimeResult> result = compileAheadOfTime(tiny("v6e:1x1"));
  EXPECT_TRUE(result.ok()) << result.error().text();
}

TEST_F(AheadOfTime, MissingLibtpuSaysWhatToRun) {
  ScopedVariable path("SUBLANE_LIBTPU", "/no/such/libtpu.so");
  Result<AheadOfTimeResult> result = compileAheadOfTime(tiny("v6e:1x1"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kMachine);
  EXPECT_EQ(result.error().text(),
            "libtpu: $SUBLANE_LIBTPU names /no/such/libtpu.so, which is not a file\n"
            "  hint: unset SUBLANE_LIBTPU to use the installed libtpu 0.0.52");
}

TEST_F(AheadOfTime, LibraryThatIsNoPluginIsNamed) {
  ScopedVariable path("SUBLANE_LIBTPU", "/proc/self/exe");
  Result<AheadOfTimeResult> result = compileAheadOfTime(tiny("v6e:1x1"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kMachine);
  EXPECT_TRUE(result.error().message().starts_with("plugin /proc/self/exe: cannot be loaded: "))
      << result.error().message();
}

TEST_F(AheadOfTime, CpuPluginInLibtpusPlaceIsAnError) {
  Result<std::string> cpu = pluginPath("cpu");
  ASSERT_TRUE(cpu.ok());
  ScopedVariable path("SUBLANE_LIBTPU", *cpu);
  Result<AheadOfTimeResult> result = compileAheadOfTime(tiny("v6e:1x1"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kMachine);
  EXPECT_TRUE(result.error().message().starts_with("plugin " + *cpu + ": it does not compile for TPUs: "))
      << result.error().message();
}

TEST_F(AheadOfTime, ChildDiesWithItsParent) {
  ScopedVariable fault("SUBLANE_WORKER_TEST", "hang");
  int line[2];
  ASSERT_EQ(pipe(line), 0);  // the hanging worker holds the write end: it closes when the worker is gone
  const pid_t parent = fork();
  if (parent == 0) {
    close(line[0]);
    (void)compileAheadOfTime(tiny("v6e:1x1"));
    _exit(0);
  }
  close(line[1]);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // let it start its worker
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  pollfd wait{line[0], POLLIN, 0};
  EXPECT_EQ(poll(&wait, 1, 10000), 1) << "the worker still lives";
  close(line[0]);
}

TEST_F(AheadOfTime, AProgramThatNamedNoWorkerIsNeverItsOwn) {
  ScopedVariable worker("SUBLANE_WORKER", "");
  Result<AheadOfTimeResult> result = compileAheadOfTime(tiny("v6e:1x1"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().text(),
            "compile: no worker program is set\n  hint: set SUBLANE_WORKER to build/sublane");
}

TEST_F(AheadOfTime, MissingWorkerIsAnError) {
  ScopedVariable worker("SUBLANE_WORKER", "/no/such/program");
  Result<AheadOfTimeResult> result = compileAheadOfTime(tiny("v6e:1x1"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kMachine);
  EXPECT_NE(result.error().message().find("/no/such/program: cannot start: No such file"), std::string::npos)
      << result.error().message();
}

}  // namespace
}  // namespace sublane::pjrt
