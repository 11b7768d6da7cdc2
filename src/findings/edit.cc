#include "findings/edit.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace sublane::findings {
namespace {

/// A stretch of the text.
struct Span {
  size_t begin = 0, end = 0;
  std::string of(std::string_view text) const { return std::string(text.substr(begin, end - begin)); }
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// The end of what begins at `at`: a quoted string, a bracket with all that it holds, or one character.
/// Arrows are no brackets.
size_t skip(std::string_view text, size_t at) {
  if (text[at] == '"') {
    for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
    return std::min(at + 1, text.size());
  }
  if (text.substr(at, 2) == "->") return at + 2;
  if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
  int64_t depth = 0;
  do {
    const char c = text[at];
    if (c == '"' || text.substr(at, 2) == "->" || (depth > 0 && text.substr(at, 2) == "//")) {
      at = skip(text, at);
      continue;
    }
    depth += c == '(' || c == '[' || c == '{' || c == '<';
    depth -= c == ')' || c == ']' || c == '}' || c == '>';
    ++at;
  } while (depth > 0 && at < text.size());
  return at;
}

Span trimmed(std::string_view text, Span span) {
  while (span.begin < span.end && isSpace(text[span.begin])) ++span.begin;
  while (span.end > span.begin && isSpace(text[span.end - 1])) --span.end;
  return span;
}

/// Parts between commas that stand in no bracket; none of an empty span.
std::vector<Span> split(std::string_view text, Span span) {
  std::vector<Span> parts;
  if (span.end <= span.begin || trimmed(text, span).begin == trimmed(text, span).end) return parts;
  size_t begin = span.begin, at = span.begin;
  while (at < span.end) {
    if (text[at] == ',') {
      parts.push_back(trimmed(text, {begin, at}));
      begin = ++at;
    } else {
      at = skip(text, at);
    }
  }
  parts.push_back(trimmed(text, {begin, span.end}));
  return parts;
}

/// Where `wanted` stands outside of strings and brackets, from `at` on; npos: nowhere.
size_t findOutside(std::string_view text, size_t at, size_t end, std::string_view wanted) {
  while (at < end) {
    if (text.substr(at, wanted.size()) == wanted) return at;
    at = skip(text, at);
  }
  return std::string_view::npos;
}

/// An argument or a result: its type, and its dictionary of attributes (empty: the place for one).
struct Slot {
  Span type, attributes;
  bool hasAttributes() const { return attributes.end > attributes.begin; }
};

Slot slotOf(std::string_view text, Span part) {
  Slot slot;
  size_t at = findOutside(text, part.begin, part.end, ":");
  at = at == std::string_view::npos ? part.begin : at + 1;
  size_t end = at;
  while (end < part.end && text[end] != '{' && text.substr(end, 4) != "loc(") end = skip(text, end);
  slot.type = trimmed(text, {at, end});
  slot.attributes = {slot.type.end, slot.type.end};
  if (end < part.end && text[end] == '{') slot.attributes = {end, skip(text, end)};
  return slot;
}

/// The main function's signature and its last line.
struct Main {
  std::vector<Slot> arguments, results;
  std::vector<Span> result_parts;  // with their attributes
  Span result_list;                // what stands between the arrow and the body
  Span returned;                   // operands and types of the return
  std::vector<Span> return_values, return_types;
};

Error malformed(const char* what) {
  return inputError("edit: the text's main function {}", what)
      .hint("StableHLO as text, with one function @main");
}

Status readReturn(std::string_view text, Span body, Main& main) {
  // The last one in the function's own region, not in those of its operations.
  size_t at = body.begin + 1, found = std::string_view::npos;
  while (at < body.end) {
    const bool word = at == 0 || isSpace(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == '"';
    if (word && text.substr(at, 7) == "return ") found = at;
    at = skip(text, at);
  }
  if (found == std::string_view::npos) {
    if (main.results.empty()) return Ok{};
    return malformed("returns nothing that can be read");
  }
  const size_t begin = found + 7, end = std::min(text.find('\n', begin), body.end);
  const size_t colon = findOutside(text, begin, end, ":");
  if (colon == std::string_view::npos) return malformed("has a return without types");
  const size_t last = std::min(findOutside(text, colon, end, " loc("), end);
  main.return_values = split(text, {begin, colon});
  main.return_types = split(text, {colon + 1, last});
  main.returned = trimmed(text, {begin, last});
  if (main.return_values.size() != main.results.size() || main.return_types.size() != main.results.size())
    return inputError("edit: the main function has {} results and returns {}", main.results.size(),
                      main.return_values.size());
  return Ok{};
}

Result<Main> readMain(std::string_view text) {
  size_t at = std::string_view::npos;
  for (std::string_view name : {"@main(", "@\"main\"("}) {
    const size_t found = text.find(name);
    if (found != std::string_view::npos) at = found + name.size() - 1;
  }
  if (at == std::string_view::npos) return malformed("is missing");
  const size_t close = skip(text, at);
  Main main;
  for (const Span part : split(text, {at + 1, close - 1})) main.arguments.push_back(slotOf(text, part));
  size_t body = close;
  while (body < text.size() && isSpace(text[body])) ++body;
  if (text.substr(body, 2) == "->") {
    body += 2;
    while (body < text.size() && isSpace(text[body])) ++body;
    const bool list = body < text.size() && text[body] == '(';
    const size_t begin = body;
    if (list) {
      body = skip(text, body);
    } else {
      while (body < text.size() && text[body] != '{' && text.substr(body, 10) != "attributes")
        body = skip(text, body);
    }
    main.result_list = trimmed(text, {begin, body});
    const Span inside = list ? Span{main.result_list.begin + 1, main.result_list.end - 1} : main.result_list;
    main.result_parts = split(text, inside);
    for (const Span part : main.result_parts) main.results.push_back(slotOf(text, part));
  }
  body = text.find('{', std::max(close, main.result_list.end));
  if (body != std::string_view::npos) {
    const Span before = trimmed(text, {std::max(close, main.result_list.end), body});
    if (before.of(text) == "attributes") body = text.find('{', skip(text, body));
  }
  if (body == std::string_view::npos) return malformed("has no body");
  SUBLANE_CHECK_OK(readReturn(text, {body, skip(text, body)}, main));
  return main;
}

Status checkNumber(const char* what, int64_t number, size_t count) {
  if (number < 0 || number >= static_cast<int64_t>(count))
    return inputError("edit: {} {} of a main function with {}", what, number, count);
  return Ok{};
}

/// Attributes in a dictionary, without its braces.
std::vector<Span> attributesOf(std::string_view text, const Slot& slot) {
  if (!slot.hasAttributes()) return {};
  return split(text, {slot.attributes.begin + 1, slot.attributes.end - 1});
}

/// The argument's dictionary with those of `names` taken out and `added` at the end.
std::string replaced(std::string_view text, const Slot& slot, const std::vector<std::string_view>& names,
                     const std::string& added) {
  std::vector<std::string> kept;
  for (const Span span : attributesOf(text, slot)) {
    const std::string attribute = span.of(text);
    const bool out = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return attribute.starts_with(name) && (attribute.size() == name.size() ||
                                             attribute[name.size()] == ' ' || attribute[name.size()] == '=');
    });
    if (!out) kept.push_back(attribute);
  }
  if (!added.empty()) kept.push_back(added);
  if (kept.empty()) return "";
  return fmt::format("{{{}}}", fmt::join(kept, ", "));
}

std::string withAttributes(std::string_view text, const Slot& slot, const std::string& attributes) {
  std::string out(text.substr(0, slot.type.end));
  if (!attributes.empty()) out += " " + attributes;
  return out + std::string(text.substr(slot.attributes.end));
}

/// The output that an argument's attributes give it to; nothing: none.
std::optional<int64_t> aliasOf(std::string_view text, const Slot& slot) {
  constexpr std::string_view kName = "tf.aliasing_output";
  for (const Span span : attributesOf(text, slot)) {
    const std::string attribute = span.of(text);
    if (!attribute.starts_with(kName)) continue;
    const size_t equals = attribute.find('=');
    if (equals == std::string::npos) continue;
    size_t at = equals + 1;
    while (at < attribute.size() && isSpace(attribute[at])) ++at;
    int64_t output = 0;
    const auto [end, error] =
        std::from_chars(attribute.data() + at, attribute.data() + attribute.size(), output);
    if (error == std::errc()) return output;
  }
  return std::nullopt;
}

Result<std::string> donated(const Edit& edit, std::string_view text, const Main& main) {
  SUBLANE_CHECK_OK(checkNumber("argument", edit.argument, main.arguments.size()));
  SUBLANE_CHECK_OK(checkNumber("result", edit.output, main.results.size()));
  const Slot& argument = main.arguments[static_cast<size_t>(edit.argument)];
  const std::string type = argument.type.of(text);
  const std::string result = main.results[static_cast<size_t>(edit.output)].type.of(text);
  if (type != result)
    return inputError("edit: argument {} is {}, result {} is {}: one buffer cannot be both", edit.argument,
                      inQuotes(type), edit.output, inQuotes(result));
  for (size_t i = 0; i < main.arguments.size(); ++i) {
    const auto alias = aliasOf(text, main.arguments[i]);
    if (alias && static_cast<int64_t>(i) == edit.argument)
      return inputError("edit: argument {} is given to result {} already", i, *alias);
    if (alias && *alias == edit.output)
      return inputError("edit: result {} has the buffer of argument {} already", *alias, i);
  }
  return withAttributes(text, argument,
                        replaced(text, argument, {"jax.buffer_donor"},
                                 fmt::format("tf.aliasing_output = {} : i32", edit.output)));
}

Result<std::string> laidOut(const Edit& edit, std::string_view text, const Main& main) {
  SUBLANE_CHECK_OK(checkNumber("argument", edit.argument, main.arguments.size()));
  const Slot& argument = main.arguments[static_cast<size_t>(edit.argument)];
  const std::string type = argument.type.of(text);
  int64_t rank = 0;
  for (size_t i = 1; i < type.size(); ++i)
    rank += type[i] == 'x' && (isDigit(type[i - 1]) || type[i - 1] == '?');
  if (rank != std::ssize(edit.minor_to_major))
    return inputError("edit: argument {} is {} with {} dimensions, and the layout names {}", edit.argument,
                      inQuotes(type), rank, edit.minor_to_major.size());
  std::vector<int64_t> sorted = edit.minor_to_major;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i))
      return inputError("edit: the layout of argument {} does not name dimension {} once", edit.argument, i);
  const std::string mode = fmt::format("mhlo.layout_mode = \"{{{}}}\"", fmt::join(edit.minor_to_major, ","));
  std::string out(text);
  if (edit.output >= 0) {  // the later place first
    SUBLANE_CHECK_OK(checkNumber("result", edit.output, main.results.size()));
    const Slot& result = main.results[static_cast<size_t>(edit.output)];
    if (result.type.of(text) != type)
      return inputError("edit: argument {} is {}, result {} is {}: they cannot lie alike", edit.argument,
                        inQuotes(type), edit.output, inQuotes(result.type.of(text)));
    out = withAttributes(out, result, replaced(text, result, {"mhlo.layout_mode"}, mode));
  }
  return withAttributes(out, argument, replaced(text, argument, {"mhlo.layout_mode"}, mode));
}

