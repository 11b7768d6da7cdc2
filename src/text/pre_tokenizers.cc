#include "text/pre_tokenizers.h"

#include <algorithm>

namespace sublane::text {
namespace {

// The patterns are those that the models publish in their tokenizer.json (or tokenizer code); which name
// stands for which is from llama.cpp's public reader and converter (src/llama-vocab.cpp, 2026). Two
// neighbours of a table there are written by us as the model's own file has them, where llama.cpp comes near:
// falcon and bloom.

// Contractions in either case, a word with one leading sign, digits, signs with their line ends, spaces.
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// The same, with digits one by one.
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// The same, with combining marks as parts of words.
constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Runs of spaces by powers of two.
constexpr std::string_view kJais2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";
constexpr std::string_view kMiniCpm5 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kUfakZeka =
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kBailing =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kExaoneMoe =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Words cut where small letters are followed by capital ones.
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kYoutu =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kKimiK2 =
    R"([\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Han and kana apart, words with one leading sign of ASCII, signs with their line ends.
constexpr std::string_view kDeepSeekHan = "[一-龥\u3040-ゟ゠-ヿ]+";
constexpr std::string_view kDeepSeekWords =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSparkWords =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kCased =
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";
constexpr std::string_view kWideSigns = "\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+";
constexpr std::string_view kEastAsia = "[一-龥ࠀ-一가-\ud7ff]+";
constexpr std::string_view kBloom = R"( ?[^(\s|[.,!?…。，、।۔،])]+)";

std::vector<PreTokenizer> makeTable() {
  const std::vector<Step> digits_gpt2 = {{Step::kDigits}, {Step::kGpt2}};
  const std::vector<Step> deepseek_v3 = {
      {Step::kPattern, R"(\p{N}{1,3})"}, {Step::kPattern, kDeepSeekHan}, {Step::kPattern, kDeepSeekWords}};
  return {
      // What the format's own readers mean by "default": signs, then GPT-2's cuts, then digits by threes.
      {.names = {"default"},
       .steps = {{Step::kPattern, R"([\p{P}\$\+<=>\^~\|]+)"},
                 {Step::kPattern, kGpt2},
                 {Step::kPattern, R"(\p{N}+)"},
                 {Step::kPattern, "[0-9][0-9][0-9]"}}},
      {.names = {"gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4", "jina-es",
                 "jina-de", "jina-v2-es", "jina-v2-de", "gigachat", "a.x-4.0", "mellum", "modern-bert"},
       .steps = {{Step::kGpt2}}},
      {.names = {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
                 "jina-v5-nano"},
       .steps = {{Step::kPattern, kLlama3}},
       .ignore_merges = true,
       .add_bos = true},
      {.names = {"dbrx", "smaug-bpe", "chatglm-bpe", "glm4"}, .steps = {{Step::kPattern, kLlama3}}},
      {.names = {"jais-2"}, .steps = {{Step::kPattern, kJais2}}},
      {.names = {"qwen2", "stablelm2", "hunyuan", "solar-open", "grok-2", "megrez", "deepseek-r1-qwen",
                 "kormo", "f2llmv2"},
       .steps = {{Step::kPattern, kQwen2}}},
      {.names = {"qwen35"}, .steps = {{Step::kPattern, kQwen35}}},
      {.names = {"laguna"}, .steps = {{Step::kPattern, R"([^\n]+|[\n]+)"}, {Step::kPattern, kQwen2}}},
      {.names = {"minicpm5"},
       .steps = {{Step::kPattern, R"(\p{N}{1,3})"}, {Step::kPattern, kMiniCpm5}},
       .ignore_merges = true},
      {.names = {"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b",
                 "mellum2"},
       .steps = digits_gpt2},
      {.names = {"falcon"},
       .steps = {{Step::kSigns}, {Step::kGpt2}, {Step::kNumbers}, {Step::kPattern, "[0-9][0-9][0-9]"}}},
      {.names = {"deepseek-llm"},
       .steps = {{Step::kPattern, "[\r\n]"},
                 {Step::kPattern, kCased},
                 {Step::kPattern, kWideSigns},
                 {Step::kPattern, R"(\s+$)"},
                 {Step::kPattern, kEastAsia},
                 {Step::kPattern, R"(\p{N}+)"}}},
      {.names = {"deepseek-coder"},
       .steps = {{Step::kPattern, "[\r\n]"},
                 {Step::kPattern, R"(\s?\p{L}+)"},
                 {Step::kPattern, R"(\s?\p{P}+)"},
                 {Step::kPattern, kEastAsia},
                 {Step::kPattern, R"(\p{N})"}}},
      {.names = {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"}, .steps = deepseek_v3},
      {.names = {"spark2_5"},
       .steps = {{Step::kPattern, R"(\p{N}{1,3})"},
                 {Step::kPattern, kDeepSeekHan},
                 {Step::kPattern, kSparkWords},
                 {Step::kPattern, R"(\p{N})"}}},
      {.names = {"youtu"},
       .steps = {{Step::kPattern, "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]+"},
                 {Step::kPattern, kYoutu}},
       .ignore_merges = true},
      {.names = {"bloom", "poro-chat", "gpt3-finnish"}, .steps = {{Step::kPattern, kBloom}}},
      {.names = {"viking"}, .steps = {{Step::kPattern, kBloom}, {Step::kPattern, R"(\p{N})"}}},
      {.names = {"tekken"}, .steps = {{Step::kPattern, kTekken}}, .ignore_merges = true, .add_bos = true},
      {.names = {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, .steps = {{Step::kPattern, kGpt4o}}},
      {.names = {"tiny_aya", "cohere2moe"},
       .steps = {{Step::kPattern, R"(\d{1,3}(?=(?:\d{3})*\b))"}, {Step::kPattern, kGpt4o}}},
      {.names = {"kimi-k2"}, .steps = {{Step::kPattern, kKimiK2}}},
      {.names = {"superbpe"},
       .steps = {{Step::kPattern, R"(\p{N}+)"}, {Step::kPattern, R"((?=(\d{3})+(?!\d)))"}}},
      {.names = {"bailingmoe", "bailingmoe2", "llada-moe"}, .steps = {{Step::kPattern, kBailing}}},
      {.names = {"seed-coder"}, .steps = {{Step::kPattern, kSeedCoder}}},
      {.names = {"exaone-moe"}, .steps = {{Step::kPattern, kExaoneMoe}}},
      {.names = {"ufakzeka"}, .steps = {{Step::kPattern, kUfakZeka}}},
      {.names = {"chameleon"},
       .steps = {{Step::kPattern, "<sentinel:[0-9]+>"},
                 {Step::kPattern, "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"},
                 {Step::kPattern, R"(([\t\n]|    |  ))"},
                 {Step::kDigits},
                 {Step::kPattern, R"([\p{P}!-/:-@\[-`{-~])"},
                 {Step::kGpt2}},
       .add_bos = true},
  };
}

const std::vector<PreTokenizer>& table() {
  static const std::vector<PreTokenizer> rows = makeTable();
  return rows;
}

}  // namespace

const PreTokenizer* findPreTokenizer(std::string_view name) {
  for (const PreTokenizer& row : table()) {
    if (std::ranges::find(row.names, name) != row.names.end()) return &row;
  }
  return nullptr;
}

std::string preTokenizerNames() {
  std::vector<std::string_view> all;
  for (const PreTokenizer& row : table()) all.insert(all.end(), row.names.begin(), row.names.end());
  std::string names;
  for (std::string_view name : all) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace sublane::text
