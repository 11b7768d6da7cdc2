#include <algorithm>

#include "base/check.h"
#include "sim/decode_function.h"

namespace sublane::sim {
namespace {

bool reads(const Step& step, int32_t reg) {
  return std::find(step.reads.begin(), step.reads.end(), reg) != step.reads.end();
}

/// Whether `step` overwrites something that `other` still has to read.
bool spoils(const Step& step, const Step& other) {
  return (step.writes_register && reads(other, step.micro.dst)) || (step.stores && other.loads) ||
         (step.writes_flags && other.reads_flags);
}

bool free(const std::vector<Step>& steps, size_t i) {
  for (size_t j = 0; j < steps.size(); ++j) {
    if (j != i && spoils(steps[i], steps[j])) return false;
  }
  return true;
}

MicroOp move(int32_t dst, int32_t from) { return {.op = Do::kMove, .dst = dst, .a = from, .b = from}; }

}  // namespace

std::vector<MicroOp> inOrder(std::vector<Step> steps) {
  std::vector<MicroOp> order, last;
  int32_t temporary = kTemporaries;
  while (!steps.empty()) {
    size_t i = 0;
    while (i < steps.size() && !free(steps, i)) ++i;
    if (i == steps.size()) {
      // Around in a circle (s0 = s2; s2 = s0): the first result waits in a temporary.
      i = 0;
      while (i < steps.size() && !steps[i].writes_register) ++i;
      SUBLANE_CHECK(i < steps.size() && temporary < kConstants, "a bundle of {} operations has no order",
                    steps.size());
      const int32_t dst = steps[i].micro.dst;
      if (steps[i].micro.predicate != kAlways) order.push_back(move(temporary, dst));
      last.push_back(move(dst, temporary));
      steps[i].micro.dst = temporary++;
      continue;
    }
    order.push_back(steps[i].micro);
    steps.erase(steps.begin() + static_cast<ptrdiff_t>(i));
  }
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

}  // namespace sublane::sim
