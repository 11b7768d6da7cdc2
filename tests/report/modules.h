// Modules for the tests of report: written by hand, read back as the compiler's would be.
#pragma once

#include <gtest/gtest.h>

#include "../llo/hlo_writer.h"
#include "chips/chips.h"
#include "llo/llo.h"
#include "report/cost.h"

namespace sublane::report {

using namespace llo::testing;  // NOLINT: the encoder

inline const chips::Chip& v6e() { return **chips::findChip("v6e"); }

inline llo::HloModule read(const std::string& bytes) {
  auto module = llo::readHloModule(bytes);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().text());
  return module.ok() ? std::move(*module) : llo::HloModule{};
}

inline Step stepOf(const std::string& bytes) {
  const llo::HloModule module = read(bytes);
  auto step = costOf(module, v6e());
  EXPECT_TRUE(step.ok()) << (step.ok() ? "" : step.error().text());
  return step.ok() ? std::move(*step) : Step{};
}

const inline LayoutSpec kTiled{{1, 0}, {{8, 128}, {2, 1}}, 0};
const inline LayoutSpec kTiledVmem{{1, 0}, {{8, 128}, {2, 1}}, 1};

inline std::string estimate(int64_t cycles) {
  return config(R"({"window_config": {"estimated_cycles": ")" + std::to_string(cycles) + "\"}}");
}

}  // namespace sublane::report
