// An HLO module from a file that somebody brings: text, or one of the protos that XLA writes.
//
//   SUBLANE_TRY(llo::HloModule module, llo::readHloFile(bytes, "module_0001.jit_f.after_codegen.hlo.pb"));
#pragma once

#include <string>
#include <string_view>

#include "llo/llo.h"

namespace sublane::llo {

enum class HloForm : uint8_t { kNone, kText, kProto };
/// By the first bytes alone. kProto: it begins as an HloModuleProto does, or a message around one.
HloForm formOf(std::string_view bytes);

/// Text, an HloModuleProto, or a message that holds one first: HloProto (.hlo.pb), HloSnapshot
/// (.hlo_snapshot.pb), HloModuleProtoWithConfig. `where` names it in errors.
Result<HloModule> readHloFile(std::string_view bytes, const std::string& where);

}  // namespace sublane::llo
