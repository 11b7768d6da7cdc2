// tokenizer.json and the files beside it: what is refused, and by which name. Ids are judged by
// tokenizer_reference_test.py.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "text/text.h"

namespace sublane::text {
namespace {

using nlohmann::ordered_json;
using Ids = std::vector<int32_t>;

/// A folder that goes away with its test.
class Folder {
 public:
  Folder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() / fmt::format("sublane_hf_test_{}_{}", getpid(), count++);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  void write(const std::string& name, const ordered_json& json) const { write(name, json.dump()); }
  Result<Tokenizer> open() const { return Tokenizer::fromFolder(path_.string()); }
  Tokenizer tokenizer() const {
    auto read = open();
    EXPECT_TRUE(read.ok()) << read.error().text();
    return std::move(read).value();
  }
  /// The error without the path.
  std::string refusal() const {
    auto read = open();
    if (read.ok()) return "accepted";
    EXPECT_EQ(read.error().fault(), Fault::kInput);
    std::string head = path_.string() + ": tokenizer: ";
    EXPECT_TRUE(read.error().message().starts_with(head)) << read.error().message();
    return read.error().message().substr(head.size());
  }

 private:
  std::filesystem::path path_;
};

ordered_json addedToken(int id, const std::string& content, bool special = true) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

/// a 0, b 1, c 2, ab 3; <s> 4, </s> 5, <turn> 6; text that no token spells is an error.
ordered_json tiny() {
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", {addedToken(4, "<s>"), addedToken(5, "</s>"), addedToken(6, "<turn>")}},
          {"normalizer", nullptr},
          {"pre_tokenizer", nullptr},
          {"post_processor", nullptr},
          {"decoder", {{"type", "Fuse"}}},
          {"model",
           {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}}}, {"merges", {"a b"}}}}};
}

std::string refusalOf(const ordered_json& tokenizer) {
  Folder folder;
  folder.write("tokenizer.json", tokenizer);
  return folder.refusal();
}

std::string refusalWith(const char* key, const ordered_json& value) {
  ordered_json tokenizer = tiny();
  tokenizer[ordered_json::json_pointer(key)] = value;
  return refusalOf(tokenizer);
}

TEST(HuggingFace, encodesAndDecodes) {
  Folder folder;
  folder.write("tokenizer.json", tiny());
  Tokenizer tokenizer = folder.tokenizer();
  EXPECT_EQ(*tokenizer.encode("abc", {}), (Ids{3, 2}));
  EXPECT_EQ(*tokenizer.encode("<s>ab", {.parse_special = true}), (Ids{4, 3}));
  EXPECT_EQ(tokenizer.decode({4, 3, 2, 5}), "abc") << "special tokens give no text";
  EXPECT_EQ(tokenizer.describe(), "tokenizer.json: BPE, 7 tokens");
}

TEST(HuggingFace, textThatNoTokenSpellsIsAnErrorNotALoss) {
  Folder folder;
  folder.write("tokenizer.json", tiny());
  auto ids = folder.tokenizer().encode("ax", {});
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.error().message(),
            "tokenizer.json: the vocabulary has no token for a part of \"ax\", and no unknown token");
}

