// The client on each of the three CPU plugins (PJRT API 0.81, 0.106 and 0.115).
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "pjrt/pjrt.h"
#include "pjrt/worker.h"

namespace sublane::pjrt {
namespace {

using formats::DType;
using graph::Type;

constexpr const char* kAdd = R"(module @add {
  func.func public @main(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
    %0 = stablehlo.add %x, %y : tensor<16xf32>
    return %0 : tensor<16xf32>
  }
})";

constexpr const char* kUpdate = R"(module @update {
  func.func public @main(%row: tensor<1x256xf32>, %cache: tensor<64x256xf32> {tf.aliasing_output = 1 : i32},
                         %at: tensor<i32>) -> (tensor<i32>, tensor<64x256xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %at, %one : tensor<i32>
    %new = stablehlo.dynamic_update_slice %cache, %row, %at, %zero
        : (tensor<64x256xf32>, tensor<1x256xf32>, tensor<i32>, tensor<i32>) -> tensor<64x256xf32>
    return %next, %new : tensor<i32>, tensor<64x256xf32>
  }
})";

template <class T>
std::span<const std::byte> bytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <class T>
std::vector<T> read(const Buffer& buffer, size_t count) {
  std::vector<T> values(count);
  Status status = buffer.toHost(std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(status.ok()) << status.error().text();
  return values;
}

class CpuPlugin : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Result<std::string> path = pluginPath(GetParam());
    ASSERT_TRUE(path.ok()) << path.error().text();
    Result<Plugin> plugin = Plugin::load(*path);
    ASSERT_TRUE(plugin.ok()) << plugin.error().text();
    minor_ = plugin->minor();
    Result<Client> client = Client::create(*plugin, {{"cpu_device_count", int64_t{1}}});
    ASSERT_TRUE(client.ok()) << client.error().text();
    client_.emplace(std::move(*client));
  }
  Executable compile(const char* text) {
    Result<Executable> program = client_->compile(text, {});
    EXPECT_TRUE(program.ok()) << program.error().text();
    return std::move(*program);
  }
  template <class T>
  Buffer toDevice(DType dtype, graph::Shape shape, const std::vector<T>& values) {
    Result<Buffer> buffer = client_->toDevice({dtype, std::move(shape)}, bytesOf(values));
    EXPECT_TRUE(buffer.ok()) << buffer.error().text();
    return std::move(*buffer);
  }
  int minor_ = 0;
  std::optional<Client> client_;
};

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST_P(CpuPlugin, SaysWhatItIs) {
  EXPECT_EQ(client_->platformName(), "cpu");
  EXPECT_EQ(client_->deviceCount(), 1);
  EXPECT_FALSE(client_->platformVersion().empty());
}

TEST_P(CpuPlugin, Adds) {
  Executable program = compile(kAdd);
  EXPECT_EQ(program.outputCount(), 1);
  Buffer x = toDevice(DType::kF32, {16}, ramp(16));
  for (int round = 0; round < 3; ++round) {  // arguments that are not donated stay
    Buffer* arguments[] = {&x, &x};
    Result<std::vector<Buffer>> results = program.execute(arguments);
    ASSERT_TRUE(results.ok()) << results.error().text();
    ASSERT_EQ(results->size(), 1u);
    const std::vector<float> sum = read<float>((*results)[0], 16);
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(sum[i], 2.0f * static_cast<float>(i));
  }
}

TEST_P(CpuPlugin, ArgumentsMayBeFreedAfterExecute) {
  Executable program = compile(kAdd);
  std::vector<Buffer> kept;
  for (int round = 0; round < 50; ++round) {
    Buffer x = toDevice(DType::kF32, {16}, std::vector<float>(16, static_cast<float>(round)));
    Buffer y = toDevice(DType::kF32, {16}, ramp(16));
    Buffer* arguments[] = {&x, &y};
    Result<std::vector<Buffer>> results = program.execute(arguments);
    ASSERT_TRUE(results.ok());
    kept.push_back(std::move((*results)[0]));
  }
  for (size_t round = 0; round < kept.size(); ++round) {
    EXPECT_EQ(read<float>(kept[round], 16)[5], static_cast<float>(round) + 5);
  }
}

