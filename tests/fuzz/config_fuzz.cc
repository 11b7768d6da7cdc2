// Feeds any text to the reader of config.json, and what it accepts to a ConfigReader: each key is read by the
// type that it has, and then every key counts as consumed.
#include "io/config_json.h"

#include <cstdint>
#include <cstdlib>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sublane;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = io::parseConfig(text, "fuzz");
  if (!parsed.ok()) return require(!parsed.error().message().empty()), 0;
  require(!parsed->metadata.empty());
  size_t key_bytes = 0;
  io::ConfigReader reader(parsed->metadata, "fuzz"), strict(parsed->metadata, "fuzz");
  for (const auto& [key, value] : parsed->metadata) {
    require(key.size() <= 512);
    key_bytes += key.size();
    if (std::holds_alternative<int64_t>(value.value))
      require(reader.optionalInt(key) == std::get<int64_t>(value.value));
    else if (std::holds_alternative<std::string>(value.value))
      require(reader.optionalString(key).has_value());
    else
      reader.ignore(key);
  }
  require(reader.finish().ok());
  require(key_bytes <= 512 * size);
  (void)strict.finish().ok();
  return 0;
}