std::string without(std::string_view text, const std::vector<Span>& parts, int64_t number) {
  std::string list;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (static_cast<int64_t>(i) == number) continue;
    list += (list.empty() ? "" : ", ") + parts[i].of(text);
  }
  return list;
}

Result<std::string> dropped(const Edit& edit, std::string_view text, const Main& main) {
  SUBLANE_CHECK_OK(checkNumber("result", edit.output, main.results.size()));
  if (main.results.size() == 1)
    return inputError("edit: result 0 is the only one: nothing would be computed");
  std::string out(text);
  // From the end, so that places before stay where they are.
  out.replace(
      main.returned.begin, main.returned.end - main.returned.begin,
      without(text, main.return_values, edit.output) + " : " + without(text, main.return_types, edit.output));
  out.replace(main.result_list.begin, main.result_list.end - main.result_list.begin,
              "(" + without(text, main.result_parts, edit.output) + ")");
  for (size_t i = main.arguments.size(); i-- > 0;) {
    const Slot& argument = main.arguments[i];
    const auto alias = aliasOf(text, argument);
    if (!alias || *alias < edit.output) continue;
    const std::string added =
        *alias == edit.output ? std::string() : fmt::format("tf.aliasing_output = {} : i32", *alias - 1);
    out = withAttributes(out, argument, replaced(text, argument, {"tf.aliasing_output"}, added));
  }
  return out;
}

}  // namespace