TEST_P(CpuPlugin, DonatedBufferIsUpdatedInPlace) {
  Executable program = compile(kUpdate);
  Buffer row = toDevice(DType::kF32, {1, 256}, std::vector<float>(256, 7.0f));
  Buffer cache = toDevice(DType::kF32, {64, 256}, ramp(64 * 256));
  Buffer at = toDevice(DType::kI32, {}, std::vector<int32_t>{3});
  for (int round = 0; round < 4; ++round) {
    const Result<uintptr_t> before = cache.address();
    ASSERT_TRUE(before.ok()) << before.error().text();
    Buffer* arguments[] = {&row, &cache, &at};
    Result<std::vector<Buffer>> results = program.execute(arguments);
    ASSERT_TRUE(results.ok()) << results.error().text();
    EXPECT_EQ(cache.impl, nullptr) << "donated";
    EXPECT_NE(row.impl, nullptr);
    EXPECT_NE(at.impl, nullptr);
    at = std::move((*results)[0]);
    cache = std::move((*results)[1]);
    EXPECT_EQ(*cache.address(), *before) << "updated in place";
  }
  EXPECT_EQ(read<int32_t>(at, 1)[0], 7);
  const std::vector<float> values = read<float>(cache, 64 * 256);
  EXPECT_EQ(values[2 * 256], 2 * 256.0f);
  for (size_t i = 3; i < 7; ++i) EXPECT_EQ(values[i * 256 + 255], 7.0f);
  EXPECT_EQ(values[7 * 256], 7 * 256.0f);
}

TEST_P(CpuPlugin, EmptyBufferIsNamed) {
  Executable program = compile(kUpdate);
  Buffer row = toDevice(DType::kF32, {1, 256}, std::vector<float>(256, 7.0f));
  Buffer cache = toDevice(DType::kF32, {64, 256}, ramp(64 * 256));
  Buffer at = toDevice(DType::kI32, {}, std::vector<int32_t>{3});
  Buffer* arguments[] = {&row, &cache, &at};
  ASSERT_TRUE(program.execute(arguments).ok());
  Result<std::vector<Buffer>> again = program.execute(arguments);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message(),
            "pjrt: argument 1 of 3 is empty: it was donated to an earlier run, or never filled");
  EXPECT_EQ(cache.address().error().message(),
            "pjrt: cannot take the address of an empty buffer: it was donated to a program, moved from, or "
            "never filled");
}

TEST_P(CpuPlugin, WrongArgumentCountIsAnError) {
  Executable program = compile(kAdd);
  Buffer x = toDevice(DType::kF32, {16}, ramp(16));
  Buffer* one[] = {&x};
  Result<std::vector<Buffer>> results = program.execute(one);
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.error().fault(), Fault::kInput);
  EXPECT_NE(results.error().message().find("supplied 1"), std::string::npos) << results.error().message();
  EXPECT_NE(results.error().message().find("expected 2"), std::string::npos) << results.error().message();
  Buffer* two[] = {&x, &x};
  EXPECT_TRUE(program.execute(two).ok()) << "a refused run must not harm the next";
}

TEST_P(CpuPlugin, WrongShapeIsAnError) {
  Executable program = compile(kAdd);
  Buffer x = toDevice(DType::kF32, {16}, ramp(16));
  Buffer small = toDevice(DType::kF32, {8}, ramp(8));
  Buffer* arguments[] = {&x, &small};
  Result<std::vector<Buffer>> results = program.execute(arguments);
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.error().fault(), Fault::kInput);
}

TEST_P(CpuPlugin, BadStablehloIsTheInputsFault) {
  Result<Executable> program = client_->compile("module { func.func @main() { stablehlo.nonsense } }", {});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().fault(), Fault::kInput) << program.error().message();
  EXPECT_FALSE(client_->compile("", {}).ok());
}

TEST_P(CpuPlugin, UnknownOverrideIsAnError) {
  Result<Executable> program = client_->compile(kAdd, {.overrides = {{"xla_no_such_flag", true}}});
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.error().message().find("xla_no_such_flag"), std::string::npos)
      << program.error().message();
}

TEST_P(CpuPlugin, SerializedProgramRunsAndStillDonates) {
  Result<std::string> bytes = compile(kUpdate).serialize();
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  Result<Executable> program = client_->deserialize(*bytes);
  ASSERT_TRUE(program.ok()) << program.error().text();
  EXPECT_EQ(program->outputCount(), 2);
  Buffer row = toDevice(DType::kF32, {1, 256}, std::vector<float>(256, 7.0f));
  Buffer cache = toDevice(DType::kF32, {64, 256}, ramp(64 * 256));
  Buffer at = toDevice(DType::kI32, {}, std::vector<int32_t>{3});
  Buffer* arguments[] = {&row, &cache, &at};
  Result<std::vector<Buffer>> results = program->execute(arguments);
  ASSERT_TRUE(results.ok()) << results.error().text();
  EXPECT_EQ(cache.impl, nullptr);
  EXPECT_EQ(read<int32_t>((*results)[0], 1)[0], 4);
  EXPECT_FALSE(client_->deserialize("not an executable").ok());
}

