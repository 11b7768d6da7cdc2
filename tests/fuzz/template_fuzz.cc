// Feeds any text to the interpreter of chat templates: the template, then after 0xFF the request's context.
// Whatever it is, it ends with UTF-8 text or with an error of the input, the same the second time, in bounded
// steps and memory.
#include <cstdint>
#include <cstdlib>

#include "text/rust_library.h"
#include "text/utf8_stream.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::string_view kContext =
    R"({"messages":[{"role":"system","content":"s"},{"role":"user","content":"<é>"},
{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":{"a":[1,2.0,null,true]}}}]}],
"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"add_generation_prompt":true,"bos_token":"<s>"})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sublane;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = input.find('\xff');
  auto parsed = text::rust::Template::parse(input.substr(0, cut));
  if (!parsed.ok()) {
    require(parsed.error().fault() == Fault::kInput && !parsed.error().message().empty());
    return 0;
  }
  const std::string_view context = cut == std::string_view::npos ? kContext : input.substr(cut + 1);
  auto once = parsed->render(context, "2025-01-31T23:59:58"),
       again = parsed->render(context, "2025-01-31T23:59:58");
  require(once.ok() == again.ok());
  if (once.ok()) {
    require(text::isUtf8(*once) && *once == *again);
  } else {
    require(once.error().fault() == Fault::kInput && !once.error().message().empty());
  }
  return 0;
}
