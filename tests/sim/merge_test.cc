// The fast machine merges bundles into segments; here a slow one executes the same programs one bundle a
// segment, and both must agree in every number.
#include <gtest/gtest.h>

#include "random_program.h"
#include "sim/decode.h"
#include "sim/machine.h"

namespace sublane::sim {
namespace {

struct Told {
  Run run;
  std::vector<int64_t> by_cause;  // of events
  uint32_t s5 = 0;
};

Told execute(const llo::Program& program, bool merge, DmaTiming dma, std::vector<Without> without) {
  const ChipModel model = *chipModel("v6e");
  const Placement placement = *place(program, model);
  const Result<Code> code = decode(
      program, placement,
      {.delay_slots = model.branch_delay_slots, .slots = slotsOf(model), .without = without, .merge = merge});
  EXPECT_TRUE(code.ok()) << code.error().text();
  Told told{.by_cause = std::vector<int64_t>(events::kCauseCount, 0)};
  Machine machine(program, placement, *code,
                  {.timing = *memoryTiming(model, dma, without),
                   .most_bundles = 1 << 20,
                   .sink =
                       [&](const events::Event& event) {
                         told.by_cause[static_cast<size_t>(event.cause)] += event.duration;
                       }},
                  nullptr);
  machine.prepare({});
  const Status status = machine.run();
  EXPECT_TRUE(status.ok()) << status.error().text();
  told.run = machine.takeRun();
  return told;
}

TEST(Merging, ChangesNoNumber) {
  int64_t bundles = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const llo::Program program = randomProgram(seed);
    const std::vector<Without> without =
        seed % 3 ? std::vector<Without>{} : std::vector<Without>{Without::kDependencies, Without::kLaunch};
    const DmaTiming dma = seed % 2 ? DmaTiming::kShared : DmaTiming::kCompiler;
    const Told fast = execute(program, true, dma, without), slow = execute(program, false, dma, without);
    EXPECT_EQ(fast.run.cycles, slow.run.cycles) << seed;
    EXPECT_EQ(fast.run.bundles, slow.run.bundles) << seed;
    EXPECT_EQ(fast.run.causes, slow.run.causes) << seed;
    EXPECT_EQ(fast.by_cause, slow.by_cause) << seed;
    ASSERT_EQ(fast.run.ops.size(), slow.run.ops.size());
    for (size_t i = 0; i < fast.run.ops.size(); ++i) {
      EXPECT_EQ(fast.run.ops[i].causes, slow.run.ops[i].causes) << seed;
      EXPECT_EQ(fast.run.ops[i].executions, slow.run.ops[i].executions) << seed;
    }
    EXPECT_EQ(events::total(fast.run.causes), fast.run.cycles) << seed;
    bundles += fast.run.bundles;
  }
  EXPECT_GT(bundles, 10000);
}

}  // namespace
}  // namespace sublane::sim
