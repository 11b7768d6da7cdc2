// Feeds any bytes to the reader of HLO files, text above all.
#include <cstdint>

#include "llo/hlo_file.h"
#include "llo/hlo_text.h"
#include "sound_module.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sublane;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fuzz::require(llo::formOf(bytes) != llo::HloForm::kText || llo::looksHloText(bytes));
  fuzz::requireSound(llo::readHloFile(bytes, "f"));
  fuzz::requireSound(llo::readHloText(bytes, "f"));
  return 0;
}
