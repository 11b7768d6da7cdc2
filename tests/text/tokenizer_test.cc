#include <gtest/gtest.h>

#include "text/pre_tokenizers.h"
#include "text/rust_library.h"
#include "text/text.h"
#include "tiny_vocabulary.h"

namespace sublane::text {
namespace {

using Ids = std::vector<int32_t>;

Tokenizer build(const io::Metadata& metadata) {
  auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(metadata));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().text();
  return std::move(tokenizer).value();
}
std::string refusal(const io::Metadata& metadata) {
  auto tokenizer = Tokenizer::fromCheckpoint(checkpointOf(metadata));
  if (tokenizer.ok()) return "accepted";
  EXPECT_EQ(tokenizer.error().fault(), Fault::kInput);
  return tokenizer.error().message();
}
Ids encode(const Tokenizer& tokenizer, const std::string& text, bool special = false) {
  auto ids = tokenizer.encode(text, {.add_bos = false, .parse_special = special});
  EXPECT_TRUE(ids.ok()) << ids.error().text();
  return *ids;
}

// --- Special tokens
// -------------------------------------------------------------------------------------------------

TEST(Tokenizer, controlTokensAreTextUnlessAskedFor) {
  Tokenizer tokenizer = build(byteLevel({"<|im_start|>", "<em>"}, {}, {3, 4}));
  EXPECT_EQ(encode(tokenizer, "<|im_start|>").size(), 12u);
  EXPECT_EQ(tokenizer.decode(encode(tokenizer, "<|im_start|>")), "<|im_start|>");
  EXPECT_EQ(encode(tokenizer, "a<|im_start|>b", true), (Ids{'a', 256, 'b'}));
  EXPECT_EQ(encode(tokenizer, "a<em>b"), (Ids{'a', 257, 'b'})) << "user-defined tokens always match";
}

TEST(Tokenizer, longestSpecialTokenWinsAtAPlace) {
  Tokenizer tokenizer = build(byteLevel({"<a>", "<a><a>", "a><b"}, {}, {4, 4, 4}));
  EXPECT_EQ(encode(tokenizer, "<a><a><a>"), (Ids{257, 256}));
  EXPECT_EQ(encode(tokenizer, "<a><b>"), (Ids{256, '<', 'b', '>'})) << "leftmost before longest";
}

TEST(Tokenizer, bosIsPrependedOnceAndOnlyIfTheFileSaysSo) {
  io::Metadata metadata = byteLevel({"<s>"}, {}, {3});
  metadata["tokenizer.ggml.bos_token_id"] = {int64_t{256}};
  EXPECT_EQ(*build(metadata).encode("a", {}), (Ids{'a'}));
  metadata["tokenizer.ggml.add_bos_token"] = {true};
  Tokenizer tokenizer = build(metadata);
  EXPECT_EQ(*tokenizer.encode("a", {}), (Ids{256, 'a'}));
  EXPECT_EQ(*tokenizer.encode("", {}), (Ids{256}));
  EXPECT_EQ(*tokenizer.encode("a", {.add_bos = false}), (Ids{'a'}));
  EXPECT_EQ(*tokenizer.encode("<s>a", {.parse_special = true}), (Ids{256, 'a'}));
  EXPECT_EQ(tokenizer.encode("<s>a", {})->front(), 256);
  EXPECT_EQ(tokenizer.encode("<s>a", {})->size(), 5u) << "a typed <s> is text, so BOS still comes before it";
}

TEST(Tokenizer, familiesAddBosWhereTheFileIsSilent) {
  io::Metadata llama3 = byteLevel({"<s>"}, {}, {3}, "llama-bpe");
  llama3["tokenizer.ggml.bos_token_id"] = {int64_t{256}};
  EXPECT_EQ(build(llama3).encode("a", {})->front(), 256);
  EXPECT_EQ(build(sentencePiece({{"a", -1}})).encode("a", {})->front(), 1);
}

// --- SentencePiece
// --------------------------------------------------------------------------------------------------

TEST(Tokenizer, sentencePieceMergesByScoreThenFromTheLeft) {
  Tokenizer tokenizer =
      build(sentencePiece({{"a", -10}, {"b", -11}, {"c", -12}, {"ab", -2}, {"bc", -1}, {"aa", -3}}));
  EXPECT_EQ(encode(tokenizer, "abc"), (Ids{259, 263}));
  EXPECT_EQ(encode(tokenizer, "aaa"), (Ids{264, 259})) << "of equal scores the leftmost";
  EXPECT_EQ(encode(tokenizer, "abab"), (Ids{262, 262}));
}

TEST(Tokenizer, sentencePieceSpellsUnknownTextInBytes) {
  Tokenizer tokenizer = build(sentencePiece({{"a", -1}, {"\u2581", -2}}));
  EXPECT_EQ(encode(tokenizer, "a🦙"), (Ids{259, 3 + 0xF0, 3 + 0x9F, 3 + 0xA6, 3 + 0x99}));
  EXPECT_EQ(encode(tokenizer, "a a"), (Ids{259, 260, 259}));
  EXPECT_EQ(encode(tokenizer, "<s>", false).size(), 3u) << "control tokens are never spelt out by merging";
}

TEST(Tokenizer, sentencePieceWithoutByteTokensFallsBackToUnknown) {
  io::Metadata metadata = sentencePiece({{"a", -1}});
  std::get<std::vector<int64_t>>(metadata["tokenizer.ggml.token_type"].value)[3 + 0xF0] = 1;
  EXPECT_EQ(encode(build(metadata), "a🦙"), (Ids{259, 0}));
  metadata.erase("tokenizer.ggml.unknown_token_id");
  auto ids = build(metadata).encode("a🦙", {});
  ASSERT_FALSE(ids.ok());
  EXPECT_NE(ids.error().message().find("neither all byte tokens nor an unknown token"), std::string::npos);
}

TEST(Tokenizer, runOfSpacesIsOneTokenHoweverItIsWritten) {
  Tokenizer tokenizer =
      build(sentencePiece({{"a", -9}, {"\u2581", -9}, {"  ", -1000, 4}, {"   ", -1000, 4}}));
  EXPECT_EQ(encode(tokenizer, "a   a"), (Ids{259, 262, 259}));
  EXPECT_EQ(encode(tokenizer, "a\u2581  a"), (Ids{259, 262, 259}));
  EXPECT_EQ(encode(tokenizer, "     "), (Ids{262, 261}));
  EXPECT_EQ(tokenizer.decode({259, 261, 259}), "a  a");
}

TEST(Tokenizer, spacePrefixIsAddedAndTakenBack) {
  std::vector<Piece> pieces = {{"\u2581", -9}, {"a", -8}, {"\u2581a", -1}};
  Tokenizer with = build(sentencePiece(pieces, true)), without = build(sentencePiece(pieces, false));
  EXPECT_EQ(encode(with, "a"), (Ids{261}));
  EXPECT_EQ(encode(without, "a"), (Ids{260}));
  EXPECT_EQ(with.decode({261, 261}), "a a");
  EXPECT_EQ(without.decode({261, 261}), " a a");
}

TEST(Tokenizer, unusedPiecesAreSteppingStonesOnly) {
  Tokenizer tokenizer = build(sentencePiece({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -1, 5}, {"abc", -2}}));
  EXPECT_EQ(encode(tokenizer, "abc"), (Ids{263}));
  EXPECT_EQ(encode(tokenizer, "ab"), (Ids{259, 260}));
}