std::string_view name(EditKind kind) {
  constexpr std::string_view kNames[] = {"donate", "argument-layout", "drop-output", "model-option",
                                         "compile-option"};
  return kNames[static_cast<size_t>(kind)];
}

std::string toText(const Edit& edit) {
  switch (edit.kind) {
    case EditKind::kDonate:
      return fmt::format("donate argument {} to result {}", edit.argument, edit.output);
    case EditKind::kArgumentLayout:
      return fmt::format("lay argument {}{} out as {{{}}}, minor first", edit.argument,
                         edit.output >= 0 ? fmt::format(" and result {}", edit.output) : "",
                         fmt::join(edit.minor_to_major, ","));
    case EditKind::kDropOutput:
      return fmt::format("do not return result {}", edit.output);
    case EditKind::kModelOption:
      return fmt::format("build the model with --{} {}", edit.option, edit.value);
    case EditKind::kCompileOption:
      return fmt::format("compile with {}={}", edit.option, edit.value);
  }
  return "";
}

Result<std::string> applied(const Edit& edit, const std::string& stablehlo) {
  if (edit.kind == EditKind::kModelOption || edit.kind == EditKind::kCompileOption)
    return inputError("edit: {} is none of the program's text", toText(edit));
  SUBLANE_TRY(const Main main, readMain(stablehlo));
  switch (edit.kind) {
    case EditKind::kDonate:
      return donated(edit, stablehlo, main);
    case EditKind::kArgumentLayout:
      return laidOut(edit, stablehlo, main);
    default:
      return dropped(edit, stablehlo, main);
  }
}

}  // namespace sublane::findings
