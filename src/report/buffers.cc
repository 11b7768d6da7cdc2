#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/anatomy_of.h"
#include "report/kind.h"

namespace sublane::report {
namespace {

using llo::Computation;
using llo::HloModule;
using llo::Instruction;

/// "bf16[8,576]{1,0:T(8,128)(2,1)}"
std::string shapeText(const llo::Shape& shape) {
  std::string layout;
  for (const int64_t dimension : shape.layout.minor_to_major)
    layout += fmt::format("{}{}", layout.empty() ? "" : ",", dimension);
  std::string tiles;
  for (const std::vector<int64_t>& tile : shape.layout.tiles) {
    std::string sizes;
    for (const int64_t size : tile)
      sizes += (sizes.empty() ? "" : ",") + (size == llo::kCombineDimension ? "*" : fmt::format("{}", size));
    tiles += "(" + sizes + ")";
  }
  std::string text = llo::toString(shape);
  text = text.substr(0, text.find(' '));  // the memory stands beside it
  return layout.empty() ? text : fmt::format("{}{{{}{}{}}}", text, layout, tiles.empty() ? "" : ":T", tiles);
}

std::string memoryName(llo::Memory memory) {
  std::string text(llo::name(memory));
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool isWait(const Instruction& at) { return at.opcode.ends_with("-done"); }

/// Values of the entry, each with the buffer that it lies in.
class Lifetimes {
 public:
  explicit Lifetimes(const HloModule& module) : module_(module), entry_(module.entryComputation()) {
    position_.assign(entry_.instructions.size(), 0);
    for (size_t p = 0; p < entry_.schedule.size(); ++p)
      position_[static_cast<size_t>(entry_.schedule[p])] = static_cast<int32_t>(p);
    buffers_of_.resize(entry_.instructions.size());
  }

  std::vector<BufferLife> find() {
    for (const int32_t index : entry_.schedule) {
      define(index);
      use(index);
    }
    for (const int32_t buffer : buffers_of_[static_cast<size_t>(entry_.root)]) {
      if (buffer < 0) continue;
      BufferLife& life = lives_[static_cast<size_t>(buffer)];
      life.last = end();
      if (life.what == "temporary") life.what = "result";
    }
    return std::move(lives_);
  }

 private:
  int32_t end() const { return static_cast<int32_t>(entry_.schedule.size()) - 1; }
  const Instruction& at(int32_t index) const { return entry_.at(index); }

  /// Buffers of an operand, one an array.
  std::vector<int32_t> of(const Instruction& from, size_t operand) const {
    return buffers_of_[static_cast<size_t>(from.operands[operand])];
  }

  void define(int32_t index) {
    const Instruction& made = at(index);
    std::vector<int32_t>& buffers = buffers_of_[static_cast<size_t>(index)];
    if (made.opcode.ends_with("-start") && made.shape.isTuple() && made.shape.elements.size() >= 2)
      return starts(index);
    if (made.operands.empty() || !passesOn(made, buffers)) {
      llo::forEachArray(made.shape, [&](const llo::Shape& shape) { buffers.push_back(add(index, shape)); });
    }
  }

  /// The start of an asynchronous operation: its tuple holds its operands, which lie where they lay, and its
  /// result. copy-start gives (result, operand, mark), the others ((operands), result, mark).
  void starts(int32_t index) {
    const Instruction& made = at(index);
    std::vector<int32_t>& buffers = buffers_of_[static_cast<size_t>(index)];
    const bool copy = made.is("copy-start");
    const size_t operand = copy ? 1 : 0;
    for (size_t e = 0; e < made.shape.elements.size(); ++e) {
      if (e == operand) {
        for (size_t i = 0; i < made.operands.size(); ++i) {
          const std::vector<int32_t> from = of(made, i);
          buffers.insert(buffers.end(), from.begin(), from.end());
        }
      } else if (e == 1 - operand) {
        llo::forEachArray(made.shape.elements[e], [&](const llo::Shape& shape) {
          results_of_[index].push_back(add(index, shape));
          buffers.push_back(results_of_[index].back());
        });
      }
    }
  }

  /// Whether all that the operation gives lies where an operand of it lies.
  bool passesOn(const Instruction& made, std::vector<int32_t>& buffers) const {
    if (made.is("bitcast") || made.is("while") || made.is("optimization-barrier") || isWait(made) ||
        made.is("add-dependency")) {
      const auto started = results_of_.find(made.operands[0]);
      buffers = isWait(made) && started != results_of_.end() ? started->second : of(made, 0);
      return !buffers.empty();
    }
    if (made.is("tuple")) {
      for (size_t i = 0; i < made.operands.size(); ++i) {
        const std::vector<int32_t> element = of(made, i);
        buffers.insert(buffers.end(), element.begin(), element.end());
      }
      return true;
    }
    if (made.is("get-tuple-element")) return element(made, buffers);
    return updatesInPlace(made, buffers);
  }

  bool element(const Instruction& made, std::vector<int32_t>& buffers) const {
    const llo::Shape& tuple = at(made.operands[0]).shape;
    const std::vector<int32_t> all = of(made, 0);
    size_t before = 0;
    for (size_t e = 0; e < tuple.elements.size() && e < static_cast<size_t>(made.tuple_index); ++e)
      llo::forEachArray(tuple.elements[e], [&](const llo::Shape&) { ++before; });
    size_t count = 0;
    llo::forEachArray(made.shape, [&](const llo::Shape&) { ++count; });
    if (before + count > all.size()) return false;
    buffers.assign(all.begin() + static_cast<ptrdiff_t>(before),
                   all.begin() + static_cast<ptrdiff_t>(before + count));
    return true;
  }

  bool updatesInPlace(const Instruction& made, std::vector<int32_t>& buffers) const {
    const std::string kind = kindOf(module_, entry_, made);
    if (kind != "update slice" && kind != "scatter" && made.aliases.empty()) return false;
    if (made.shape.isTuple()) return false;
    for (size_t i = 0; i < made.operands.size(); ++i) {
      const llo::Shape& shape = at(made.operands[i]).shape;
      if (shape.isTuple() || shape.memory() != made.shape.memory() || shape.type != made.shape.type ||
          shape.dims != made.shape.dims)
        continue;
      buffers = of(made, i);
      return !buffers.empty();
    }
    return false;
  }

  int32_t add(int32_t index, const llo::Shape& shape) {
    const int64_t bytes = llo::paddedBytes(shape);
    if (bytes <= 0 || shape.type == llo::ElementType::kToken) return -1;
    const Instruction& made = at(index);
    const int32_t now = position_[static_cast<size_t>(index)];
    BufferLife life{.op = made.name,
                    .shape = shapeText(shape),
                    .memory = memoryName(shape.memory()),
                    .what = whatOf(made),
                    .bytes = bytes,
                    .data_bytes = llo::logicalBytes(shape),
                    .first = now,
                    .last = now};
    if (made.is("parameter")) life.first = 0, life.last = end();
    lives_.push_back(std::move(life));
    return static_cast<int32_t>(lives_.size()) - 1;
  }

  std::string whatOf(const Instruction& made) const {
    if (made.is("constant")) return "constant";
    if (!made.is("parameter")) return "temporary";
    const bool donated = std::any_of(
        module_.aliases.begin(), module_.aliases.end(),
        [&](const llo::InputOutputAlias& alias) { return alias.parameter == made.parameter_number; });
    return donated ? "state" : "argument";
  }

  void use(int32_t index) {
    for (const int32_t operand : at(index).operands) {
      for (const int32_t buffer : buffers_of_[static_cast<size_t>(operand)]) {
        if (buffer < 0) continue;
        BufferLife& life = lives_[static_cast<size_t>(buffer)];
        life.last = std::max(life.last, position_[static_cast<size_t>(index)]);
      }
    }
  }

  const HloModule& module_;
  const Computation& entry_;
  std::vector<int32_t> position_;                       // in the schedule, by instruction
  std::vector<std::vector<int32_t>> buffers_of_;        // by instruction; -1: nothing that takes room
  std::map<int32_t, std::vector<int32_t>> results_of_;  // of starts
  std::vector<BufferLife> lives_;
};

}  // namespace

void addBuffers(const HloModule& module, Anatomy& anatomy) {
  const Computation& entry = module.entryComputation();
  for (const int32_t index : entry.schedule) anatomy.schedule.push_back(entry.at(index).name);
  anatomy.buffers = Lifetimes(module).find();
}

}  // namespace sublane::report
