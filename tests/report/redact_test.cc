// What --redact leaves: every text of a report is filled with a name that must not survive in any view.
#include "report/redact.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "modules.h"
#include "report/diff.h"

namespace sublane::report {
namespace {

/// "Zebra": in no word of ours.
std::string secret(const std::string& what) { return "Zebra" + what; }

Row secretRow(int32_t layer) {
  Row row;
  row.place = {.layer = layer, .part = secret("Part.") + secret("Inner")};
  row.kind = "matmul";
  row.op = secret("Fusion.") + std::to_string(layer);
  row.kernel = secret("Kernel");
  row.source = "/home/" + secret("User") + "/" + secret("file") + ".py:42";
  row.us = 10 + layer;
  row.cycles = 10 + layer;
  row.shape = "bf16[8,128]";
  return row;
}

Simulation secretSimulation() {
  Simulation made{.subject = secret("Model.mlir"), .detail = secret("Detail"), .chip = &v6e()};
  made.compiler = "libtpu 0.0.52 (TFRT)";
  made.model_hash = "abcdef0123456789";
  made.clock_hz = 1e6;
  made.flags = {"xla_number = 65536", "xla_path = /" + secret("Flag")};
  made.assumptions = {secret("Assumption")};
  SimulatedStep step{
      .name = secret("Step.mlir"), .bucket = "8 sequences", .fingerprint = secret("Fingerprint")};
  step.reason = secret("Reason");
  step.hint = secret("Hint");
  step.notes = {secret("Note")};
  step.unknown_class = "kernel " + secret("Kernel");
  for (int32_t layer = 0; layer < 3; ++layer) {
    step.rows.push_back({.row = secretRow(layer)});
    step.us += step.rows.back().row.us;
  }
  OutputValue output{.number = 0, .shape = "f32[4]", .sha256 = secret("Hash"), .greatest = 271828.5};
  output.compared = true;
  output.difference = secret("Difference");
  step.outputs = {output};
  made.steps = {step};
  return made;
}

bool hasSecret(const std::string& text) {
  return text.find("Zebra") != std::string::npos || text.find("home") != std::string::npos ||
         text.find("5a65627261") != std::string::npos;  // the fingerprint, as hexadecimal digits
}

TEST(Redact, NothingOfASimulationIsLeftInAnyView) {
  for (const Rung rung : {Rung::kBundles, Rung::kCompiler}) {
    Simulation made = secretSimulation();
    made.steps[0].rung = rung;
    ASSERT_TRUE(hasSecret(toText(made, {})) && hasSecret(toJson(made)));
    Pseudonyms names;
    redact(made, names);
    for (const std::string& view : {toText(made, {.top = 0}), toJson(made)}) {
      EXPECT_FALSE(hasSecret(view)) << view;
      EXPECT_EQ(view.find("271828"), std::string::npos) << "a result of the program";
    }
    const std::string json = toJson(made);
    for (const char* kept :
         {"\"kind\": \"matmul\"", "libtpu 0.0.52", "xla_number = 65536", "\"source\": \"file-1:42\"",
          "\"part\": \"part-1.part-2\"", "\"op\": \"op-3\"", "\"chip\": \"v6e\"", "8 sequences"})
      EXPECT_NE(json.find(kept), std::string::npos) << kept << "\n" << json;
  }
}

TEST(Redact, BothSidesOfADifferenceStillMatch) {
  Simulation before = secretSimulation(), after = secretSimulation();
  after.steps[0].rows[1].row.us += 5;
  after.steps[0].us += 5;
  after.detail = secret("Other");
  const Difference open = differenceOf(before, after).value();
  Pseudonyms names;
  redact(before, names);
  redact(after, names);
  const Difference closed = differenceOf(before, after).value();
  for (const std::string& view : {toText(closed, {.top = 0}), toJson(closed)})
    EXPECT_FALSE(hasSecret(view)) << view;
  ASSERT_EQ(closed.steps[0].lines.size(), open.steps[0].lines.size());
  EXPECT_EQ(closed.steps[0].lines[0].place, "part-1.part-2");
  EXPECT_DOUBLE_EQ(closed.steps[0].lines[0].changeUs(), open.steps[0].lines[0].changeUs());
}

TEST(Redact, OneNameHasOnePseudonym) {
  Pseudonyms names;
  EXPECT_EQ(names.of("op", "b"), "op-1");
  EXPECT_EQ(names.of("op", "a"), "op-2");
  EXPECT_EQ(names.of("op", "b"), "op-1");
  EXPECT_EQ(names.of("file", "b"), "file-1");
  EXPECT_EQ(names.of("op", ""), "");
  EXPECT_EQ(names.ofPath("mlp.up"), "part-1.part-2");
  EXPECT_EQ(names.ofPath("mlp.down/up"), "part-1.part-3/part-2");
  EXPECT_EQ(names.ofSource("model.py:42"), "file-2:42");
  EXPECT_EQ(names.ofSource("model.py"), "file-2");
}

}  // namespace
}  // namespace sublane::report
