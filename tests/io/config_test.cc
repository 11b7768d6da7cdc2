// ConfigReader, and config.json read as a checkpoint without tensors.
#include <gtest/gtest.h>

#include "base/paths.h"
#include "io/checkpoint.h"

namespace sublane::io {
namespace {

const Metadata kMetadata = {
    {"layers", {int64_t{30}}},
    {"theta", {1e5}},
    {"name", {std::string("tiny")}},
    {"tied", {true}},
    {"none", {}},
    {"windows", {std::vector<int64_t>{512, 0}}},
    {"empty", {MetadataArray{}}},
    {"tokenizer.ggml.tokens", {std::vector<std::string>{"a"}}},
};

TEST(ConfigReader, ReadsWhatIsThere) {
  ConfigReader config(kMetadata, "m.gguf");
  EXPECT_EQ(config.requireInt("layers"), 30);
  EXPECT_EQ(config.requireFloat("theta"), 1e5);
  EXPECT_EQ(config.requireString("name"), "tiny");
  EXPECT_EQ(config.optionalBool("tied"), true);
  EXPECT_EQ(config.optionalInt("none"), std::nullopt);
  EXPECT_EQ(config.optionalInts("windows"), (std::vector<int64_t>{512, 0}));
  EXPECT_EQ(config.optionalStrings("empty"), std::vector<std::string>{});
  EXPECT_EQ(config.optionalInts("empty"), std::vector<int64_t>{});
  EXPECT_EQ(config.optionalFloat("layers"), 30.0);
  EXPECT_FALSE(config.has("none"));
  EXPECT_TRUE(config.has("tied"));
  config.ignore("tokenizer.*");
  config.assume("something");
  EXPECT_EQ(config.assumptions(), std::vector<std::string>{"something"});
  Status status = config.finish();
  EXPECT_TRUE(status.ok()) << status.error().text();
}

TEST(ConfigReader, ValuesSteerNoTerminal) {
  ConfigReader config(kMetadata, "m");
  config.refuse(std::string("act = \x1b[31mred\0x", 16));
  for (const auto& [key, value] : kMetadata) config.ignore(key);
  EXPECT_EQ(config.finish().error().text(), "m: act = \\x1b[31mred\\x00x");
}

TEST(ConfigReader, NamesAllFaultsAtOnce) {
  ConfigReader config(kMetadata, "m.gguf");
  EXPECT_EQ(config.requireInt("heads"), 0);
  EXPECT_EQ(config.requireInt("theta"), 0);
  EXPECT_EQ(config.requireString("layers"), "");
  EXPECT_EQ(config.requireInt("none"), 0);
  EXPECT_EQ(config.optionalStrings("windows"), std::nullopt);
  EXPECT_EQ(config.optionalBool("name"), std::nullopt);
  config.refuse("rope_scaling.type = \"foo\" is not supported (default, linear, llama3)");
  config.ignore("empty");
  EXPECT_EQ(config.finish().error().text(),
            "m.gguf: 9 faults in the configuration:\n"
            "  heads is missing\n"
            "  theta is float, not an integer\n"
            "  layers is integer, not a string\n"
            "  none is null\n"
            "  windows is integers, not strings\n"
            "  name is string, not a bool\n"
            "  rope_scaling.type = \"foo\" is not supported (default, linear, llama3)\n"
            "  tied is not understood\n"
            "  tokenizer.ggml.tokens is not understood");
}

Result<Checkpoint> openText(const std::string& json);

TEST(OpenConfig, NumbersThatNoDoubleHolds) {
  const Result<Checkpoint> opened = openText(R"({"rope_theta": 1e400})");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().fault(), Fault::kInput);
  EXPECT_EQ(opened.error().message(), "config.json: not valid JSON: number overflow parsing '1e400'");
}

TEST(ConfigReader, AStarMatchesAPrefixOnly) {
  const Metadata metadata = {{"tokenizer", {int64_t{1}}}, {"tokenizer.x", {int64_t{1}}}};
  ConfigReader config(metadata, "m");
  config.ignore("tokenizer.*");
  EXPECT_EQ(config.finish().error().text(), "m: tokenizer is not understood");
}

Result<Checkpoint> openText(const std::string& json) {
  SUBLANE_TRY(TemporaryDirectory folder, TemporaryDirectory::create());
  SUBLANE_CHECK_OK(writeFileAtomically(folder.path() + "/config.json", json));
  Result<Checkpoint> opened = openConfig(folder.path() + "/config.json");
  if (!opened.ok()) {  // the folder's name changes from run to run
    std::string text = opened.error().text();
    return Error(Fault::kInput, text.substr(text.find("config.json")));
  }
  return opened;
}

TEST(ConfigJson, IsFlattened) {
  Result<Checkpoint> opened = openText(R"({
    "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "rope_theta": 500000.0, "tie_word_embeddings": false,
    "rope_scaling": {"rope_type": "llama3", "factor": 8, "inner": {"x": null}},
    "eos_token_id": [1, 2], "mixed": [1, 2.5], "empty": [], "layers": [{"a": 1}, {"a": 2}]
  })");
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened->container, Container::kHuggingFace);
  EXPECT_EQ(opened->architecture, "LlamaForCausalLM");
  EXPECT_TRUE(opened->files.empty());
  auto& m = opened->metadata;
  EXPECT_EQ(std::get<int64_t>(m.at("hidden_size").value), 4096);
  EXPECT_EQ(std::get<double>(m.at("rope_theta").value), 500000.0);
  EXPECT_EQ(std::get<bool>(m.at("tie_word_embeddings").value), false);
  EXPECT_EQ(std::get<std::string>(m.at("rope_scaling.rope_type").value), "llama3");
  EXPECT_EQ(std::get<int64_t>(m.at("rope_scaling.factor").value), 8);
  EXPECT_EQ(m.at("rope_scaling.inner.x").value.index(), 0u);
  EXPECT_EQ(std::get<std::vector<int64_t>>(m.at("eos_token_id").value), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(std::get<std::vector<double>>(m.at("mixed").value), (std::vector<double>{1.0, 2.5}));
  EXPECT_TRUE(std::get<MetadataArray>(m.at("empty").value).empty());
  EXPECT_EQ(std::get<int64_t>(m.at("layers.1.a").value), 2);
}

TEST(ConfigJson, Errors) {
  EXPECT_EQ(openText("{\"a\": ").error().message().substr(0, 27), "config.json: not valid JSON");
  EXPECT_NE(openText("{\"a\": 1,\n \"b\": }").error().message().find("not valid JSON: line 2, column 7: "),
            std::string::npos);
  EXPECT_EQ(openText("[]").error().message(), "config.json: its JSON is not an object");
  EXPECT_EQ(openText("").error().message(), "config.json: the file is empty (0 bytes)");
  EXPECT_EQ(openText("{\"a\": 1}").error().message(),
            "config.json: \"architectures\" does not name an architecture\n"
            "  hint: a Hugging Face config holds for example \"architectures\": [\"LlamaForCausalLM\"]");
  EXPECT_EQ(openText("{\"architectures\": [\"X\"], \"a\": 1, \"a\": 2, \"b\": 18446744073709551615}")
                .error()
                .message(),
            "config.json: a occurs twice; b is above 2^63 - 1");
  EXPECT_EQ(openConfig("/no/such/config.json").error().text(),
            "/no/such/config.json: cannot open: No such file or directory");
}

}  // namespace
}  // namespace sublane::io
