// The cache over the real compiler.
#include <gtest/gtest.h>

#include <cstdlib>

#include "artifact/compile_cache.h"
#include "base/paths.h"

namespace sublane::artifact {
namespace {

TEST(CompileCacheWithLibtpu, SecondCompileIsTheFirstOnesBytes) {
  setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", 1);
  Result<TemporaryDirectory> folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.ok());
  CompileCacheOptions options;
  options.directory = folder->path();
  pjrt::AheadOfTimeRequest request;
  request.stablehlo = R"(module @twice {
    func.func public @main(%x: tensor<8x128xf32>) -> tensor<8x128xf32> {
      %0 = stablehlo.add %x, %x : tensor<8x128xf32>
      return %0 : tensor<8x128xf32>
    }
  })";
  request.topology = "v6e:1x1";
  request.want_executable = true;
  bool from_cache = true;
  Result<pjrt::AheadOfTimeResult> first = compileCached(request, &from_cache, options);
  ASSERT_TRUE(first.ok()) << first.error().text();
  EXPECT_FALSE(from_cache);
  Result<pjrt::AheadOfTimeResult> second = compileCached(request, &from_cache, options);
  ASSERT_TRUE(second.ok()) << second.error().text();
  EXPECT_TRUE(from_cache);
  EXPECT_TRUE(first->optimized_hlo == second->optimized_hlo);
  EXPECT_TRUE(first->executable == second->executable);
  EXPECT_EQ(first->fingerprint, second->fingerprint);
  EXPECT_EQ(first->seconds, second->seconds);
  EXPECT_EQ(first->memory->peak, second->memory->peak);
}

}  // namespace
}  // namespace sublane::artifact
