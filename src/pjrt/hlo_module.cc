#include <algorithm>
#include <vector>

#include "base/wire.h"
#include "pjrt/ahead_of_time.h"

namespace sublane::pjrt {

Result<std::string> moduleOf(std::string_view module_with_config) {
  WireReader in(module_with_config);
  while (in.next()) {
    if (in.field() == 1) return std::string(in.text());
  }
  return machineError("libtpu: its optimised program ({} bytes) holds no HLO module",
                      module_with_config.size());
}

// xla/service/hlo.proto: where maps lie.
namespace {
enum ModuleField : uint32_t { kComputations = 3, kModuleAttributes = 19 };
enum ComputationField : uint32_t { kInstructions = 2 };
enum InstructionField : uint32_t { kInstructionAttributes = 68 };

/// FrontendAttributes: its only field is the map.
std::string sortedMap(std::string_view message) {
  std::vector<std::string_view> entries;
  WireReader in(message);
  while (in.next()) entries.push_back(in.raw());
  if (!in.wellFormed()) return std::string(message);
  // Entries start with tag, length, tag, length, key: comparing keys needs the parse.
  auto key = [](std::string_view entry) {
    WireReader outer(entry);
    if (!outer.next()) return std::string_view();
    WireReader inner(outer.text());
    return inner.next() && inner.field() == 1 ? inner.text() : std::string_view();
  };
  std::sort(entries.begin(), entries.end(), [&](auto a, auto b) { return key(a) < key(b); });
  WireWriter out;
  for (std::string_view entry : entries) out.raw(entry);
  return out.bytes();
}

/// Copies a message, except for the fields that `rewrite` writes itself (then it returns true).
template <class Rewrite>
std::string rewritten(std::string_view message, Rewrite rewrite) {
  WireWriter out;
  WireReader in(message);
  while (in.next()) {
    if (!rewrite(in, out)) out.raw(in.raw());
  }
  return in.wellFormed() ? out.bytes() : std::string(message);
}

std::string canonicalInstruction(std::string_view instruction) {
  return rewritten(instruction, [](const WireReader& in, WireWriter& out) {
    if (in.field() != kInstructionAttributes) return false;
    out.text(kInstructionAttributes, sortedMap(in.text()));
    return true;
  });
}

std::string canonicalComputation(std::string_view computation) {
  return rewritten(computation, [](const WireReader& in, WireWriter& out) {
    if (in.field() != kInstructions) return false;
    out.text(kInstructions, canonicalInstruction(in.text()));
    return true;
  });
}
}  // namespace

std::string canonicalModule(std::string_view module) {
  return rewritten(module, [](const WireReader& in, WireWriter& out) {
    if (in.field() == kComputations) {
      out.text(kComputations, canonicalComputation(in.text()));
    } else if (in.field() == kModuleAttributes) {
      out.text(kModuleAttributes, sortedMap(in.text()));
    } else {
      return false;
    }
    return true;
  });
}

}  // namespace sublane::pjrt
