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
// Letters with a case, as of the Unicode that the model was made with; by number, since some look like
// others.
constexpr std::string_view kCased =
    R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293})"
    R"(\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A})"
    R"(\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556})"
    R"(\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF})"
    R"(\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D})"
    R"(\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D})"
    R"(\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC})"
    R"(\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC})"
    R"(\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128})"
    R"(\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183})"
    R"(\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D})"
    R"(\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF})"
    R"(\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F})"
    R"(\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})"
    R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";
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
