#include "report/traffic.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "report/kind.h"

namespace sublane::report {
namespace {

using llo::Computation;
using llo::HloModule;
using llo::Instruction;
using llo::Shape;

/// How much of a buffer a program of fused operations reads.
class Demand {
 public:
  Demand(const HloModule& module, const Shape& buffer) : module_(module), buffer_(buffer) {}

  /// Adds what `user` reads of the buffer through its operand number `operand`.
  void addUse(const Computation& in, int32_t user, size_t operand);
  double bytes() const {
    const auto whole = static_cast<double>(llo::paddedBytes(buffer_));
    return whole_ ? whole : std::min(whole, partial_);
  }

 private:
  void addUsesOf(const Computation& in, int32_t value);
  void addBox(const Shape& of, const std::vector<int64_t>& sizes, double times);
  const std::vector<std::pair<int32_t, size_t>>& usersOf(const Computation& in, int32_t value);
  const HloModule& module_;
  const Shape& buffer_;
  bool whole_ = false;
  double partial_ = 0;
  int depth_ = 0;
  std::set<std::pair<const Computation*, int32_t>> seen_;
  std::unordered_map<const Computation*, std::vector<std::vector<std::pair<int32_t, size_t>>>> users_;
};

/// Operations that compute an output element from the same element of their operands: a fusion that slices
/// their result needs no more of the operand than the slice.
bool isElementByElement(const Instruction& at, const Shape& operand) {
  constexpr std::array<std::string_view, 6> kOthers = {"reduce", "broadcast", "concatenate",
                                                       "pad",    "sort",      "custom-call"};
  return at.shape.dims == operand.dims && !at.shape.isTuple() && at.called.empty() &&
         std::find(kOthers.begin(), kOthers.end(), at.opcode) == kOthers.end() && !at.is("dot") &&
         !at.is("convolution");
}

const std::vector<std::pair<int32_t, size_t>>& Demand::usersOf(const Computation& in, int32_t value) {
  auto& lists = users_[&in];
  if (lists.empty()) {
    lists.resize(in.instructions.size());
    for (size_t i = 0; i < in.instructions.size(); ++i) {
      const auto& operands = in.instructions[i].operands;
      for (size_t k = 0; k < operands.size(); ++k) {
        lists[static_cast<size_t>(operands[k])].emplace_back(static_cast<int32_t>(i), k);
      }
    }
  }
  return lists[static_cast<size_t>(value)];
}

void Demand::addUsesOf(const Computation& in, int32_t value) {
  if (whole_ || !seen_.emplace(&in, value).second) return;
  if (value == in.root || ++depth_ > 200) {
    whole_ = true;
    return;
  }
  for (auto [user, operand] : usersOf(in, value)) addUse(in, user, operand);
  --depth_;
}

void Demand::addBox(const Shape& of, const std::vector<int64_t>& sizes, double times) {
  // A bitcast may have given the buffer other dimensions; its element's size stays the buffer's own.
  const double scale = static_cast<double>(std::max<int64_t>(1, llo::elementBits(buffer_))) /
                       static_cast<double>(std::max<int64_t>(1, llo::elementBits(of)));
  const bool same = of.dims == buffer_.dims;
  partial_ += times * (same ? static_cast<double>(llo::boxBytes(buffer_, sizes))
                            : scale * static_cast<double>(llo::boxBytes(of, sizes)));
}

void Demand::addUse(const Computation& in, int32_t user, size_t operand) {
  if (whole_) return;
  const Instruction& at = in.at(user);
  const Shape& of = in.at(at.operands[operand]).shape;
  if (at.is("bitcast") || at.is("reshape") || (isElementByElement(at, of) && user != in.root && depth_ > 0)) {
    return addUsesOf(in, user);
  }
  if ((at.is("dynamic-slice") || at.is("slice")) && operand == 0) return addBox(of, at.shape.dims, 1);
  if (at.is("gather") && operand == 0 && at.slice_sizes.size() == of.dims.size()) {
    double slice = 1;
    for (int64_t size : at.slice_sizes) slice *= static_cast<double>(std::max<int64_t>(1, size));
    return addBox(of, at.slice_sizes, static_cast<double>(llo::elementCount(at.shape)) / slice);
  }
  if ((at.is("dynamic-update-slice") || at.is("scatter")) && operand == 0) return;  // in place: see writes
  if ((at.is("fusion") || at.is("async-start")) && at.called.size() == 1) {
    const Computation& called = module_.at(at.called[0]);
    const int32_t parameter = called.parameter(static_cast<int64_t>(operand));
    if (parameter >= 0) return addUsesOf(called, parameter);
  }
  whole_ = true;
}

/// Bytes that change when `value` of a fused computation is written to a buffer of shape `buffer` in HBM, and
/// those that must be read first because a piece is smaller than what the memory writes at once.
Traffic writesOf(const HloModule& module, const Computation& in, int32_t value, const Shape& buffer,
                 int depth) {
  const Instruction& at = in.at(value);
  const auto whole = static_cast<double>(llo::paddedBytes(buffer));
  if (depth > 32) return {0, whole};
  if ((at.is("bitcast") || at.is("reshape")) && at.operands.size() == 1) {
    return writesOf(module, in, at.operands[0], buffer, depth + 1);
  }
  if (at.is("dynamic-update-slice") && at.operands.size() >= 2) {
    const Shape& update = in.at(at.operands[1]).shape;
    const auto box = static_cast<double>(llo::boxBytes(at.shape, update.dims));
    const bool partial = llo::boxBytes(at.shape, update.dims) > llo::logicalBytes(update);
    return {partial ? std::min(box, whole) : 0, std::min(box, whole)};
  }
  if (at.is("scatter") && at.operands.size() >= 3) {
    const Shape& updates = in.at(at.operands.back()).shape;
    const double box = std::min(whole, static_cast<double>(llo::boxBytes(updates, updates.dims)));
    return {box, box};
  }
  if (at.is("fusion") && at.called.size() == 1 && !at.shape.isTuple()) {
    const Computation& called = module.at(at.called[0]);
    return writesOf(module, called, called.root, buffer, depth + 1);
  }
  return {0, whole};
}

/// Writes of a whole computation (a fusion's) whose results have the shape `result`.
Traffic resultWrites(const HloModule& module, const Computation& of, const Shape& result) {
  Traffic sum;
  const Instruction& root = of.at(of.root);
  auto add = [&](int32_t value, const Shape& buffer) {
    llo::forEachArray(buffer, [&](const Shape& array) {
      if (array.memory() != llo::Memory::kHbm) return;
      const Traffic one = buffer.isTuple() ? Traffic{0, static_cast<double>(llo::paddedBytes(array))}
                                           : writesOf(module, of, value, array, 0);
      sum.read += one.read;
      sum.written += one.written;
    });
  };
  if (root.is("tuple") && result.elements.size() == root.operands.size()) {
    for (size_t i = 0; i < root.operands.size(); ++i) add(root.operands[i], result.elements[i]);
  } else {
    add(of.root, result);
  }
  return sum;
}

double operandReads(const HloModule& module, const Computation& in, int32_t user) {
  const Instruction& at = in.at(user);
  std::set<int32_t> done;
  double bytes = 0;
  for (size_t k = 0; k < at.operands.size(); ++k) {
    if (!done.insert(at.operands[k]).second) continue;
    const Shape& shape = in.at(at.operands[k]).shape;
    if (shape.isTuple()) {
      bytes += static_cast<double>(llo::hbmBytes(shape));
    } else if (shape.memory() == llo::Memory::kHbm) {
      Demand demand(module, shape);
      for (size_t other = k; other < at.operands.size(); ++other) {
        if (at.operands[other] == at.operands[k]) demand.addUse(in, user, other);
      }
      bytes += demand.bytes();
    }
  }
  return bytes;
}

/// A custom call: operands and results, except results that reuse an operand's buffer, which count once.
Traffic customCallTraffic(const Computation& in, const Instruction& call) {
  Traffic traffic;
  if (isMark(call)) return traffic;
  if (const auto bytes = llo::readBackendConfig(call.backend_config).kernel_bytes) return {*bytes, 0};
  for (int32_t operand : call.operands)
    traffic.read += static_cast<double>(llo::hbmBytes(in.at(operand).shape));
  traffic.written = static_cast<double>(llo::hbmBytes(call.shape));
  return traffic;
}

}  // namespace

Traffic trafficOf(const HloModule& module, const Computation& in, const Instruction& at) {
  const auto index = static_cast<int32_t>(&at - in.instructions.data());
  if (at.is("custom-call")) return customCallTraffic(in, at);
  if (at.is("copy-start") && at.shape.elements.size() >= 2) {  // (destination, source, semaphore)
    return {static_cast<double>(llo::hbmBytes(at.shape.elements[1])),
            static_cast<double>(llo::hbmBytes(at.shape.elements[0]))};
  }
  Traffic traffic;
  traffic.read = operandReads(module, in, index);
  const Shape& result =
      at.is("async-start") && at.shape.elements.size() >= 2 ? at.shape.elements[1] : at.shape;
  Traffic writes;
  if ((at.is("fusion") || at.is("async-start")) && at.called.size() == 1) {
    writes = resultWrites(module, module.at(at.called[0]), result);
  } else if (result.isTuple()) {
    writes.written = static_cast<double>(llo::hbmBytes(result));
  } else if (result.memory() == llo::Memory::kHbm) {
    writes = writesOf(module, in, index, result, 0);
  }
  traffic.read += writes.read;
  traffic.written = writes.written;
  return traffic;
}

double readOf(const HloModule& module, const Computation& in, const Instruction& at, size_t operand) {
  if (operand >= at.operands.size() || in.at(at.operands[operand]).shape.isTuple()) return 0;
  Demand demand(module, in.at(at.operands[operand]).shape);
  demand.addUse(in, static_cast<int32_t>(&at - in.instructions.data()), operand);
  return demand.bytes();
}

std::string memorySpaces(const Computation& in, const Instruction& at) {
  auto list = [](const std::set<llo::Memory>& spaces) {
    std::string text;
    for (llo::Memory space : spaces) {
      text += fmt::format("{}{}", text.empty() ? "" : "+", name(space));
    }
    return text.empty() ? std::string("-") : text;
  };
  std::set<llo::Memory> from, to;
  auto add = [](const Shape& shape, std::set<llo::Memory>& spaces) {
    llo::forEachArray(shape, [&](const Shape& array) {
      if (llo::bitsOf(array.type) > 0) spaces.insert(array.memory());
    });
  };
  for (int32_t operand : at.operands) add(in.at(operand).shape, from);
  if (at.is("copy-start") && !at.shape.elements.empty()) {
    add(at.shape.elements[0], to);
  } else if (at.is("async-start") && at.shape.elements.size() >= 2) {
    add(at.shape.elements[1], to);
  } else {
    add(at.shape, to);
  }
  return list(from) + " -> " + list(to);
}

}  // namespace sublane::report
