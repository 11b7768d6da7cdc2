#include "report/place.h"

#include "modules.h"

namespace sublane::report {
namespace {

TEST(PlaceOfName, OurOwnNames) {
  EXPECT_EQ(placeOfName("layer.3/attention.qkv/dot"), (RowPlace{3, "attention.qkv"}));
  EXPECT_EQ(placeOfName("layer.3/attention.qkv"), (RowPlace{3, "attention.qkv"}));
  EXPECT_EQ(placeOfName("layer.*/mlp.up/dot.lhs"), (RowPlace{RowPlace::kEvery, "mlp.up"}));
  EXPECT_EQ(placeOfName("head/dot"), (RowPlace{RowPlace::kNone, "head"}));
}

TEST(PlaceOfName, NamesOfJax) {
  EXPECT_EQ(placeOfName("jit(f)/layer.0/mlp.up/jit(silu)/mul"), (RowPlace{0, "mlp.up"}));
  EXPECT_EQ(placeOfName("jit(f)/while/body/closed_call/blocks_7/attn/dot_general"), (RowPlace{7, "attn"}));
  EXPECT_EQ(placeOfName("jit(f)/decoder/mlp/dot_general"), (RowPlace{RowPlace::kNone, "decoder/mlp"}));
  EXPECT_EQ(placeOfName("jit(f)/tanh"), (RowPlace{RowPlace::kNone, "tanh"}));
}

TEST(PlaceOfName, MechanismsAndArgumentsAreNoPlaces) {
  for (const char* name :
       {"", "weights", "layer.3.attention.q.weight", "jit(f)/while", "jit(f)/while/body"}) {
    EXPECT_EQ(placeOfName(name), RowPlace{}) << name;
  }
}

TEST(PlaceOfName, ALayerMustBeANumber) {
  EXPECT_EQ(placeOfName("layer.x/dot"), (RowPlace{RowPlace::kNone, "layer.x"}));
  EXPECT_EQ(placeOfName("layer.99999999999/dot"), (RowPlace{RowPlace::kNone, "layer.99999999999"}));
}

TEST(Places, ACopyTakesThePlaceOfWhatUsesIt) {
  const std::string start = tuple({bf16({8, 128}, kTiledVmem), bf16({8, 128}, kTiled), shape(8, {})});
  HloWriter hlo;
  const auto entry =
      hlo.computation("main",
                      {parameter(1, "w", bf16({8, 128}, kTiled), 0, opName("layer.1.mlp.weight")),
                       instruction(2, "s", "copy-start", start, {1}),
                       instruction(3, "d", "copy-done", bf16({8, 128}, kTiledVmem), {2}),
                       instruction(4, "n", "negate", bf16({8, 128}), {3}, opName("layer.1/mlp.up/negate"))},
                      4);
  const llo::HloModule module = read(hlo.module(entry));
  EXPECT_EQ(Places(module).of(0, 1), (RowPlace{1, "mlp.up"}));
}

TEST(Places, AResultWithoutUsersTakesThePlaceOfItsOperand) {
  HloWriter hlo;
  const auto entry =
      hlo.computation("main",
                      {parameter(1, "x", f32({8, 128}), 0),
                       instruction(2, "n", "negate", f32({8, 128}), {1}, opName("head/negate")),
                       instruction(3, "c", "copy", f32({8, 128}), {2})},
                      3);
  const llo::HloModule module = read(hlo.module(entry));
  EXPECT_EQ(Places(module).of(0, 2), (RowPlace{RowPlace::kNone, "head"}));
}

TEST(Places, AFusionTakesThePlaceOfItsMatrixProduct) {
  HloWriter hlo;
  const auto fused = hlo.computation(
      "fused",
      {parameter(1, "x", f32({8, 8}), 0),
       instruction(2, "dot", "dot", f32({8, 8}), {1, 1}, opName("layer.2/mlp.down/dot")),
       instruction(3, "add", "add", f32({8, 8}), {2, 1}, opName("layer.3/attention.norm/add"))},
      3, true);
  const auto entry = hlo.computation("main",
                                     {parameter(11, "x", f32({8, 8}), 0),
                                      instruction(12, "f", "fusion", f32({8, 8}), {11},
                                                  calls({fused}) + opName("layer.3/attention.norm/add"))},
                                     12);
  const llo::HloModule module = read(hlo.module(entry));
  EXPECT_EQ(Places(module).of(1, 1), (RowPlace{2, "mlp.down"}));
}

TEST(Places, ALoopPassesPlacesInAndOut) {
  const std::string state = tuple({f32({8, 128})});
  HloWriter hlo;
  const auto body =
      hlo.computation("body",
                      {parameter(1, "s", state, 0), element(2, f32({8, 128}), 1, 0),
                       instruction(3, "n", "negate", f32({8, 128}), {2}, opName("layer.*/mlp.up/negate")),
                       instruction(4, "t", "tuple", state, {3})},
                      4);
  const auto condition = hlo.computation(
      "condition", {parameter(11, "s", state, 0), instruction(12, "p", "constant", pred())}, 12);
  const auto entry = hlo.computation(
      "main",
      {parameter(21, "x", f32({8, 128}), 0), instruction(22, "before", "copy", f32({8, 128}), {21}),
       instruction(23, "t", "tuple", state, {22}),
       instruction(24, "w", "while", state, {23}, calls({body, condition}) + opName("jit(f)/while")),
       element(25, f32({8, 128}), 24, 0), instruction(26, "after", "copy", f32({8, 128}), {25})},
      26);
  const llo::HloModule module = read(hlo.module(entry));
  const Places places(module);
  EXPECT_EQ(places.of(2, 1), (RowPlace{RowPlace::kEvery, "mlp.up"}));
  EXPECT_EQ(places.of(2, 5), (RowPlace{RowPlace::kEvery, "mlp.up"}));
}

}  // namespace
}  // namespace sublane::report
