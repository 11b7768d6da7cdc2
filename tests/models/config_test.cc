// Reading configurations: every key consumed, refused or ignored by name, and every tensor accounted for.
#include "tiny_model.h"

namespace sublane::models {
namespace {

testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << part << "\" is not in \"" << text << "\"";
}

io::Checkpoint hfConfig(const std::string& text) {
  std::string path = testing::TempDir() + "config_test.json";
  std::ofstream(path) << text;
  return must(io::openConfig(path));
}

/// Llama-3.1-8B's own config.json.
const char* const kLlama3 = R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009], "hidden_act": "silu", "hidden_size": 4096,
  "initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 131072, "mlp_bias": false,
  "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
  "pretraining_tp": 1, "rms_norm_eps": 1e-05,
  "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 8192, "rope_type": "llama3"},
  "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
  "transformers_version": "4.42.3", "use_cache": true, "vocab_size": 128256})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string errorOf(const io::Checkpoint& checkpoint) {
  Result<DecoderConfig> config = readConfig(checkpoint);
  return config.ok() ? "no error" : config.error().message();
}

TEST(Rotary, Llama3ScalingNumbers) {  // case 20
  DecoderConfig config = must(readConfig(hfConfig(kLlama3)));
  Rotary plain = config.rotaries[0];
  plain.scaling = Rotary::Scaling::kNone;
  std::vector<double> scaled = rotaryFrequencies(config.rotaries[0]), original = rotaryFrequencies(plain);
  ASSERT_EQ(scaled.size(), 64u);
  auto ratio = [&](size_t pair) { return scaled[pair] / original[pair]; };
  for (size_t pair = 0; pair <= 28; ++pair) EXPECT_EQ(ratio(pair), 1.0) << pair;
  EXPECT_NEAR(ratio(29), 0.828168, 5e-7);
  EXPECT_NEAR(ratio(30), 0.643743, 5e-7);
  EXPECT_NEAR(ratio(34), 0.190211, 5e-7);
  for (size_t pair = 35; pair < 64; ++pair) EXPECT_DOUBLE_EQ(ratio(pair), 0.125) << pair;
  EXPECT_NEAR(scaled[29], 0.00216657076, 5e-12);
  EXPECT_NEAR(scaled[63], 3.06892599e-07, 5e-16);
}

TEST(Rotary, TablesAreExactAtFarPositions) {  // case 59
  Rotary rotary{.theta = 500000, .dim = 128};
  std::vector<float> cos(131072 * 64);
  fillRotaryTable(rotary, RotaryTable::kCos, cos);
  for (int64_t position : {1, 257, 2049, 131071}) {
    double angle = static_cast<double>(position) * std::pow(500000.0, -2.0 / 128);
    EXPECT_EQ(cos[static_cast<size_t>(position * 64 + 1)], static_cast<float>(std::cos(angle))) << position;
  }
}

