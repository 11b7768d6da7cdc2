// Feeds any bytes to the reader of compiled HLO.
#include <cstdint>

#include "sound_module.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sublane;
  fuzz::requireSound(llo::readHloModule(std::string_view(reinterpret_cast<const char*>(data), size)));
  return 0;
}
