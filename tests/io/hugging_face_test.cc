// Hugging Face folders: one file or an index, what is missing, what is left aside, and paths that lead out
// (case 13).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/mapped_file.h"
#include "base/paths.h"
#include "io/checkpoint.h"
#include "safetensors_writer.h"

namespace sublane::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = R"({"architectures":["LlamaForCausalLM"],"hidden_size":4})";

class HuggingFaceFolder : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> made = TemporaryDirectory::create();
    ASSERT_TRUE(made.ok()) << made.error().text();
    scratch_.emplace(std::move(made).value());
    folder_ = scratch_->path() + "/model";
    fs::create_directories(folder_);
    write("config.json", kConfig);
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, std::string_view content) {
    ASSERT_TRUE(writeFileAtomically(path(name), content).ok());
  }
  void shard(const std::string& name, const std::vector<std::string>& tensors) {
    SafetensorsWriter writer;
    for (const std::string& tensor : tensors) writer.tensor(tensor, "F32", "[2]", 8);
    write(name, writer.bytes());
  }
  /// a and b in the first of three, c in the second, d in the third.
  void threeShards() {
    shard("model-00001-of-00003.safetensors", {"a", "b"});
    shard("model-00002-of-00003.safetensors", {"c"});
    shard("model-00003-of-00003.safetensors", {"d"});
    write("model.safetensors.index.json", R"({"metadata":{"total_size":32},"weight_map":{
      "a":"model-00001-of-00003.safetensors","b":"model-00001-of-00003.safetensors",
      "c":"model-00002-of-00003.safetensors","d":"model-00003-of-00003.safetensors"}})");
  }
  std::string errorOf() {
    Result<Checkpoint> opened = openCheckpoint(folder_);
    return opened.ok() ? "no error" : opened.error().text();
  }
  void expectError(const std::string& part) {
    EXPECT_NE(errorOf().find(part), std::string::npos) << errorOf();
  }

  std::optional<TemporaryDirectory> scratch_;
  std::string folder_;
};

TEST_F(HuggingFaceFolder, OneFile) {
  shard("model.safetensors", {"a", "b"});
  Result<Checkpoint> opened = openCheckpoint(folder_);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened->source, folder_);
  EXPECT_EQ(opened->folder, folder_);
  EXPECT_EQ(opened->container, Container::kHuggingFace);
  EXPECT_EQ(opened->architecture, "LlamaForCausalLM");
  EXPECT_EQ(std::get<int64_t>(opened->metadata.at("hidden_size").value), 4);
  EXPECT_EQ(opened->tensors.size(), 2u);
  EXPECT_TRUE(opened->notes.empty());
}

TEST_F(HuggingFaceFolder, ShardsByTheIndex) {
  threeShards();
  Result<Checkpoint> opened = openCheckpoint(folder_);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  ASSERT_EQ(opened->tensors.size(), 4u);
  ASSERT_EQ(opened->files.size(), 3u);
  for (const Tensor& tensor : opened->tensors)
    EXPECT_EQ(tensor.bytes.data(), opened->files[tensor.file]->bytes().data() + tensor.file_offset);
  EXPECT_EQ(opened->find("c")->file, 1u);
  EXPECT_TRUE(opened->notes.empty());
}

TEST_F(HuggingFaceFolder, MissingShardsAreAllNamed) {
  threeShards();
  fs::remove(path("model-00002-of-00003.safetensors"));
  fs::remove(path("model-00003-of-00003.safetensors"));
  EXPECT_EQ(
      errorOf(),
      folder_ +
          "/model.safetensors.index.json: 2 faults:\n"
          "  \"model-00002-of-00003.safetensors\" is missing (1 of 3 files, 1 of its tensors are named)\n"
          "  \"model-00003-of-00003.safetensors\" is missing (2 of 3 files, 1 of its tensors are named)\n"
          "  hint: a part is missing or of another download: fetch the whole folder again");
}

TEST_F(HuggingFaceFolder, TensorThatIsNotInItsShard) {
  threeShards();
  shard("model-00001-of-00003.safetensors", {"a", "x"});
  expectError("tensor \"b\" is not in \"model-00001-of-00003.safetensors\", where the index says");
}

