// Cases 08 and 10: templates as jinja2 renders them with the reference's settings.
#include <gtest/gtest.h>

#include "goldens.h"
#include "text/rust_library.h"
#include "text/text.h"
#include "tiny_vocabulary.h"

namespace sublane::text {
namespace {

Result<std::string> render(const std::string& source, const std::string& context) {
  SUBLANE_TRY(rust::Template parsed, rust::Template::parse(source));
  return parsed.render(context, "2025-01-31T23:59:58");
}

TEST(ChatTemplate, rendersAsJinja2) {
  auto rows = readGoldens("templates.jsonl");
  ASSERT_GT(rows.size(), 50u);
  for (const auto& row : rows) {
    std::string name = row["name"];
    auto text = render(row["template"], row["context"].dump());
    if (row.contains("error")) {
      EXPECT_FALSE(text.ok()) << name << ": jinja2 says " << row["error"] << ", we print "
                              << (text.ok() ? *text : "");
    } else if (text.ok()) {
      EXPECT_EQ(*text, row["text"].get<std::string>()) << name;
    } else {
      ADD_FAILURE() << name << ": " << text.error().text();
    }
  }
}

std::string refusal(const std::string& source, const std::string& context = "{}") {
  auto text = render(source, context);
  return text.ok() ? "rendered " + *text : text.error().message();
}

TEST(ChatTemplate, errorsSayWhereAndWhat) {
  EXPECT_EQ(refusal("a\n{{ 'x'|no_such_filter }}"), "line 2: unknown filter: 'no_such_filter'");
  EXPECT_EQ(refusal("{% if true %}\n{{ 'x'|no_such_filter }}{% endif %}"),
            "line 2: unknown filter: 'no_such_filter'");
  EXPECT_EQ(refusal("{{ x is no_such_test }}"), "line 1: unknown test: 'no_such_test'");
  EXPECT_EQ(refusal("{{ no_such_function() }}"), "line 1: 'no_such_function' is undefined");
  EXPECT_EQ(refusal("{{ raise_exception('roles must alternate') }}"),
            "line 1: the template refuses: roles must alternate");
  EXPECT_EQ(refusal("{{ a.b.c }}", R"({"a": {}})"), "line 1: 'dict object' has no attribute 'b'");
  EXPECT_EQ(refusal("a\nb{% if x %}"), "line 2: the block is not closed: elif or else or endif is missing");
  EXPECT_EQ(refusal("{% include 'other' %}"),
            "line 1: the tag 'include' is not supported in a chat template");
  EXPECT_EQ(refusal("{{ [].append(1) }}"), "line 1: access to attribute 'append' of 'list' object is unsafe");
  EXPECT_EQ(refusal("{{ 1 + 'a' }}"), "line 1: unsupported types for +: 'int' and 'str'");
  EXPECT_EQ(refusal("{{ x|urlize }}"), "line 1: the filter 'urlize' is not supported");
}

// Case 08: blocks that stand on lines of their own leave nothing of those lines.
TEST(ChatTemplate, case08TrimAndLstripBlocks) {
  const std::string source =
      "{% for m in messages %}\n  {% if m.content %}\nU:{{ m.content }}\n  {% endif %}\n{% endfor %}\nEND";
  EXPECT_EQ(*render(source, R"({"messages": [{"content": "hi"}]})"), "U:hi\nEND");
  EXPECT_EQ(*render("a\n", "{}"), "a");
  EXPECT_EQ(*render("a\n\n", "{}"), "a\n");
}

// Case 10: the reference's tojson, and Python's printing.
TEST(ChatTemplate, case10ToJsonAndPrinting) {
  const std::string context = R"({"v": {"b": "<é> & 'q'", "a": [1, 2.0, null, true]}, "e": []})";
  EXPECT_EQ(*render("{{ v|tojson }}", context), R"({"b": "<é> & 'q'", "a": [1, 2.0, null, true]})");
  EXPECT_EQ(*render("{{ v|tojson(ensure_ascii=False) }}", context),
            R"({"b": "<é> & 'q'", "a": [1, 2.0, null, true]})");
  EXPECT_EQ(
      *render("{{ v|tojson(indent=4) }}{{ e|tojson(indent=4) }}", context),
      "{\n    \"b\": \"<é> & 'q'\",\n    \"a\": [\n        1,\n        2.0,\n        null,\n        true\n"
      "    ]\n}[]");
  EXPECT_EQ(*render("{{ none }}|{{ v.missing }}|{{ true }}", context), "None||True");
  EXPECT_EQ(*render("{% set n = 0 %}{% for i in [1, 2, 3] %}{% set n = n + 1 %}{% endfor %}{{ n }}", "{}"),
            "0");
  EXPECT_EQ(*render("{% set n = namespace(x=0) %}{% for i in [1, 2, 3] %}{% set n.x = n.x + 1 %}{% endfor %}"
                    "{{ n.x }}",
                    "{}"),
            "3");
  EXPECT_EQ(*render("{{ '\xE3\x80\x80x\xE3\x80\x80'|trim }}", "{}"), "x");
  EXPECT_EQ(*render("{% for i in 'abc' %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }}{% if i == 'b' %}"
                    "{% break %}{% endif %}{% endfor %}{{ 'abc'[::-1] }}{{ 'a b'.split()[-1] }}",
                    "{}"),
            "<a>ba<b>ccbab");
}

TEST(ChatTemplate, clockIsGiven) {
  EXPECT_EQ(*render("{{ strftime_now('%d %b %Y, %A %-d.%-m. %H:%M:%S %j %I %p %%') }}", "{}"),
            "31 Jan 2025, Friday 31.1. 23:59:58 031 11 PM %");
  EXPECT_EQ(refusal("{{ strftime_now('%Q') }}"), "line 1: strftime_now: unknown format '%Q'");
}

// A hostile template ends with an error: in time, in memory, and without the end of the stack.
TEST(ChatTemplate, hostileTemplatesAreStopped) {
  auto ends = [](const std::string& source, const std::string& with) {
    std::string said = refusal(source);
    EXPECT_NE(said.find(with), std::string::npos) << source.substr(0, 80) << ": " << said.substr(0, 200);
  };
  ends("{% for a in range(99999) %}{% for b in range(99999) %}{% if b %}{% endif %}{% endfor %}{% endfor %}",
       "steps");
  ends("{{ range(10**9)|list }}", "at most 100000");
  ends("{{ 'x' * 10**12 }}", "bytes of values");
  ends("{{ [1] * 10**12 }}", "bytes of values");
  ends("{{ 10**1000000000 }}", "too large");
  ends("{{ '%1000000000d' % 1 }}", "width");
  ends("{{ '{:>1000000000}'.format(1) }}", "width");
  ends("{{ 'x'.center(10**12) }}", "bytes of values");
  ends("{{ 'a'.replace('', 'b' * 10**5).replace('', 'b' * 10**5) }}", "bytes of values");
  ends("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "levels deep");
  ends("{% set n = namespace(s='x') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
       "bytes of values");
  ends("{% set n = namespace(s=[1]) %}{% for i in range(999) %}{% set n.s = [n.s] %}{% endfor %}", "nested");
  ends(
      "{% set n = namespace(s=[1]) %}{% for i in range(99) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s }}",
      "s");
  ends("{% set n = namespace() %}{% set n.n = n %}{{ n }}", "holds itself");
  ends("{{ " + std::string(100000, '(') + std::string(100000, ')') + " }}", "levels deep");
  ends("{{ " + std::string(100000, '[') + std::string(100000, ']') + " }}", "levels deep");
  ends("{{ " + std::string(100000, '-') + "1 }}", "levels deep");
  std::string sum = "{{ 1", blocks, nots = "{{ ", elses = "{{ 1";
  for (int i = 0; i < 100000; ++i) {
    sum += "+1";
    blocks += "{% if 1 %}";
    nots += "not ";
    elses += " if 1 else 1";
  }
  ends(sum + " }}", "levels deep");
  ends(blocks, "levels deep");
  ends(nots + "1 }}", "levels deep");
  ends(elses + " }}", "levels deep");
}

const char* const kTools =
    R"("tools": [{"type": "function", "function": {"name": "f", "parameters": {"b": 1, "a": 2}}}])";

Tokenizer withTemplates(const std::vector<std::pair<std::string, std::string>>& templates) {
  io::Metadata metadata = sentencePiece({{"a", -1}});
  for (const auto& [name, source] : templates) metadata["tokenizer.chat_template" + name] = {source};
  return *Tokenizer::fromCheckpoint(checkpointOf(metadata));
}

TEST(ChatTemplate, requestIsPassedOn) {
  Tokenizer tokenizer = withTemplates(
      {{"",
        "{{ bos_token }}{% for m in messages %}{{ m.role }}:{{ m.content }}{{ m.tool_calls|tojson if "
        "m.tool_calls }};{% endfor %}{{ tools|tojson }}{{ documents }}{{ thinking }}{{ add_generation_prompt "
        "}}"}});
  std::string request =
      std::string(R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]},)") +
      R"({"role": "assistant", "content": null, "tool_calls": [{"id": 1}]}], "thinking": false, )" + kTools +
      "}";
  EXPECT_EQ(*tokenizer.renderChat(request, {}),
            "<s>user:[{'type': 'text', 'text': 'x'}];assistant:None[{\"id\": 1}];[{\"type\": \"function\", "
            "\"function\": {\"name\": \"f\", \"parameters\": {\"b\": 1, \"a\": 2}}}]NoneFalseTrue");
  request =
      R"({"messages": [], "chat_template_kwargs": {"thinking": "low"}, "add_generation_prompt": false})";
  EXPECT_EQ(*tokenizer.renderChat(request, {}), "<s>nullNonelowFalse");
  request = R"({"messages": [], "chat_template": "{{ bos_token ~ strftime_now('%Y') }}"})";
  EXPECT_EQ(*tokenizer.renderChat(request, {.now = "2031-02-03"}), "<s>2031");
}

TEST(ChatTemplate, templatesAreChosenByNameAndByTools) {
  Tokenizer both = withTemplates({{"", "plain"}, {".tool_use", "tools"}, {".rag", "{{ documents }}"}});
  EXPECT_EQ(*both.renderChat(R"({"messages": []})", {}), "plain");
  EXPECT_EQ(*both.renderChat(std::string(R"({"messages": [], )") + kTools + "}", {}), "tools");
  EXPECT_EQ(*both.renderChat(R"({"messages": [], "documents": [1]})", {.chat_template = "rag"}), "[1]");
  EXPECT_EQ(both.renderChat(R"({"messages": []})", {.chat_template = "nosuch"}).error().message(),
            "tiny.gguf: the file has no chat template \"nosuch\"; it has: default, rag, tool_use");
  Tokenizer named = withTemplates({{".a", "1"}, {".b", "2"}});
  EXPECT_TRUE(named.hasChatTemplate());
  EXPECT_EQ(named.renderChat(R"({"messages": []})", {}).error().message(),
            "tiny.gguf: the file has several chat templates and none is the default: a, b");
}

TEST(ChatTemplate, wrongRequestsAreNamed) {
  Tokenizer tokenizer = withTemplates({{"", "x"}});
  auto said = [&](const std::string& request) { return tokenizer.renderChat(request, {}).error().message(); };
  EXPECT_EQ(said("[]"), "request: a JSON object is wanted, not a JSON array");
  EXPECT_EQ(said("{}"), "request: messages is missing, not a list");
  EXPECT_EQ(said(R"({"messages": [1]})"), "request: message 0 is a JSON number, not an object");
  EXPECT_EQ(said(R"({"messages": [], "chat_template_kwargs": 1})"),
            "request: chat_template_kwargs is a JSON number, not an object");
  EXPECT_EQ(said(R"({"messages": )" + std::string(100000, '[')),
            "request: JSON nested 100001 deep, at most 100 are allowed");
  EXPECT_NE(said("{\"messages\": [").find("parse error"), std::string::npos);
}

TEST(ChatTemplate, fileWithoutOneRefusesChats) {
  auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(byteLevel({}, {})));
  EXPECT_FALSE(tokenizer->hasChatTemplate());
  auto text = tokenizer->renderChat({{"user", "hi"}}, true);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().text(),
            "tiny.gguf: no chat template\n"
            "  hint: a GGUF holds it as tokenizer.chat_template, a folder in chat_template.jinja or "
            "tokenizer_config.json; run --prompt needs none");
}