TEST(RotaryPairs, UnpermuteUndoesPermute) {  // case 25
  EXPECT_EQ(unpermuteRotaryPairs(8, 1), (std::vector<int64_t>{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(permuteRotaryPairs(8, 2), (std::vector<int64_t>{0, 2, 1, 3, 4, 6, 5, 7}));
  for (auto [rows, heads] : {std::pair{36, 3}, {64, 1}, {20, 5}}) {
    std::vector<int64_t> there = permuteRotaryPairs(rows, heads), back = unpermuteRotaryPairs(rows, heads);
    for (int64_t row = 0; row < rows; ++row) {
      EXPECT_EQ(there[static_cast<size_t>(back[static_cast<size_t>(row)])], row);
      EXPECT_EQ(back[static_cast<size_t>(row)] / (rows / heads), row / (rows / heads))
          << "a row left its head";
    }
  }
}

TEST(RotaryPairs, PackedRowsMoveWhole) {  // case 25, quantised rows
  constexpr int64_t kRows = 8, kColumns = 64;
  std::vector<std::byte> bytes(static_cast<size_t>(kRows) * 68);  // two Q8_0 blocks a row
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i % 34 < 2 ? 0x2c : i * 37 % 251);
  io::Checkpoint checkpoint;
  checkpoint.tensors = {{"q", {kRows, kColumns}, formats::Packing::kQ8_0, bytes, 0}};
  std::vector<float> stored(kRows * kColumns), halves(kRows * kColumns);
  TensorSource source{"q", Layout::kUnpermuteRotaryPairs, 2};
  must(readRows(checkpoint, {"q"}, 0, stored));
  must(readRows(checkpoint, source, 0, std::span(halves).first(3 * kColumns)));  // in two parts
  must(readRows(checkpoint, source, 3, std::span(halves).subspan(3 * kColumns)));
  for (auto [row, from] : {std::pair{0, 0}, {1, 2}, {2, 1}, {3, 3}, {4, 4}, {5, 6}, {6, 5}, {7, 7}})
    for (int64_t i = 0; i < kColumns; ++i)
      EXPECT_EQ(halves[static_cast<size_t>(row * kColumns + i)],
                stored[static_cast<size_t>(from * kColumns + i)]);
}

TEST(ReadRows, PastTheEndIsAnError) {
  TinyModel tiny = hfModel("llama.json");
  std::vector<float> out(36 * 2);
  Status status = readRows(tiny.checkpoint, {"lm_head.weight"}, 0, out);
  EXPECT_TRUE(contains(status.error().message(), "missing lm_head.weight"));
  status = readRows(tiny.checkpoint, {"model.embed_tokens.weight"}, 60, out);
  EXPECT_TRUE(contains(status.error().message(), "[61,36] can't give 72 values from row 60 on"));
}

TEST(LlamaConfig, OfLlama3) {
  DecoderConfig config = must(readConfig(hfConfig(kLlama3)));
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.kv_heads, 8);
  EXPECT_FALSE(config.tied_embedding);
  EXPECT_EQ(config.layer_window, std::vector<int64_t>(32, 0));
  EXPECT_DOUBLE_EQ(config.attention_scale, 1 / std::sqrt(128.0));
  EXPECT_EQ(parameterCount(config), 8030261248);  // as published
  EXPECT_EQ(config.assumptions,
            (std::vector<std::string>{"head_dim absent: hidden_size / num_attention_heads = 128"}));
  EXPECT_TRUE(contains(describe(config)[2], "llama3 scaling by 8"));
  must(buildStep(config, {.tokens = 8, .sequences = 8, .pages_per_sequence = 64, .pages = 512},
                 {.layers_in_loop = true}, io::Container::kHuggingFace));
}

TEST(LlamaConfig, NewerAndOlderRotaryKeysAgree) {
  Rotary expected = must(readConfig(hfConfig(kLlama3))).rotaries[0];
  std::string older = replaced(kLlama3, "rope_type", "type");
  EXPECT_EQ(must(readConfig(hfConfig(older))).rotaries[0], expected);
  std::string newer =
      replaced(kLlama3, "\"rope_scaling\": {", "\"rope_parameters\": {\"rope_theta\": 500000.0, ");
  newer = replaced(newer, "\"rope_theta\": 500000.0, \"tie", "\"tie");
  EXPECT_EQ(must(readConfig(hfConfig(newer))).rotaries[0], expected);
  std::string both = replaced(newer, "\"tie", "\"rope_theta\": 10000.0, \"tie");
  EXPECT_TRUE(
      contains(errorOf(hfConfig(both)), "rope_parameters.rope_theta 500000 and rope_theta 10000 disagree"));
}

TEST(LlamaConfig, RefusesMathematicsItDoesNotHave) {
  std::string text = replaced(kLlama3, "\"mlp_bias\": false", "\"mlp_bias\": true, \"qk_layernorm\": true");
  text = replaced(text, "\"rope_type\": \"llama3\"", "\"rope_type\": \"su_rope\"");
  text = replaced(text, "\"hidden_act\": \"silu\"", "\"hidden_act\": \"relu\"");
  text = replaced(text, "\"rms_norm_eps\": 1e-05,", "\"partial_rotary_factor\": 0.5,");
  std::string error = errorOf(hfConfig(text));
  for (const char* part :
       {"6 faults", "mlp_bias = true is not supported", "qk_layernorm is not understood",
        "rms_norm_eps is missing",
        "rope_scaling.rope_type = \"su_rope\" is not supported (default, linear, llama3, yarn)",
        "hidden_act = \"relu\" is not supported (silu, gelu_pytorch_tanh)",
        "partial_rotary_factor = 0.5 is not supported (1)"})
    EXPECT_TRUE(contains(error, part));
  EXPECT_TRUE(contains(errorOf(hfConfig(replaced(kLlama3, ", \"rope_type\": \"llama3\"", ""))),
                       "rope_scaling.factor is not understood"));
}

TEST(LlamaConfig, SizesThatDontFit) {
  std::string text = replaced(kLlama3, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5");
  text = replaced(text, "\"vocab_size\": 128256", "\"vocab_size\": 128256, \"head_dim\": 127");
  std::string error = errorOf(hfConfig(text));
  EXPECT_TRUE(contains(error,
                       "config_test.json: llama: 32 heads are not a multiple of 5 kv heads; "
                       "rotary width 127 is not an even number up to the head width 127"));
}

TEST(LlamaConfig, ValuesOutOfRangeAreNamedByFileKeyAndRange) {
  struct Case {
    const char *key, *value, *says;
  };
  for (const Case& c : {Case{"num_hidden_layers", "1000000000000", "= 1000000000000 is outside 1..4096"},
                        Case{"num_hidden_layers", "0", "= 0 is outside 1..4096"},
                        Case{"vocab_size", "0", "= 0 is outside 1..2147483647"},
                        Case{"hidden_size", "-1", "= -1 is outside 1..2147483647"},
                        Case{"intermediate_size", "4294967296", "= 4294967296 is outside 1..2147483647"},
                        Case{"num_attention_heads", "0", "= 0 is outside 1..2147483647"},
                        Case{"num_key_value_heads", "0", "= 0 is outside 1..2147483647"},
                        Case{"max_position_embeddings", "0", "= 0 is outside 1..2147483647"},
                        Case{"rms_norm_eps", "0", "= 0 is not a finite number above 0"},
                        Case{"rms_norm_eps", "null", "is null"},
                        Case{"rope_theta", "0", "= 0 is not a finite number above 1"},
                        Case{"rms_norm_eps", "-1e-5", "= -1e-05 is not a finite number above 0"},
                        Case{"rope_theta", "-500000.0", "= -500000 is not a finite number above 1"}}) {
    std::string text = kLlama3;
    const size_t colon = text.find(':', text.find(fmt::format("\"{}\"", c.key)));
    const size_t end = text.find_first_of(",}", colon);
    const std::string error = errorOf(hfConfig(text.replace(colon + 1, end - colon - 1, c.value)));
    EXPECT_TRUE(contains(error, fmt::format("config_test.json: {} {}", c.key, c.says)));
  }
  TinyModel tiny = ggufModel("llama.json");
  tiny.checkpoint.metadata["llama.attention.layer_norm_rms_epsilon"] = {
      std::numeric_limits<double>::quiet_NaN()};
  EXPECT_TRUE(contains(errorOf(tiny.checkpoint),
                       "llama.attention.layer_norm_rms_epsilon = nan is not a finite number above 0"));
  tiny = ggufModel("llama.json");
  tiny.checkpoint.metadata["llama.attention.head_count"] = integer(0);
  const std::string error = errorOf(tiny.checkpoint);
  EXPECT_TRUE(contains(error, "llama.attention.head_count = 0 is outside 1..2147483647"));
  EXPECT_FALSE(contains(error, "rope")) << error;
}

TEST(LlamaConfig, GgufExtras) {
  TinyModel tiny = ggufModel("llama.json");
  tiny.checkpoint.metadata["llama.expert_used_count"] = integer(2);
  tiny.checkpoint.metadata["llama.rope.scaling.type"] = {std::string("longrope")};
  tiny.checkpoint.metadata["llama.rope.scaling.factor"] = number(4);
  tiny.checkpoint.metadata["llama.rope.dimension_count"] = integer(4);
  tiny.checkpoint.metadata["llama.logit_scale"] = number(2);
  tiny.add("rope_freqs.weight", {7}, std::vector<float>(7, 1.0f));
  std::string error = errorOf(tiny.checkpoint);
  for (const char* part :
       {"5 faults", "expert_used_count is 2 of no experts",
        "scaling.type = \"longrope\" is not supported (none, linear, yarn)",
        "dimension_count 4 is not the head's width 10",
        "rope_freqs.weight has shape [7], the head's width needs [5]", "llama.logit_scale is not understood"})
    EXPECT_TRUE(contains(error, part));
}

TEST(GemmaConfig, LayersAlternate) {
  DecoderConfig config = must(readConfig(hfModel("gemma3_capped.json").checkpoint));
  EXPECT_EQ(config.layer_window, (std::vector<int64_t>{7, 7, 0, 7}));
  EXPECT_EQ(config.layer_rotary, (std::vector<int32_t>{1, 1, 0, 1}));
  EXPECT_EQ(config.rotaries[0].scaling, Rotary::Scaling::kLinear);
  EXPECT_EQ(config.rotaries[1].theta, 100);
  EXPECT_DOUBLE_EQ(config.attention_scale, 1.0 / 3);
  EXPECT_DOUBLE_EQ(config.embedding_scale, std::sqrt(33.0));
  EXPECT_EQ(config.final_soft_cap, 3);
}

TEST(GemmaConfig, GgufDefaultsAreAssumptions) {
  TinyModel tiny = ggufModel("gemma3.json");
  io::Metadata& metadata = tiny.checkpoint.metadata;
  for (const char* key :
       {"gemma3.attention.sliding_window_pattern", "gemma3.rope.freq_base_swa", "gemma3.vocab_size"})
    metadata.erase(key);
  metadata["gemma3.block_count"] = integer(7);
  metadata["tokenizer.ggml.tokens"] = {std::vector<std::string>(53, "x")};
  DecoderConfig config = must(readConfig(tiny.checkpoint));
  EXPECT_EQ(config.layer_window, (std::vector<int64_t>{5, 5, 5, 5, 5, 0, 5}));
  EXPECT_EQ(config.rotaries[1].theta, 10000);
  EXPECT_EQ(config.vocabulary, 53);
  EXPECT_EQ(config.assumptions.size(), 5u);
  metadata["gemma3.block_count"] = integer(62);  // the 27B
  EXPECT_DOUBLE_EQ(must(readConfig(tiny.checkpoint)).attention_scale, 1 / std::sqrt(30.0 / 6));
}

TEST(GemmaConfig, Refusals) {
  io::Checkpoint checkpoint = hfModel("gemma3.json").checkpoint;
  checkpoint.metadata["attn_logit_softcapping"] = number(50);
  checkpoint.metadata["use_bidirectional_attention"] = {true};
  checkpoint.metadata["layer_types"] = {std::vector<std::string>{"full_attention", "chunked_attention"}};
  std::string error = errorOf(checkpoint);
  for (const char* part :
       {"attn_logit_softcapping = 50 is not supported", "use_bidirectional_attention = true is not supported",
        "layer_types: \"chunked_attention\" is not supported (sliding_attention, full_attention)"})
    EXPECT_TRUE(contains(error, part));
}

TEST(Architectures, UnknownOnesListWhatExists) {
  io::Checkpoint checkpoint;
  checkpoint.source = "x.gguf";
  checkpoint.architecture = "falcon";
  EXPECT_TRUE(
      contains(errorOf(checkpoint), "x.gguf: unknown architecture \"falcon\" (known: gemma2, gemma3, "));
  checkpoint.container = io::Container::kHuggingFace;
  EXPECT_TRUE(contains(errorOf(checkpoint),
                       "x.gguf: unknown architecture \"falcon\" (known: DeepseekV2ForCausalLM, "
                       "DeepseekV3ForCausalLM, "));
  checkpoint.architecture = "Gemma3ForConditionalGeneration";
  EXPECT_TRUE(
      contains(errorOf(checkpoint), "Gemma3ForConditionalGeneration is not supported: it reads images"));
}

TEST(Architectures, EveryModelIsListedOnce) {
  std::set<std::string_view> names;
  for (const Model* model : allModels()) {
    EXPECT_TRUE(names.insert(model->name).second);
    EXPECT_FALSE(model->gguf_architectures.empty() && model->hf_architectures.empty());
  }
  EXPECT_GE(names.size(), 3u);
}

TEST(Architectures, EveryModelHasAGolden) {
  for (const Model* model : allModels())
    EXPECT_TRUE(std::ifstream(goldenPath(std::string(model->name) + ".txt")).good()) << model->name;
}

std::string tensorError(const TinyModel& tiny) {
  Status status = checkTensors(tiny.checkpoint, must(readConfig(tiny.checkpoint)));
  return status.ok() ? "no error" : status.error().message();
}

TEST(CheckTensors, AllFaultsAtOnce) {
  TinyModel tiny = ggufModel("llama.json");
  for (io::Tensor& tensor : tiny.checkpoint.tensors) {
    if (tensor.name == "blk.1.attn_q.weight") tensor.name = "blk.1.attn_q.bias";
    if (tensor.name == "blk.2.ffn_up.weight") tensor.shape = {36, 44};
    if (tensor.name == "blk.0.ffn_down.weight") tensor.packing = formats::Packing::kI32;
  }
  EXPECT_EQ(tensorError(tiny),
            "tiny.gguf: 4 tensors do not fit model llama:\n"
            "    blk.0.ffn_down.weight holds integers (I32)\n"
            "    missing blk.1.attn_q.weight [60,36]\n"
            "    blk.2.ffn_up.weight has shape [36,44], the configuration needs [44,36]\n"
            "    extra blk.1.attn_q.bias [60,36], which llama does not use");
}

TEST(CheckTensors, TiedHeads) {  // case 19
  TinyModel gguf = ggufModel("llama.json");
  EXPECT_TRUE(must(readConfig(gguf.checkpoint)).tied_embedding);
  EXPECT_EQ(tensorError(gguf), "no error");
  TinyModel own = hfModel("llama_scaled.json");
  EXPECT_EQ(tensorError(own), "no error");

  TinyModel absent = hfModel("llama.json");
  absent.checkpoint.metadata["tie_word_embeddings"] = {false};
  EXPECT_TRUE(
      contains(tensorError(absent), "missing lm_head.weight [61,36], and tie_word_embeddings is false"));

  TinyModel both = hfModel("llama.json");
  std::vector<float> embedding = both.values("model.embed_tokens.weight");
  both.add("lm_head.weight", {61, 36}, embedding);
  EXPECT_EQ(tensorError(both), "no error");
  both.values("lm_head.weight")[5] += 1;
  EXPECT_TRUE(
      contains(tensorError(both),
               "lm_head.weight differs from model.embed_tokens.weight, but the configuration ties them"));
}

// The logits of a tied model whose file also holds a bias are those of the golden, plus the bias.
TEST(CheckTensors, ABiasOfTheHeadIsApplied) {  // case 19 e
  TinyModel plain = hfModel("llama.json"), biased = hfModel("llama.json");
  std::vector<float> bias(61);
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] = static_cast<float>(hashed("bias", static_cast<uint32_t>(i)));
  biased.add("lm_head.bias", {61}, bias);
  EXPECT_EQ(tensorError(biased), "no error");
  for (bool loop : {false, true}) {
    Session without(plain.checkpoint, inFloat32(loop)), with(biased.checkpoint, inFloat32(loop));
    std::vector<double> expected = without.run({{0, {5, 15, 39}}})[0].logits;
    for (size_t i = 0; i < bias.size(); ++i) expected[i] += bias[i];
    EXPECT_LT(largestDifference(with.run({{0, {5, 15, 39}}})[0].logits, expected), 1e-6);
  }
  EXPECT_TRUE(contains(must(readConfig(biased.checkpoint)).assumptions.back(), "a bias of the head"));
}

// q, k and v are rows of one tensor by the architecture, whatever the shapes would allow.
TEST(CheckTensors, FusedPartsAreOneTensor) {
  TinyModel phi = hfModel("phi3.json");
  EXPECT_EQ(tensorError(phi), "no error");
  DecoderConfig config = must(readConfig(phi.checkpoint));
  const std::vector<float>& qkv = phi.values("model.layers.1.self_attn.qkv_proj.weight");
  ASSERT_EQ(qkv.size(), 7u * 8 * 40);  // 5 heads and 2 x 1 of 8
  for (auto [parameter, first, rows] : {std::tuple{"attention.q.weight", 0, 40},
                                        {"attention.k.weight", 40, 8},
                                        {"attention.v.weight", 48, 8}}) {
    for (const WeightName& name : modelOf(config).layer_weights) {
      if (name.parameter != parameter) continue;
      std::vector<float> values(static_cast<size_t>(rows) * 40);
      must(readRows(phi.checkpoint, tensorSources(name, config, io::Container::kHuggingFace, 1)[0], 0,
                    values));
      EXPECT_TRUE(std::equal(values.begin(), values.end(), qkv.begin() + first * 40)) << parameter;
    }
  }
  phi.checkpoint.tensors.back().name = "model.layers.1.self_attn.q_proj.weight";
  EXPECT_TRUE(contains(tensorError(phi), "extra model.layers.1.self_attn.q_proj.weight"));
}

// A matrix of int32 words is no "tensor of integers" when a quantiser stored it: its rows are what they stand
// for.
TEST(CheckTensors, QuantisedMatricesAreRead) {
  TinyModel tiny = hfModel("llama.json");
  for (io::Tensor& tensor : tiny.checkpoint.tensors) {
    if (tensor.name != "model.layers.1.mlp.up_proj.weight") continue;
    auto matrix = std::make_shared<formats::QuantisedMatrix>();
    matrix->method = "gptq";
    matrix->rows = 44, matrix->columns = 36;
    matrix->codes = {formats::CodeType::kU8, formats::CodeOrder::kBytes, 44, 36, {}};
    static const std::vector<std::byte> codes(44 * 36, std::byte{130});
    static const std::vector<float> scales(44, 0.25f);
    matrix->codes.bytes = codes;
    matrix->scales = {formats::Packing::kF32, false, 44, 1, std::as_bytes(std::span(scales))};
    matrix->block_columns = 36;
    matrix->zero_offset = 128;
    ASSERT_TRUE(formats::verify(*matrix).ok()) << formats::verify(*matrix).error().text();
    tensor.packing = formats::Packing::kI32;
    tensor.quantised = matrix;
  }
  EXPECT_EQ(tensorError(tiny), "no error");
  std::vector<float> row(36);
  must(readRows(tiny.checkpoint, {"model.layers.1.mlp.up_proj.weight"}, 43, row));
  EXPECT_EQ(row, std::vector<float>(36, 0.5f));  // (130 - 128) / 4
}

TEST(CheckTensors, CodesWithoutAScaleAreNoNumbers) {
  TinyModel tiny = hfModel("llama.json");
  tiny.checkpoint.tensors[4].packing = formats::Packing::kF8_E4M3;
  EXPECT_TRUE(contains(tensorError(tiny), "holds F8_E4M3 codes, and nothing says their scale"));
}

TEST(ReadRows, TransposedIsReadByColumns) {
  TinyModel tiny;
  tiny.add("w", {2, 3}, {1, 2, 3, 4, 5, 6});  // stored [in, out]
  std::vector<float> all(6), last(2);
  must(readRows(tiny.checkpoint, {"w", Layout::kTransposed}, 0, all));
  EXPECT_EQ(all, (std::vector<float>{1, 4, 2, 5, 3, 6}));
  must(readRows(tiny.checkpoint, {"w", Layout::kTransposed}, 2, last));
  EXPECT_EQ(last, (std::vector<float>{3, 6}));
  EXPECT_FALSE(readRows(tiny.checkpoint, {"w", Layout::kTransposed}, 3, last).ok());
}

TEST(CheckTensors, RopeDivisorsAreUsed) {
  TinyModel tiny = ggufModel("llama_scaled.json");
  EXPECT_EQ(tensorError(tiny), "no error");
  EXPECT_EQ(must(readConfig(tiny.checkpoint)).rotaries[0].frequency_divisors.size(), 7u);
  TinyModel gemma = hfModel("gemma3.json");
  gemma.add("model.layers.0.self_attn.rotary_emb.inv_freq", {4}, std::vector<float>(4));
  EXPECT_EQ(tensorError(gemma), "no error");
}

}  // namespace
}  // namespace sublane::models