TEST_F(HuggingFaceFolder, StrayFilesAreLeftAsideAndSaid) {
  threeShards();
  shard("consolidated.safetensors", {"a", "c"});  // clashing names
  shard("model-00002-of-00003.safetensors", {"c", "a"});
  Result<Checkpoint> opened = openCheckpoint(folder_);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened->tensors.size(), 4u);
  EXPECT_EQ(opened->find("a")->file, 0u);
  EXPECT_EQ(opened->notes,
            (std::vector<std::string>{
                "tensor \"a\" of model-00002-of-00003.safetensors is left aside: the index doesn't "
                "name it there",
                "consolidated.safetensors is left aside: the index doesn't name it"}));
}

TEST_F(HuggingFaceFolder, WrongTotalIsANote) {
  threeShards();
  write("model.safetensors.index.json",
        R"({"metadata":{"total_size":99},"weight_map":{"a":"model-00001-of-00003.safetensors"}})");
  Result<Checkpoint> opened = openCheckpoint(folder_);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened->notes.back(), "model.safetensors.index.json says 99 bytes in all, the tensors have 8");
}

TEST_F(HuggingFaceFolder, WhichFileIsMeant) {
  expectError("no .safetensors file\n  hint: where shapes are enough");
  write("pytorch_model.bin", "x");
  expectError("pickled weights can run any code and are not read");
  shard("model-00001-of-00002.safetensors", {"a"});
  expectError("1 .safetensors file and no model.safetensors.index.json");
  shard("model.safetensors", {"a"});
  Result<Checkpoint> opened = openCheckpoint(folder_);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened->notes[0],
            "model-00001-of-00002.safetensors is left aside: model.safetensors holds the model");
  write("model.safetensors.index.json", R"({"weight_map":{"a":"model-00001-of-00002.safetensors"}})");
  expectError("holds model.safetensors and also an index that doesn't name it");
  write("model.gguf", "x");
  expectError("holds 1 .gguf file and a Hugging Face checkpoint");
}

TEST_F(HuggingFaceFolder, EmptyFileAndNoConfig) {
  write("model.safetensors", "");
  expectError("the file is empty (0 bytes)");
  fs::remove(path("config.json"));
  expectError("no config.json");
  write("adapter_config.json", "{}");
  expectError("an adapter (adapter_config.json), not a model");
}

TEST_F(HuggingFaceFolder, AnIndexNeverLeadsOut) {
  ASSERT_TRUE(writeFileAtomically(scratch_->path() + "/outside.safetensors",
                                  SafetensorsWriter{}.tensor("a", "F32", "[2]", 8).bytes())
                  .ok());
  for (const std::string& name :
       {std::string("../outside.safetensors"), scratch_->path() + "/outside.safetensors",
        std::string("sub/x.safetensors"), std::string(".."), std::string("")}) {
    write("model.safetensors.index.json", "{\"weight_map\":{\"a\":\"" + name + "\"}}");
    expectError("is not the name of a file in this folder");
  }
  fs::create_symlink(scratch_->path() + "/outside.safetensors", path("link.safetensors"));
  write("model.safetensors.index.json", R"({"weight_map":{"a":"link.safetensors"}})");
  expectError("\"link.safetensors\" is a link that leaves the folder, to ");
  fs::create_symlink("nowhere", path("dead.safetensors"));
  write("model.safetensors.index.json", R"({"weight_map":{"a":"dead.safetensors"}})");
  expectError("is a link to nothing");
  fs::create_symlink("real.safetensors", path("inside.safetensors"));
  shard("real.safetensors", {"a"});
  write("model.safetensors.index.json", R"({"weight_map":{"a":"inside.safetensors"}})");
  EXPECT_EQ(errorOf(), "no error");
}

TEST_F(HuggingFaceFolder, CompanionsAreFilesOfTheFolder) {
  shard("model.safetensors", {"a"});
  write("tokenizer.json", "{}");
  fs::create_symlink("/etc/hostname", path("chat_template.jinja"));
  Result<Checkpoint> opened = openCheckpoint(folder_);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(*readCompanion(*opened, "tokenizer.json"), std::optional<std::string>("{}"));
  EXPECT_EQ(*readCompanion(*opened, "tokenizer_config.json"), std::nullopt);
  EXPECT_FALSE(readCompanion(*opened, "chat_template.jinja").ok());
  EXPECT_FALSE(readCompanion(*opened, "../model/tokenizer.json").ok());
}