// --- Stop ids (case 11)
// ---------------------------------------------------------------------------------------------

TEST(Tokenizer, stopIdsAreTheUnionOfTheFilesSources) {
  io::Metadata metadata = byteLevel({"<s>", "</s>", "<|eot|>", "<turn end>", "<|im_end|>", "<end_of_turn>"},
                                    {}, {3, 3, 3, 3, 3, 1});
  metadata["tokenizer.ggml.eos_token_id"] = {int64_t{257}};
  EXPECT_EQ(build(metadata).stopIds(), (Ids{257, 258, 260})) << "a normal token of that name does not stop";
  metadata["tokenizer.chat_template"] = {
      std::string("{% for m in messages %}{{ m.content }}\n<turn end>{% endfor %}")};
  EXPECT_EQ(build(metadata).stopIds(), (Ids{257, 258, 259, 260})) << "what the template puts after an answer";
  metadata["tokenizer.ggml.eot_token_id"] = {int64_t{256}};
  EXPECT_EQ(build(metadata).stopIds(), (Ids{256, 257, 258, 259, 260}));
}

TEST(Tokenizer, endingTokenGivesNoText) {
  Tokenizer tokenizer = build(byteLevel({"<|im_end|>"}, {}, {3}));
  EXPECT_EQ(tokenizer.decode({'o', 'k', 256}), "ok");
}

// --- Bad input
// ------------------------------------------------------------------------------------------------------

TEST(Tokenizer, textThatIsNotUtf8NamesTheByte) {
  auto ids = build(byteLevel({}, {})).encode("ab\xFF", {});
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.error().message(), "text is not UTF-8: byte 0xFF at offset 2 of 3");
}