TEST(HuggingFace, unknownTypesAreRefusedByName) {
  EXPECT_EQ(refusalWith("/model/type", "WordPiece"),
            "tokenizer.json: model.type \"WordPiece\" is not supported (known: BPE, Unigram)");
  EXPECT_EQ(
      refusalWith("/normalizer", {{"type", "NFQ"}}),
      "tokenizer.json: normalizer.type \"NFQ\" is not supported (known: Sequence, NFC, NFD, NFKC, NFKD, Nmt, "
      "Lowercase, StripAccents, ByteLevel, Strip, Prepend, Replace, Precompiled, BertNormalizer)");
  ordered_json inner = {{"type", "Sequence"},
                        {"pretokenizers", {{{"type", "Digitz"}, {"individual_digits", true}}}}};
  EXPECT_TRUE(
      refusalWith("/pre_tokenizer", inner)
          .starts_with(
              "tokenizer.json: pre_tokenizer.pretokenizers[0].type \"Digitz\" is not supported (known: "));
  EXPECT_TRUE(refusalWith("/post_processor", {{"type", "X"}})
                  .starts_with("tokenizer.json: post_processor.type \"X\" is not supported (known: "));
  EXPECT_TRUE(refusalWith("/decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}})
                  .starts_with("tokenizer.json: decoder.type \"WordPiece\" is not supported (known: "));
}

TEST(HuggingFace, fieldsThatWouldBeSkippedAreRefused) {
  EXPECT_EQ(refusalWith("/normalizer", {{"type", "NFC"}, {"strength", 2}}),
            "tokenizer.json: normalizer (NFC) has the field \"strength\", which is not known");
  EXPECT_EQ(refusalWith("/pre_tokenizer", {{"type", "Digits"}}),
            "tokenizer.json: pre_tokenizer (Digits) has no field \"individual_digits\"");
  EXPECT_EQ(refusalWith("/pre_tokenizer",
                        {{"type", "Split"}, {"pattern", "x"}, {"behavior", "Isolated"}, {"invert", false}}),
            "tokenizer.json: pre_tokenizer.pattern is neither {\"String\": text} nor {\"Regex\": text}");
  EXPECT_TRUE(refusalWith("/model/sorted", true).starts_with("tokenizer.json: unknown field `sorted`"));
  EXPECT_TRUE(refusalWith("/extra", 1).starts_with("tokenizer.json: unknown field `extra`"));
  EXPECT_EQ(refusalWith("/model/dropout", 0.1),
            "tokenizer.json: model.dropout = 0.1 would make ids random: set it to null");
  EXPECT_EQ(refusalWith("/model/end_of_word_suffix", "</w>"),
            "tokenizer.json: model.end_of_word_suffix = \"</w>\" is not supported");
  EXPECT_EQ(refusalWith("/version", "2.0"), "tokenizer.json: version \"2.0\" is not supported (known: 1.0)");
}

TEST(HuggingFace, numbersThatDisagreeAreNamed) {
  EXPECT_EQ(
      refusalWith("/added_tokens/1/id", 9),
      "tokenizer.json: added_tokens[1] \"</s>\" has id 9 in the file, but comes to id 5 by its place there");
  EXPECT_EQ(refusalWith("/model/vocab/b", 0), "tokenizer.json: model.vocab gives id 0 to \"a\" and to \"b\"");
  EXPECT_EQ(refusalWith("/model/vocab/c", 4000000000u),
            "tokenizer.json: ids go up to 4000000000, but there are 4 tokens");
  EXPECT_EQ(refusalWith("/model/merges/0", "a c"),
            "tokenizer.json: model.merges[0] \"a\" \"c\" needs token \"ac\", which is not in model.vocab");
  EXPECT_EQ(refusalWith("/model/unk_token", "?"),
            "tokenizer.json: model.unk_token \"?\" is not in model.vocab");
  ordered_json around = {{"type", "TemplateProcessing"},
                         {"single", {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}}},
                         {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {99}}, {"tokens", {"<s>"}}}}}}};
  EXPECT_EQ(refusalWith("/post_processor", around),
            "tokenizer.json: post_processor.single[0]: id 99 is not among the 7 ids of the vocabulary");
}