TEST_F(HuggingFaceFolder, TheConfigurationIsNoLinkOut) {
  shard("model.safetensors", {"a"});
  fs::remove(path("config.json"));
  fs::create_symlink("/etc/hostname", path("config.json"));
  expectError("\"config.json\" is a link that leaves the folder");
}

TEST_F(HuggingFaceFolder, CompanionsInAFolderOfTheirOwn) {
  shard("model.safetensors", {"a"});
  fs::create_directories(path("additional_chat_templates"));
  write("additional_chat_templates/tool_use.jinja", "T");
  write("additional_chat_templates/notes.txt", "N");
  Result<Checkpoint> opened = openCheckpoint(folder_);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  const std::map<std::string, std::string> expected = {{"tool_use", "T"}};
  EXPECT_EQ(*readCompanions(*opened, "additional_chat_templates", ".jinja"), expected);
  EXPECT_TRUE(readCompanions(*opened, "nothing", ".jinja")->empty());
  fs::create_symlink("/etc/hostname", path("additional_chat_templates/out.jinja"));
  EXPECT_FALSE(readCompanions(*opened, "additional_chat_templates", ".jinja").ok());
}

class HubCache : public HuggingFaceFolder {
 protected:
  void SetUp() override {
    HuggingFaceFolder::SetUp();
    setenv("HF_HUB_CACHE", scratch_->path().c_str(), 1);
    repository_ = scratch_->path() + "/models--org--tiny";
  }
  void TearDown() override { unsetenv("HF_HUB_CACHE"); }
  /// As the hub's own tool lays it out: files are blobs, a snapshot is links to them.
  void fetchSnapshot() {
    folder_ = repository_ + "/snapshots/0123abc";
    fs::create_directories(folder_);
    fs::create_directories(repository_ + "/blobs");
    fs::create_directories(repository_ + "/refs");
    ASSERT_TRUE(writeFileAtomically(repository_ + "/refs/main", "0123abc").ok());
    for (auto [name, content] :
         {std::pair<std::string, std::string>{"config.json", kConfig},
          {"model.safetensors", SafetensorsWriter{}.tensor("a", "F32", "[2]", 8).bytes()}}) {
      ASSERT_TRUE(writeFileAtomically(repository_ + "/blobs/" + name + "-blob", content).ok());
      fs::create_symlink("../../blobs/" + name + "-blob", path(name));
    }
  }
  std::string repository_;
};

TEST_F(HubCache, SnapshotOfARevision) {
  fetchSnapshot();
  for (const char* name : {"hf:org/tiny", "hf:org/tiny@main", "hf:org/tiny@0123abc"}) {
    Result<Checkpoint> opened = openCheckpoint(name);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    EXPECT_EQ(opened->tensors.size(), 1u);
  }
}

TEST_F(HubCache, WhatIsNotThereComesWithItsCommand) {
  auto error = [](const char* name) { return openCheckpoint(name).error().text(); };
  EXPECT_EQ(error("hf:org/tiny"),
            "hf:org/tiny: not in the hub's cache: " + repository_ +
                " does not exist\n  hint: fetch it with the hub's own tool: hf download org/tiny");
  fetchSnapshot();
  EXPECT_NE(error("hf:org/tiny@v2").find("snapshots/v2 does not exist"), std::string::npos);
  EXPECT_NE(error("hf:org/tiny@v2").find("hf download org/tiny --revision v2"), std::string::npos);
  for (const char* name :
       {"hf:tiny", "hf:../tiny", "hf:org/..", "hf:org/tiny@../../x", "hf:org/a/b", "hf:", "hf:a--b/c"})
    EXPECT_NE(error(name).find("not a name of the form hf:org/name"), std::string::npos) << name;
}

TEST_F(HubCache, LinksToOtherRepositoriesAreRefused) {
  fetchSnapshot();
  const std::string other = scratch_->path() + "/models--org--other/blobs";
  fs::create_directories(other);
  ASSERT_TRUE(writeFileAtomically(other + "/x", "{}").ok());
  fs::create_symlink(other + "/x", path("tokenizer.json"));
  Result<Checkpoint> opened = openCheckpoint("hf:org/tiny");
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_FALSE(readCompanion(*opened, "tokenizer.json").ok());
}

}  // namespace
}  // namespace sublane::io