TEST(Tokenizer, metadataFaultsAreNamedAllAtOnce) {
  EXPECT_EQ(refusal({}),
            "tiny.gguf: tokenizer: tokenizer.ggml.model is missing: the file carries no tokenizer");
  EXPECT_EQ(refusal({{"tokenizer.ggml.model", {std::string("llama")}}}),
            "tiny.gguf: tokenizer: tokenizer.ggml.tokens is missing\n  tokenizer.ggml.scores is missing");
  io::Metadata unknown = byteLevel({}, {});
  unknown["tokenizer.ggml.model"] = {std::string("bert")};
  EXPECT_EQ(
      refusal(unknown),
      "tiny.gguf: tokenizer: tokenizer.ggml.model \"bert\" (WordPiece) is not supported (known: gpt2, llama, "
      "t5)");
  io::Metadata many = byteLevel({}, {});
  many.erase("tokenizer.ggml.pre");
  many.erase("tokenizer.ggml.merges");
  many["tokenizer.ggml.bos_token_id"] = {int64_t{999}};
  many["tokenizer.ggml.token_type"] = {std::vector<int64_t>{1, 2}};
  EXPECT_EQ(refusal(many),
            "tiny.gguf: tokenizer: tokenizer.ggml.token_type has 2 entries, tokens has 256\n"
            "  tokenizer.ggml.pre is missing: how to cut words is unknown (known: " +
                preTokenizerNames() +
                ")\n"
                "  tokenizer.ggml.merges is missing\n"
                "  tokenizer.ggml.bos_token_id is 999, but there are 256 tokens");
}

TEST(Tokenizer, malformedListsAreNamed) {
  io::Metadata scores = sentencePiece({{"a", -1}});
  scores["tokenizer.ggml.scores"] = {std::vector<double>(7)};
  EXPECT_EQ(refusal(scores), "tiny.gguf: tokenizer: tokenizer.ggml.scores has 7 entries, tokens has 260");
  EXPECT_EQ(refusal(byteLevel({"ab"}, {"a b", "a xy"})),
            "tiny.gguf: tokenizer: tokenizer.ggml.merges[1] \"a xy\" needs token \"xy\", which is not in the "
            "vocabulary");
  EXPECT_EQ(refusal(byteLevel({"ab"}, {"a c"})),
            "tiny.gguf: tokenizer: tokenizer.ggml.merges[0] \"a c\" needs token \"ac\", which is not in the "
            "vocabulary");
  EXPECT_EQ(refusal(byteLevel({"ab"}, {"ab"})),
            "tiny.gguf: tokenizer: tokenizer.ggml.merges[0] \"ab\" is not two tokens with one space between");
  EXPECT_EQ(
      refusal(byteLevel({"ab", "ab"}, {})),
      "tiny.gguf: tokenizer: tokenizer.ggml.tokens[257] \"ab\" is already token 256: ids must be unique");
  EXPECT_EQ(refusal(byteLevel({"a\xFF"}, {})),
            "tiny.gguf: tokenizer: tokenizer.ggml.tokens[256] is not UTF-8 at its byte 1");
  EXPECT_EQ(refusal(byteLevel({"x"}, {}, {9})),
            "tiny.gguf: tokenizer: tokenizer.ggml.token_type[256] is 9, known are 1 to 6");
  EXPECT_EQ(refusal(sentencePiece({{"byte", 0, 6}})),
            "tiny.gguf: tokenizer: tokenizer.ggml.tokens[259] \"byte\" has the type of a byte but not the "
            "form <0x0A>");
  io::Metadata typed = byteLevel({}, {});
  typed["tokenizer.ggml.tokens"] = {int64_t{5}};
  EXPECT_NE(refusal(typed).find("tokenizer.ggml.tokens is not a list of texts"), std::string::npos);
}

TEST(Tokenizer, whatWouldChangeTheIdsIsRefused) {
  io::Metadata eos = byteLevel({}, {});
  eos["tokenizer.ggml.add_eos_token"] = {true};
  EXPECT_NE(refusal(eos).find("add_eos_token = true is not supported"), std::string::npos);
  io::Metadata charsmap = sentencePiece({{"a", -1}});
  charsmap["tokenizer.ggml.precompiled_charsmap"] = {std::vector<int64_t>{1}};
  EXPECT_NE(refusal(charsmap).find("precompiled_charsmap"), std::string::npos);
  charsmap.erase("tokenizer.ggml.precompiled_charsmap");
  charsmap["tokenizer.ggml.remove_extra_whitespaces"] = {true};
  EXPECT_NE(refusal(charsmap).find("remove_extra_whitespaces"), std::string::npos);
}

TEST(Tokenizer, bytesWithoutATokenAreAnErrorNotALoss) {
  io::Metadata metadata = byteLevel({}, {});
  std::get<Texts>(metadata["tokenizer.ggml.tokens"].value)['z'] = "replaced";
  auto ids = build(metadata).encode("zoo", {});
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.error().message(), "the vocabulary has no token for byte 0x7A, which the text holds");
}

TEST(Tokenizer, panicOfTheRustSideIsAnError) {
  auto result = rust::provokePanic();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().fault(), Fault::kMachine);
  EXPECT_NE(result.error().message().find("asked to"), std::string::npos) << result.error().message();
}

TEST(Tokenizer, describesItself) {
  EXPECT_EQ(build(sentencePiece({{"a", -1}})).describe(), "SentencePiece BPE, 260 tokens, bos 1, stops 2");
  EXPECT_EQ(build(byteLevel({}, {})).describe(), "byte-level BPE (gpt-2), 256 tokens");
}

}  // namespace
}  // namespace sublane::text
