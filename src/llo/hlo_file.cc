#include "llo/hlo_file.h"

#include "llo/hlo_text.h"
#include "llo/wire.h"

namespace sublane::llo {
namespace {

constexpr char kFirstField = 0x0a;   // field 1, with a length
constexpr char kSecondField = 0x12;  // field 2, with a length

/// Field 1 of a message that begins with it; nothing if it does not fit.
std::string_view firstField(std::string_view bytes) {
  if (!bytes.starts_with(kFirstField)) return {};
  std::string_view found;
  Wire wire(bytes);
  bool first = true;
  wire.each("HloProto", bytes, [&](const Field& field) {
    if (std::exchange(first, false)) found = wire.text(field);
  });
  return found;
}

/// An HloModuleProto begins with its name. In a message around it, what stands there begins with a field
/// itself, which no name does.
std::string_view moduleIn(std::string_view bytes) {
  for (int level = 0; level < 2; ++level) {
    const std::string_view inner = firstField(bytes);
    if (!inner.starts_with(kFirstField) && !inner.starts_with(kSecondField)) break;
    bytes = inner;
  }
  return bytes;
}

/// A length that fits, and then a name, or a message around a module.
bool looksProto(std::string_view bytes) {
  for (int level = 0; level < 3 && bytes.starts_with(kFirstField); ++level) {
    size_t at = 1;
    uint64_t length = 0;
    for (int shift = 0; at < bytes.size() && at < 6; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      length |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    bytes.remove_prefix(at);
    if (bytes.starts_with(kFirstField)) continue;
    // The name, then the entry computation's.
    if (length == 0 || length > 1000 || length >= bytes.size()) return false;
    for (const char c : bytes.substr(0, length)) {
      if (c < ' ' || c > '~') return false;
    }
    return bytes[length] == kSecondField;
  }
  return false;
}

}  // namespace

HloForm formOf(std::string_view bytes) {
  if (looksHloText(bytes)) return HloForm::kText;
  return looksProto(bytes.substr(0, 4096)) ? HloForm::kProto : HloForm::kNone;
}

Result<HloModule> readHloFile(std::string_view bytes, const std::string& where) {
  if (looksHloText(bytes)) return readHloText(bytes, where);
  if (!bytes.starts_with(kFirstField)) {
    return inputError("{}: neither the text of an HLO module nor its proto ({} bytes)", where, bytes.size())
        .hint("text begins with HloModule; XLA writes both with --xla_dump_to");
  }
  Result<HloModule> module = readHloModule(moduleIn(bytes));
  if (!module.ok()) return std::move(module).error().at(where);
  return module;
}

}  // namespace sublane::llo