TEST_P(CpuPlugin, SizesThatDisagreeAreNamed) {
  const std::vector<float> values = ramp(16);
  Result<Buffer> wrong = client_->toDevice({DType::kF32, {4, 5}}, bytesOf(values));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message(), "pjrt: f32[4,5] takes 80 bytes, got 64");
  Buffer x = toDevice(DType::kF32, {16}, values);
  std::vector<std::byte> out(60);
  EXPECT_EQ(x.toHost(out).error().message(), "pjrt: the buffer holds 64 bytes, the destination 60");
}

TEST_P(CpuPlugin, EveryDtypeGoesThereAndBack) {
  std::vector<std::byte> bytes(64);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 2);
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kU32, DType::kI8,
                      DType::kU8, DType::kI64, DType::kBool}) {
    const Type type{dtype, {2, 32 / formats::bytesPerElement(dtype)}};
    Result<Buffer> buffer = client_->toDevice(type, bytes);
    ASSERT_TRUE(buffer.ok()) << formats::name(dtype) << ": " << buffer.error().text();
    EXPECT_EQ(read<std::byte>(*buffer, 64), bytes) << formats::name(dtype);
  }
  Result<Buffer> empty = client_->toDevice({DType::kF32, {0, 4}}, {});
  ASSERT_TRUE(empty.ok()) << empty.error().text();
  EXPECT_TRUE(empty->toHost({}).ok());
}

struct Watched {
  explicit Watched(size_t floats) : bytes(static_cast<float*>(std::aligned_alloc(64, floats * 4))) {}
  ~Watched() { std::free(bytes); }
  float* bytes;
};

TEST_P(CpuPlugin, HostViewSharesMemoryAndKeepsItsOwner) {
  auto owner = std::make_shared<Watched>(16);
  std::iota(owner->bytes, owner->bytes + 16, 0.0f);
  const float* address = owner->bytes;
  std::weak_ptr<Watched> watch = owner;
  Result<Buffer> view =
      client_->viewHost({DType::kF32, {16}}, std::as_bytes(std::span(owner->bytes, 16)), owner);
  ASSERT_TRUE(view.ok()) << view.error().text();
  owner.reset();
  EXPECT_FALSE(watch.expired()) << "the buffer keeps the owner";
  EXPECT_EQ(*view->address(), reinterpret_cast<uintptr_t>(address)) << "no copy";
  Executable program = compile(kAdd);
  {
    Buffer* arguments[] = {&*view, &*view};
    Result<std::vector<Buffer>> results = program.execute(arguments);
    ASSERT_TRUE(results.ok());
    EXPECT_EQ(read<float>((*results)[0], 16)[15], 30.0f);
  }
  *view = Buffer();
  EXPECT_TRUE(watch.expired()) << "and lets it go";
}

TEST_P(CpuPlugin, DonatedHostViewIsNeverWritten) {
  auto owner = std::make_shared<Watched>(64 * 256);
  std::fill(owner->bytes, owner->bytes + 64 * 256, 1.0f);
  Result<Buffer> cache =
      client_->viewHost({DType::kF32, {64, 256}}, std::as_bytes(std::span(owner->bytes, 64 * 256)), owner);
  ASSERT_TRUE(cache.ok());
  Executable program = compile(kUpdate);
  Buffer row = toDevice(DType::kF32, {1, 256}, std::vector<float>(256, 7.0f));
  Buffer at = toDevice(DType::kI32, {}, std::vector<int32_t>{3});
  Buffer* arguments[] = {&row, &*cache, &at};
  Result<std::vector<Buffer>> results = program.execute(arguments);
  ASSERT_TRUE(results.ok()) << results.error().text();
  EXPECT_EQ(read<float>((*results)[1], 64 * 256)[3 * 256], 7.0f);
  for (size_t i = 0; i < 64 * 256; ++i) ASSERT_EQ(owner->bytes[i], 1.0f);
}

TEST_P(CpuPlugin, UnalignedHostViewIsCopied) {
  auto owner = std::make_shared<Watched>(32);
  std::iota(owner->bytes, owner->bytes + 32, 0.0f);
  Result<Buffer> copy =
      client_->viewHost({DType::kF32, {16}}, std::as_bytes(std::span(owner->bytes + 1, 16)), owner);
  ASSERT_TRUE(copy.ok());
  owner->bytes[1] = 99;
  EXPECT_EQ(read<float>(*copy, 16)[0], 1.0f);
  std::weak_ptr<Watched> watch = owner;
  owner.reset();
  EXPECT_TRUE(watch.expired());
}

INSTANTIATE_TEST_SUITE_P(Each, CpuPlugin, testing::Values("cpu", "cpu-fastatomstruct", "cpu-xla"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace sublane::pjrt
