// What XLA and libtpu dump of a compile, brought back as a user would: the same module as the compile's own
// proto, row by row, and a program that can be executed.
#include "report/brought.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "../llo/same_module.h"
#include "base/paths.h"
#include "llo/program.h"
#include "pjrt/worker.h"
#include "report/cost.h"

namespace sublane::report {
namespace {

namespace fs = std::filesystem;

std::string file(const std::string& name) {
  return *readFile(SUBLANE_SOURCE_DIR "/tests/report/stablehlo/" + name);
}

/// A collective of each spelling of groups, and a second operand that comes in its own order.
const char* const kSharded = R"(
module @sharded attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<256x512xf32>) -> (tensor<512x512xf32>, tensor<256x512xf32>) {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> :
      tensor<2x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} :
      (tensor<256x512xf32>) -> tensor<512x512xf32>
    %1 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> :
      tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>} :
      (tensor<256x512xf32>) -> tensor<256x512xf32>
    return %0, %1 : tensor<512x512xf32>, tensor<256x512xf32>
  }
}
)";

class BroughtPrograms : public testing::Test {
 protected:
  void SetUp() override { setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0); }

  std::string folder(const std::string& name) const {
    fs::create_directories(folder_.path() + "/" + name);
    return folder_.path() + "/" + name;
  }

  /// Compiles with XLA's dump in dumps/xla and, if wanted, libtpu's in dumps/llo.
  pjrt::AheadOfTimeResult compiled(const std::string& stablehlo, const std::string& topology, bool listings) {
    pjrt::AheadOfTimeRequest request{.stablehlo = stablehlo, .topology = topology};
    request.options.overrides["xla_dump_to"] = folder("dumps/xla");
    if (topology != "v6e:1x1") request.options.partitions = 4;
    if (listings) {
      request.init_args = {"--xla_jf_dump_to=" + folder("dumps/llo"), "--xla_jf_dump_llo_text=true",
                           "--xla_jf_dump_llo_pass_label_regex=packed-bundles-post-ra|post-delay-converter|"
                           "deduplication-map|trace-markers|hlo-details"};
    }
    const auto result = pjrt::compileAheadOfTime(request);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text());
    return result.ok() ? *result : pjrt::AheadOfTimeResult{};
  }

  std::string dumps() const { return folder_.path() + "/dumps"; }
  TemporaryDirectory folder_ = TemporaryDirectory::create().value();
};

void expectSameRows(const llo::HloModule& text, const llo::HloModule& proto) {
  const chips::Chip& chip = **chips::findChip("v6e");
  const Result<Step> a = costOf(text, chip), b = costOf(proto, chip);
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a->rows.size(), b->rows.size());
  ASSERT_GT(a->rows.size(), 0u);
  for (size_t i = 0; i < a->rows.size(); ++i) {
    const Row &x = a->rows[i], &y = b->rows[i];
    EXPECT_EQ(x.op, y.op);
    EXPECT_EQ(x.kind, y.kind) << x.op;
    EXPECT_EQ(x.place, y.place) << x.op;
    EXPECT_EQ(x.count, y.count) << x.op;
    EXPECT_EQ(x.us, y.us) << x.op;
    EXPECT_EQ(x.hbm_bytes, y.hbm_bytes) << x.op;
    EXPECT_EQ(x.flops, y.flops) << x.op;
    EXPECT_EQ(x.flags, y.flags) << x.op;
    EXPECT_EQ(x.source, y.source) << x.op;
    EXPECT_EQ(x.shape, y.shape) << x.op;
    EXPECT_EQ(x.needed_by, y.needed_by) << x.op;
  }
  EXPECT_EQ(a->total.us, b->total.us);
}

/// The compile's own module, and the same out of the dump.
void expectSame(const BroughtProgram& brought, const pjrt::AheadOfTimeResult& result) {
  const auto proto = llo::readHloModule(result.optimized_hlo);
  ASSERT_TRUE(proto.ok());
  EXPECT_EQ(llo::testing::difference(brought.module, *proto), "");
  expectSameRows(brought.module, *proto);
}

TEST_F(BroughtPrograms, TextSaysTheSameAsTheCompilesProto) {
  for (const char* name : {"scan_cache.mlir", "gather_top_k_sort.mlir"}) {
    fs::remove_all(dumps());
    const auto result = compiled(file(name), "v6e:1x1", false);
    const auto brought = readBrought(dumps(), "");
    ASSERT_TRUE(brought.ok()) << brought.error().text();
    EXPECT_TRUE(brought->path.ends_with(".after_codegen.txt")) << brought->path;
    EXPECT_TRUE(brought->dump.empty());
    expectSame(*brought, result);
  }
}

TEST_F(BroughtPrograms, OfFourChipsWithTheirGroups) {
  const auto result = compiled(kSharded, "v6e:2x2", false);
  const auto brought = readBrought(dumps(), "");
  ASSERT_TRUE(brought.ok()) << brought.error().text();
  expectSame(*brought, result);
  int64_t groups = 0;
  for (const llo::Computation& computation : brought->module.computations) {
    for (const llo::Instruction& at : computation.instructions) groups += at.group.empty() ? 0 : 1;
  }
  EXPECT_GE(groups, 2);
}

TEST_F(BroughtPrograms, ListingsBesideItMakeAProgram) {
  const auto result = compiled(file("mlp_softmax.mlir"), "v6e:1x1", true);
  EXPECT_TRUE(looksBrought(dumps()));
  auto both = readBrought(dumps(), "");
  ASSERT_TRUE(both.ok()) << both.error().text();
  EXPECT_TRUE(both->path.ends_with(".after_codegen.txt")) << both->path;
  EXPECT_GT(both->dump.size(), 4u);
  expectSame(*both, result);
  auto alone = readBrought(dumps() + "/llo", "");
  ASSERT_TRUE(alone.ok()) << alone.error().text();
  EXPECT_TRUE(alone->path.ends_with("-TLP-hlo.txt")) << "libtpu writes the module beside its listings";
  EXPECT_EQ(alone->dump, both->dump);
  // It was written before code generation: the same operations, without the compiler's estimates of them.
  const auto proto = llo::readHloModule(result.optimized_hlo);
  ASSERT_TRUE(proto.ok());
  llo::HloModule bare = *proto;
  for (llo::HloModule* module : {&bare, &alone->module}) {
    for (llo::Computation& computation : module->computations) {
      for (llo::Instruction& at : computation.instructions) at.backend_config.clear();
    }
  }
  EXPECT_EQ(llo::testing::difference(alone->module, bare), "");
  EXPECT_TRUE(alone->notes.at(0).starts_with("the module has no estimates of cycles")) << alone->notes[0];
  const auto program = llo::readProgram(alone->dump, std::move(alone->module), {.chip = "v6e"});
  ASSERT_TRUE(program.ok()) << program.error().text();
  EXPECT_GT(program->traced.size(), 0u);
  for (const llo::TracedOp& op : program->traced) EXPECT_GE(op.instruction, 0) << op.name;
}

}  // namespace
}  // namespace sublane::report
