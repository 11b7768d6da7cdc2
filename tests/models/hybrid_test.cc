// Families that mix attention with layers of a state of one size: partial rotation, slots, keys, refusals.
#include "graph/builder.h"
#include "tiny_model.h"

namespace sublane::models {
namespace {

io::Checkpoint configOf(const std::string& name, const std::map<std::string, io::MetadataValue>& changes) {
  io::Checkpoint checkpoint = must(io::openConfig(goldenPath(name + ".json")));
  checkpoint.source = name;
  for (const auto& [key, value] : changes) {
    checkpoint.metadata.erase(key);
    if (value.value.index() != 0) checkpoint.metadata[key] = value;
  }
  return checkpoint;
}

std::string errorOf(const io::Checkpoint& checkpoint) {
  Result<DecoderConfig> config = readConfig(checkpoint);
  return config.ok() ? "no error" : config.error().message();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PartialRotary, FrequenciesAreOverTheRotaryWidth) {  // case 22
  const DecoderConfig config = must(readConfig(
      configOf("qwen3_next",
               {{"head_dim", integer(256)}, {"rope_theta", number(1e7)}, {"partial_rotary_factor", {}}})));
  ASSERT_EQ(config.rotaries[0].dim, 64) << "0.25 by the family's default";
  const std::vector<double> frequencies = rotaryFrequencies(config.rotaries[0]);
  ASSERT_EQ(frequencies.size(), 32u);
  EXPECT_NEAR(frequencies[1], 0.604296, 5e-7);  // over 256 channels it would be 0.881683
}

TEST(PartialRotary, TheFactorAppliesOnceWhereverItIsSaid) {  // case 22
  const std::string newer = "rope_parameters.partial_rotary_factor";
  io::Checkpoint twice = configOf("qwen3_next", {{"head_dim", integer(256)}, {newer, number(0.25)}});
  EXPECT_EQ(must(readConfig(twice)).rotaries[0].dim, 64);
  EXPECT_TRUE(contains(errorOf(configOf("qwen3_next", {{newer, number(0.5)}})),
                       newer + " 0.5 and partial_rotary_factor 0.25 disagree"));
  EXPECT_TRUE(contains(errorOf(configOf("qwen3_next", {{"partial_rotary_factor", number(1.5)}})),
                       "partial_rotary_factor = 1.5 is not between 0 and 1"));
  EXPECT_TRUE(contains(errorOf(configOf("qwen3_next", {{"partial_rotary_factor", number(0.1)}})),
                       "rotary width 1 is not an even number up to the head width 16"));
}

TEST(PartialRotary, PairsLieHalfTheRotaryWidthApartAndTheRestPasses) {  // case 22
  const Rotary rotary{.theta = 1e7, .dim = 64};
  const std::vector<int64_t> positions = {0, 1, 700, 2355};
  graph::Graph g;
  graph::Builder b(g);
  graph::ValueId x = b.parameter("x", {DType::kF32, {4, 1, 256}}, graph::Role::kInput);
  graph::ValueId cos = b.parameter("cos", {DType::kF32, {2356, 32}}, graph::Role::kInput);
  graph::ValueId sin = b.parameter("sin", {DType::kF32, {2356, 32}}, graph::Role::kInput);
  graph::ValueId at = b.parameter("at", {DType::kI32, {4}}, graph::Role::kInput);
  b.output("y", rotate(b, x, b.takeRows(cos, at), b.takeRows(sin, at)));
  std::vector<double> values;
  for (uint32_t i = 0; i < 1024; ++i) values.push_back(static_cast<float>(hashed("x", i)));
  std::vector<graph::Array> arguments = {graph::arrayOf(g.type(x), values)};
  for (RotaryTable table : {RotaryTable::kCos, RotaryTable::kSin}) {
    std::vector<float> rows(2356 * 32);
    fillRotaryTable(rotary, table, rows);
    arguments.push_back(graph::arrayOf(g.type(cos), std::vector<double>(rows.begin(), rows.end())));
  }
  arguments.push_back(graph::arrayOf(g.type(at), std::vector<double>(positions.begin(), positions.end())));
  const std::vector<double> y = graph::values(must(graph::interpret(g, arguments))[0]);
  for (size_t token = 0; token < 4; ++token) {
    for (size_t i = 0; i < 32; ++i) {
      const double angle =
          static_cast<double>(positions[token]) * std::pow(1e7, -static_cast<double>(i) / 32.0);
      const double first = values[token * 256 + i], second = values[token * 256 + i + 32];
      EXPECT_NEAR(y[token * 256 + i], first * std::cos(angle) - second * std::sin(angle), 1e-6);
      EXPECT_NEAR(y[token * 256 + i + 32], second * std::cos(angle) + first * std::sin(angle), 1e-6);
    }
    for (size_t i = 64; i < 256; ++i) EXPECT_EQ(y[token * 256 + i], values[token * 256 + i]);
  }
}

TEST(StateSlots, InputAndCachesOfRecurrentLayersOnly) {
  DecoderConfig config = must(readConfig(configOf("qwen3_next", {})));
  StepShape shape{.tokens = 8, .sequences = 4, .queries = 5, .pages = 10, .state_slots = 9};
  StepProgram step = must(buildStep(config, shape, {}, io::Container::kHuggingFace));
  std::map<std::string, std::string> types;
  for (const graph::Parameter& parameter : step.graph.parameters)
    types[parameter.name] = graph::toString(step.graph.type(parameter.value));
  EXPECT_EQ(step.graph.parameters[9].name, "state_slots");
  EXPECT_EQ(types["state_slots"], "i32[4]");
  EXPECT_EQ(types["cache.conv.0"], "bf16[9,1,3,81]");
  EXPECT_EQ(types["cache.recurrent.0"], "f32[9,1,54,5]");
  EXPECT_EQ(types["cache.k.2"], "bf16[10,16,2,16]");
  EXPECT_FALSE(types.contains("cache.k.0"));
  shape.state_slots = 0;
  step = must(buildStep(config, shape, {}, io::Container::kHuggingFace));
  for (const graph::Parameter& parameter : step.graph.parameters)
    if (parameter.name == "cache.recurrent.0") {
      EXPECT_EQ(graph::toString(step.graph.type(parameter.value)), "f32[4,1,54,5]");
    }
  shape.state_slots = -1;
  Result<StepProgram> refused = buildStep(config, shape, {}, io::Container::kHuggingFace);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(), "qwen3_next step: state_slots is -1");
}

TEST(StateSlots, NoLoopHoldsThem) {
  DecoderConfig config = must(readConfig(configOf("granite_hybrid", {})));
  for (LayerKind& kind : config.layer_kinds) kind.mixer = Mixer::kMamba2;
  Result<StepProgram> step = buildStep(config, {}, {.layers_in_loop = true}, io::Container::kHuggingFace);
  ASSERT_FALSE(step.ok());
  EXPECT_EQ(step.error().message(),
            "granite_hybrid: layers with a state of their own, or without rotation, are in no loop");
}

TEST(Qwen3NextConfig, LayersThatPredictMoreTokensAreLeftAsideAndSaid) {
  TinyModel tiny = hfModel("qwen3_next.json");
  tiny.add("mtp.fc.weight", {2, 2}, {1, 2, 3, 4});
  DecoderConfig config = must(readConfig(tiny.checkpoint));
  EXPECT_EQ(config.assumptions.back(), "tensors mtp.*, layers that predict more tokens, are left aside");
  must(checkTensors(tiny.checkpoint, config));
}

TEST(Qwen3NextConfig, LayersByIntervalAndByName) {
  auto kinds = [](const io::Checkpoint& checkpoint) {
    std::string text;
    for (const LayerKind& kind : must(readConfig(checkpoint)).layer_kinds) {
      text += kind.mixer == Mixer::kAttention ? 'a' : 'd';
      text += kind.feed_forward == FeedForward::kExperts ? 'e' : '-';
    }
    return text;
  };
  EXPECT_EQ(kinds(configOf("qwen3_next", {})), "ded-aededea-");
  EXPECT_EQ(kinds(configOf("qwen3_next", {{"full_attention_interval", {}}})), "ded-deaeded-");
  io::MetadataValue types{std::vector<std::string>{"full_attention", "linear_attention", "wkv"}};
  EXPECT_TRUE(contains(errorOf(configOf("qwen3_next", {{"layer_types", types}})),
                       "layer_types names 3 layers, num_hidden_layers is 6"));
  EXPECT_TRUE(contains(errorOf(configOf("qwen3_next", {{"layer_types", types}})),
                       "layer_types: \"wkv\" is not supported (linear_attention, full_attention)"));
}

TEST(HybridConfig, RefusesSizesThatDontFit) {
  EXPECT_TRUE(contains(errorOf(configOf("qwen3_next", {{"linear_num_value_heads", integer(8)}})),
                       "8 recurrent heads are not a multiple of 3 key heads"));
  EXPECT_TRUE(contains(errorOf(configOf("qwen3_next", {{"linear_conv_kernel_dim", integer(1)}})),
                       "a convolution over 1 tokens is not over 2 to 64"));
  EXPECT_TRUE(contains(errorOf(configOf("granite_hybrid", {{"mamba_d_head", integer(13)}})),
                       "mamba_n_heads 9 of mamba_d_head 13 are not mamba_expand times hidden_size, 126"));
  EXPECT_TRUE(contains(errorOf(configOf("granite_hybrid", {{"position_embedding_type", {"alibi"}}})),
                       "position_embedding_type = \"alibi\" is not supported (rope, nope)"));
  EXPECT_TRUE(contains(errorOf(configOf("granite_hybrid", {{"mamba_proj_bias", {true}}})),
                       "mamba_proj_bias = true is not supported"));
  EXPECT_TRUE(
      contains(errorOf(configOf("granite_hybrid", {{"time_step_limit", {std::vector<double>{0, 1}}}})),
               "time_step_limit is not understood"));
}

}  // namespace
}  // namespace sublane::models
