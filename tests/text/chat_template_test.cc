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
  return parsed.render(context);
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
  EXPECT_EQ(refusal("a\n{{ 'x'|no_such_filter }}"),
            "line 2: unknown filter: filter no_such_filter is unknown");
  EXPECT_EQ(refusal("{{ no_such_function() }}"), "line 1: unknown function: no_such_function is unknown");
  EXPECT_EQ(refusal("{{ raise_exception('roles must alternate') }}"),
            "line 1: invalid operation: the template refuses: roles must alternate");
  EXPECT_NE(refusal("a\nb{% if x %}").find("line 2: syntax error"), std::string::npos)
      << refusal("a\nb{% if x %}");
}

TEST(ChatTemplate, endlessTemplateIsStopped) {
  std::string source = "{% for a in range(9999) %}{% for b in range(9999) %}{{ b }}{% endfor %}{% endfor %}";
  EXPECT_NE(refusal(source).find("fuel"), std::string::npos) << refusal(source).substr(0, 200);
}

TEST(ChatTemplate, fileWithoutOneRefusesChats) {
  auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(byteLevel({}, {})));
  EXPECT_FALSE(tokenizer->hasChatTemplate());
  auto text = tokenizer->renderChat({{"user", "hi"}}, true);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().text(),
            "tiny.gguf: the file has no chat template (tokenizer.chat_template)\n"
            "  hint: use --prompt for raw text");
}

TEST(ChatTemplate, brokenTemplateFailsOnlyWhenAskedFor) {
  io::Metadata metadata = byteLevel({}, {});
  metadata["tokenizer.chat_template"] = {std::string("{% if %}")};
  auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(metadata));
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_TRUE(tokenizer->encode("raw", {}).ok());
  auto text = tokenizer->renderChat({{"user", "hi"}}, true);
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message().find("tiny.gguf: chat template: line 1: syntax error"), std::string::npos);
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
