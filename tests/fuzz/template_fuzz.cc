// Feeds any text to the interpreter of chat templates: the template, then after 0xFF the request's context.
// Whatever it is, it ends with UTF-8 text or with an error of the input, the same the second time, in bounded
// steps and memory. After a first byte 'S' each byte of the template stands for a piece of one, so that more
// of what is tried can be parsed: the interpreter itself tells the fuzzer nothing of what it reaches.
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

const char* const kPieces[] = {"{{ ",
                               " }}",
                               "{% if ",
                               " %}",
                               "{% endif %}",
                               "{% else %}",
                               "{% for x in ",
                               "{% endfor %}",
                               "{% set s = ",
                               "{% set n.v = ",
                               "{% macro f(a, b=1) %}",
                               "{% endmacro %}",
                               "{{ f(",
                               "{% call f(s) %}",
                               "{% endcall %}",
                               "{% set q %}",
                               "{% endset %}",
                               "{%- ",
                               " -%}",
                               "{{- ",
                               " -}}",
                               "{%+ ",
                               "{# ",
                               " #}",
                               "{% raw %}",
                               "{% endraw %}",
                               "{% filter upper %}",
                               "{% endfilter %}",
                               "{% generation %}",
                               "{% endgeneration %}",
                               "{% with y = ",
                               "{% endwith %}",
                               "{% break %}",
                               "{% continue %}",
                               "{% set n = namespace(v=m) %}",
                               "s",
                               "m",
                               "n.v",
                               "x",
                               "q",
                               "o",
                               "1",
                               "-3",
                               "2.5",
                               "'a b'",
                               "'é🦙'",
                               "none",
                               "true",
                               "[",
                               "]",
                               "(",
                               ")",
                               "{",
                               "}",
                               ", ",
                               ": ",
                               ".",
                               "|",
                               " is ",
                               " in ",
                               " not ",
                               " and ",
                               " or ",
                               " if ",
                               " else ",
                               " ~ ",
                               " + ",
                               " - ",
                               " * ",
                               " ** ",
                               " / ",
                               " // ",
                               " % ",
                               " == ",
                               " < ",
                               " recursive",
                               "loop",
                               "loop.index",
                               "loop(m)",
                               "caller()",
                               "range(9)",
                               "strip()",
                               "split(' ', 1)",
                               "rsplit()",
                               "replace('a', s)",
                               "format(s, x)",
                               "items()",
                               "get(s)",
                               "join(m)",
                               "center(9, 'é')",
                               "splitlines(true)",
                               "title()",
                               "find('b')",
                               "startswith(('a', s))",
                               "[::-1]",
                               "[1:]",
                               "[-2:9:2]",
                               "['k']",
                               "tojson",
                               "tojson(indent=2)",
                               "list",
                               "length",
                               "join(s)",
                               "map('upper')",
                               "map(attribute='k')",
                               "selectattr('k', 'eq', 1)",
                               "sort",
                               "sort(attribute='k')",
                               "groupby('k')",
                               "batch(2, x)",
                               "slice(3)",
                               "unique",
                               "dictsort",
                               "indent(2, true)",
                               "truncate(3)",
                               "int",
                               "float",
                               "round(1)",
                               "first",
                               "last",
                               "reverse",
                               "default(s)",
                               "safe",
                               "e",
                               "wordcount",
                               "items",
                               "min",
                               "sum",
                               "string",
                               "capitalize",
                               "trim(s)",
                               "defined",
                               "mapping",
                               "divisibleby 2",
                               "sameas none",
                               "cycler(1, s)",
                               "joiner()",
                               "dict(a=s)",
                               "strftime_now('%c')",
                               "'%s %5.2f' % (s, 1)",
                               "'{:>9} {!r}'.format(s, m)",
                               "raise_exception(s)",
                               "\n",
                               "  ",
                               "text"};

std::string spelled(std::string_view bytes) {
  std::string source;
  for (char c : bytes) source += kPieces[static_cast<unsigned char>(c) % std::size(kPieces)];
  return source;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sublane;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = input.find('\xff');
  std::string source(input.substr(0, cut));
  if (source.starts_with('S')) source = spelled(std::string_view(source).substr(1));
  auto parsed = text::rust::Template::parse(source);
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