TEST(ChatTemplate, brokenTemplateFailsOnlyWhenAskedFor) {
  io::Metadata metadata = byteLevel({}, {});
  metadata["tokenizer.chat_template"] = {std::string("{% if %}")};
  auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(metadata));
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_TRUE(tokenizer->encode("raw", {}).ok());
  auto text = tokenizer->renderChat({{"user", "hi"}}, true);
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message().find("tiny.gguf: chat template: line 1: an expression is expected"),
            std::string::npos);
}

TEST(ChatTemplate, messageThatIsNotUtf8IsRefused) {
  io::Metadata metadata = byteLevel({}, {});
  metadata["tokenizer.chat_template"] = {std::string("{{ messages[0].content }}")};
  auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(metadata));
  auto text = tokenizer->renderChat({{"user", "a\xFF"}}, true);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message(), "the \"user\" message \"a\\xff\" is not UTF-8");
}

TEST(ChatTemplate, specialTokensAreKnownByTheirTexts) {
  io::Metadata metadata = sentencePiece({{"a", -1}});
  metadata["tokenizer.chat_template"] = {
      std::string("{{ bos_token }}|{{ eos_token }}|{{ unk_token }}|{{ pad_token }}|{{ tools }}")};
  auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(metadata));
  EXPECT_EQ(*tokenizer->renderChat({}, false), "<s>|</s>|<unk>||None");
}

}  // namespace
}  // namespace sublane::text
