#include "findings/edit.h"

#include <gtest/gtest.h>

namespace sublane::findings {
namespace {

const std::string kText = R"(#loc = loc("f.py":3:0)
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<8x128xbf16> loc("cache, not (the) old"), %arg1: tensor<1x128xbf16> {mhlo.layout_mode = "default"} loc("row"), %arg2: tensor<8x128xbf16> {tf.aliasing_output = 2 : i32}) -> (tensor<8x128xbf16> {jax.result_info = "result[0], {-> x}"}, tensor<f32>, tensor<8x128xbf16>) {
    %0:2 = stablehlo.while(%a = %arg0, %b = %arg1) : tensor<8x128xbf16>, tensor<1x128xbf16>
    cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      stablehlo.return %a, %b : tensor<8x128xbf16>, tensor<1x128xbf16>
    }
    %1 = stablehlo.constant dense<0.0> : tensor<f32>
    return %0#0, %1, %arg2 : tensor<8x128xbf16>, tensor<f32>, tensor<8x128xbf16> loc(#loc)
  } loc(#loc)
}
)";

std::string lineWith(const std::string& text, const std::string& part) {
  const size_t at = text.find(part);
  if (at == std::string::npos) return "";
  const size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

std::string errorOf(const Edit& edit, const std::string& text = kText) {
  const Result<std::string> cured = applied(edit, text);
  EXPECT_FALSE(cured.ok());
  return cured.ok() ? "" : cured.error().text();
}

TEST(Edit, GivesAnArgumentsBufferToAResult) {
  const auto cured = applied({.kind = EditKind::kDonate, .argument = 0, .output = 0}, kText);
  ASSERT_TRUE(cured.ok()) << cured.error().text();
  EXPECT_NE(
      cured->find(
          R"(%arg0: tensor<8x128xbf16> {tf.aliasing_output = 0 : i32} loc("cache, not (the) old"), %arg1)"),
      std::string::npos)
      << lineWith(*cured, "@main");
  EXPECT_EQ(cured->size(), kText.size() + std::string(" {tf.aliasing_output = 0 : i32}").size());
}

TEST(Edit, DonatesNoBufferTwiceAndNoneOfAnotherType) {
  EXPECT_NE(
      errorOf({.kind = EditKind::kDonate, .argument = 2, .output = 0}).find("given to result 2 already"),
      std::string::npos);
  EXPECT_NE(
      errorOf({.kind = EditKind::kDonate, .argument = 0, .output = 2}).find("buffer of argument 2 already"),
      std::string::npos);
  EXPECT_NE(errorOf({.kind = EditKind::kDonate, .argument = 1, .output = 0}).find("tensor<1x128xbf16>"),
            std::string::npos);
  EXPECT_NE(errorOf({.kind = EditKind::kDonate, .argument = 3, .output = 0})
                .find("argument 3 of a main function with 3"),
            std::string::npos);
}

TEST(Edit, LaysAnArgumentOut) {
  const auto cured =
      applied({.kind = EditKind::kArgumentLayout, .argument = 1, .minor_to_major = {0, 1}}, kText);
  ASSERT_TRUE(cured.ok()) << cured.error().text();
  EXPECT_NE(cured->find(R"(%arg1: tensor<1x128xbf16> {mhlo.layout_mode = "{0,1}"} loc("row"))"),
            std::string::npos)
      << lineWith(*cured, "@main");
  EXPECT_NE(
      errorOf({.kind = EditKind::kArgumentLayout, .argument = 1, .minor_to_major = {0}}).find("2 dimensions"),
      std::string::npos);
  EXPECT_NE(errorOf({.kind = EditKind::kArgumentLayout, .argument = 1, .minor_to_major = {1, 1}})
                .find("dimension 0 once"),
            std::string::npos);
}

TEST(Edit, LaysAnArgumentAndItsResultOut) {
  const auto both = applied(
      {.kind = EditKind::kArgumentLayout, .argument = 0, .output = 2, .minor_to_major = {0, 1}}, kText);
  ASSERT_TRUE(both.ok()) << both.error().text();
  const std::string main = lineWith(*both, "@main");
  EXPECT_NE(main.find(R"(tensor<f32>, tensor<8x128xbf16> {mhlo.layout_mode = "{0,1}"}) {)"),
            std::string::npos)
      << main;
  EXPECT_NE(main.find(R"(%arg0: tensor<8x128xbf16> {mhlo.layout_mode = "{0,1}"} loc()"), std::string::npos)
      << main;
}

TEST(Edit, DropsAResultAndMovesTheAliasesOfThoseAfterIt) {
  const auto cured = applied({.kind = EditKind::kDropOutput, .output = 1}, kText);
  ASSERT_TRUE(cured.ok()) << cured.error().text();
  EXPECT_NE(
      lineWith(*cured, "@main")
          .find(
              R"(%arg2: tensor<8x128xbf16> {tf.aliasing_output = 1 : i32}) -> (tensor<8x128xbf16> {jax.result_info = "result[0], {-> x}"}, tensor<8x128xbf16>) {)"),
      std::string::npos)
      << lineWith(*cured, "@main");
  EXPECT_EQ(lineWith(*cured, "return %0#0"),
            "    return %0#0, %arg2 : tensor<8x128xbf16>, tensor<8x128xbf16> loc(#loc)");
  EXPECT_NE(cured->find("      stablehlo.return %a, %b : tensor<8x128xbf16>, tensor<1x128xbf16>"),
            std::string::npos);
}

TEST(Edit, ADroppedResultsArgumentIsGivenToNone) {
  const auto cured = applied({.kind = EditKind::kDropOutput, .output = 2}, kText);
  ASSERT_TRUE(cured.ok()) << cured.error().text();
  EXPECT_EQ(cured->find("tf.aliasing_output"), std::string::npos) << lineWith(*cured, "@main");
}

TEST(Edit, OneResultWithoutAListOfResults) {
  const std::string one =
      "module { func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> attributes {x = {}} {\n return %a : "
      "tensor<2xf32>\n} }";
  const auto cured = applied({.kind = EditKind::kDonate, .argument = 0, .output = 0}, one);
  ASSERT_TRUE(cured.ok()) << cured.error().text();
  EXPECT_NE(cured->find("(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> attributes"),
            std::string::npos)
      << *cured;
  EXPECT_NE(errorOf({.kind = EditKind::kDropOutput, .output = 0}, one).find("the only one"),
            std::string::npos);
}

TEST(Edit, SaysWhatIsWrongWithTheText) {
  const Edit edit{.kind = EditKind::kDonate, .argument = 0, .output = 0};
  EXPECT_NE(errorOf(edit, "").find("is missing"), std::string::npos);
  EXPECT_NE(errorOf(edit, "func.func @main(%a: tensor<2xf32>").find("main function"), std::string::npos);
  EXPECT_NE(errorOf(edit, "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n}").find("returns nothing"),
            std::string::npos);
  EXPECT_NE(errorOf({.kind = EditKind::kModelOption, .option = "layers", .value = "unrolled"})
                .find("--layers unrolled"),
            std::string::npos);
}

TEST(Edit, AnyTextThatIsCutOffIsAnErrorOrAText) {
  for (size_t size = 0; size < kText.size(); size += 7)
    for (const EditKind kind : {EditKind::kDonate, EditKind::kArgumentLayout, EditKind::kDropOutput})
      (void)applied({.kind = kind, .argument = 0, .output = 0, .minor_to_major = {0, 1}},
                    kText.substr(0, size));
}

}  // namespace
}  // namespace sublane::findings