TEST(HuggingFace, damagedFilesSayWhere) {
  Folder folder;
  EXPECT_TRUE(folder.refusal().starts_with("tokenizer.json is missing in "));
  folder.write("tokenizer.json", std::string("{\"version\": \"1.0\",\n  \"model\": {]}"));
  EXPECT_NE(folder.refusal().find("line 2 column"), std::string::npos) << folder.refusal();
  folder.write("tokenizer.json",
               "{\"normalizer\": " + std::string(100000, '[') + std::string(100000, ']') + "}");
  EXPECT_NE(folder.refusal().find("recursion limit exceeded"), std::string::npos) << folder.refusal();
  folder.write("tokenizer.json", tiny());
  folder.write("tokenizer_config.json", "{\"a\": " + std::string(100, '[') + std::string(100, ']') + "}");
  EXPECT_EQ(folder.refusal(), "tokenizer_config.json: 101 brackets within each other, at most 64 are read");
  folder.write("tokenizer_config.json", std::string("[1"));
  EXPECT_NE(folder.refusal().find("tokenizer_config.json: not valid JSON: line 1, column 3"),
            std::string::npos)
      << folder.refusal();
}

TEST(HuggingFace, whatWouldTakeForEverOrFillTheMemoryEnds) {
  ordered_json steps = ordered_json::array();
  for (int i = 0; i < 40; ++i) {
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aaaa"}});
  }
  ordered_json file = tiny();
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
  Folder folder;
  folder.write("tokenizer.json", file);
  auto ids = folder.tokenizer().encode("a", {});
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.error().message(),
            "tokenizer.json: the normalizer turns 1 bytes of text into more than 262144, at most 65600 are "
            "allowed");
  EXPECT_EQ(refusalWith("/decoder", {{"type", "Sequence"}, {"decoders", steps}}),
            "tokenizer.json: decoder: token \"a\" becomes a text of more than 262144 bytes");
  ordered_json slow = {
      {"type", "Split"}, {"pattern", {{"Regex", "(a|a)*$"}}}, {"behavior", "Isolated"}, {"invert", false}};
  file = tiny();
  file["pre_tokenizer"] = slow;
  folder.write("tokenizer.json", file);
  ids = folder.tokenizer().encode(std::string(64, 'a') + "b", {});
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.error().message(),
            "tokenizer.json: a regular expression of the file was given up: retry-limit-in-match over");
  EXPECT_EQ(refusalWith("/pre_tokenizer", {{"type", "FixedLength"}, {"length", 0}}),
            "tokenizer.json: pre_tokenizer.length is not a whole number from 1 on");
  EXPECT_EQ(refusalWith("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "/////w=="}}),
            "tokenizer.json: precompiled_charsmap: a trie of 4294967295 bytes in 0 bytes");
}

// --- Files beside it
// -----------------------------------------------------------------------------------------------

TEST(HuggingFace, namesAreTextsOrObjectsAndBosIsAddedAsStated) {
  Folder folder;
  folder.write("tokenizer.json", tiny());
  folder.write("tokenizer_config.json", ordered_json{{"bos_token", addedToken(4, "<s>")},
                                                     {"eos_token", "</s>"},
                                                     {"add_bos_token", true},
                                                     {"add_eos_token", true}});
  Tokenizer tokenizer = folder.tokenizer();
  EXPECT_EQ(tokenizer.bosId(), 4);
  EXPECT_EQ(*tokenizer.encode("a", {}), (Ids{4, 0, 5}));
  EXPECT_EQ(*tokenizer.encode("<s>a", {.parse_special = true}), (Ids{4, 0, 5})) << "no second <s>";
  EXPECT_EQ(*tokenizer.encode("a", {.add_bos = false}), (Ids{0}));
  folder.write("tokenizer_config.json", ordered_json{{"bos_token", "<none>"}});
  EXPECT_EQ(folder.refusal(),
            "tokenizer_config.json: bos_token \"<none>\" is not among the 7 tokens of tokenizer.json");
}

TEST(HuggingFace, tokensOfTheConfigAreAdded) {
  Folder folder;
  folder.write("tokenizer.json", tiny());
  ordered_json more = addedToken(7, "<tool>", false);
  folder.write("tokenizer_config.json", ordered_json{{"added_tokens_decoder", {{"7", more}}}});
  EXPECT_EQ(*folder.tokenizer().encode("a<tool>", {}), (Ids{0, 7}));
  folder.write("tokenizer_config.json", ordered_json{{"added_tokens_decoder", {{"8", more}}}});
  EXPECT_EQ(folder.refusal(),
            "tokenizer.json: tokens of tokenizer_config.json[0] \"<tool>\" has id 8 in the file, but comes "
            "to id 7 by its "
            "place there");
}

TEST(HuggingFace, stopIdsAreTheUnionOfAllFiles) {  // case 11
  Folder folder;
  folder.write("tokenizer.json", tiny());
  folder.write("config.json", ordered_json{{"architectures", {"LlamaForCausalLM"}}, {"eos_token_id", 4}});
  EXPECT_EQ(folder.tokenizer().stopIds(), (Ids{4})) << "a bare number";
  folder.write("generation_config.json", ordered_json{{"eos_token_id", {5, 1}}});
  EXPECT_EQ(folder.tokenizer().stopIds(), (Ids{1, 4, 5})) << "and a list";
  folder.write("generation_config.json", ordered_json{{"eos_token_id", nullptr}});
  folder.write("tokenizer_config.json", ordered_json{{"eos_token", "</s>"}});
  EXPECT_EQ(folder.tokenizer().stopIds(), (Ids{4, 5})) << "the tokenizer's own";
  folder.write("tokenizer_config.json",
               ordered_json{{"eos_token", "</s>"},
                            {"chat_template", "{% for m in messages %}{{ m.content }}<turn>{% endfor %}"}});
  EXPECT_EQ(folder.tokenizer().stopIds(), (Ids{4, 5, 6})) << "what ends a turn in the template";
  folder.write("generation_config.json", ordered_json{{"eos_token_id", "</s>"}});
  EXPECT_EQ(folder.refusal(),
            "generation_config.json: eos_token_id holds \\\"</s>\\\", which is no token id");
}

TEST(HuggingFace, templateFileWinsOverTheConfig) {
  Folder folder;
  folder.write("tokenizer.json", tiny());
  EXPECT_FALSE(folder.tokenizer().hasChatTemplate());
  folder.write("tokenizer_config.json", ordered_json{{"chat_template",
                                                      {{{"name", "tool_use"}, {"template", "tools"}},
                                                       {{"name", "default"}, {"template", "config"}}}}});
  EXPECT_EQ(*folder.tokenizer().renderChat({}, false), "config");
  folder.write("chat_template.jinja", std::string("file"));
  EXPECT_EQ(*folder.tokenizer().renderChat({}, false), "file");
}

// --- Decoders
// ------------------------------------------------------------------------------------------------------

TEST(HuggingFace, firstSpaceGoesAsTheDecoderSays) {
  ordered_json file = tiny();
  file["model"]["vocab"] = {{"\u2581a", 0}, {"b", 1}, {"c", 2}, {"\u2581", 3}};
  file["model"]["merges"] = ordered_json::array();
  Folder folder;
  file["decoder"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}, {"split", true}};
  folder.write("tokenizer.json", file);
  EXPECT_EQ(folder.tokenizer().decode({0, 0, 1}), "a ab");
  ordered_json replace = {{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}};
  file["decoder"] = {{"type", "Sequence"},
                     {"decoders",
                      {replace,
                       {{"type", "ByteFallback"}},
                       {{"type", "Fuse"}},
                       {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}};
  folder.write("tokenizer.json", file);
  EXPECT_EQ(folder.tokenizer().decode({3, 0, 0, 1}), " a ab") << "one space, not all";
  file["decoder"] = nullptr;
  folder.write("tokenizer.json", file);
  EXPECT_EQ(folder.tokenizer().decode({1, 2}), "b c") << "without a decoder the reference joins by spaces";
  file["decoder"] = {{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, replace}}};
  folder.write("tokenizer.json", file);
  EXPECT_EQ(folder.refusal(),
            "tokenizer.json: decoder.decoders[1]: Replace at this place of a decoder is not supported");
}

}  // namespace
}  // namespace sublane::text
