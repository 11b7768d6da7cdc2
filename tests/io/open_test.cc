// What a MODEL argument can name, and the messages when it names nothing useful.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/mapped_file.h"
#include "base/paths.h"
#include "gguf_writer.h"
#include "io/checkpoint.h"
#include "io/known_checkpoints.h"

namespace sublane::io {
namespace {

namespace fs = std::filesystem;

class OpenCheckpoint : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> made = TemporaryDirectory::create();
    ASSERT_TRUE(made.ok()) << made.error().text();
    folder_.emplace(std::move(made).value());
    setenv("XDG_CACHE_HOME", path("cache").c_str(), 1);
  }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }

  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
  void write(const std::string& name, std::string_view content) {
    ASSERT_TRUE(writeFileAtomically(path(name), content).ok());
  }
  void writeModel(const std::string& name) {
    const std::vector<std::byte> bytes = llamaWriter().tensor("a", {8}, kTypeF32, 32).bytes();
    write(name, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  std::string errorOf(const std::string& model) {
    Result<Checkpoint> opened = openCheckpoint(model);
    return opened.ok() ? "no error" : opened.error().text();
  }

  std::optional<TemporaryDirectory> folder_;
};

TEST_F(OpenCheckpoint, FileOrFolderHoldingOne) {
  writeModel("m.gguf");
  write("notes.txt", "hello");
  for (const std::string& model : {path("m.gguf"), folder_->path()}) {
    Result<Checkpoint> opened = openCheckpoint(model);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    EXPECT_EQ(opened->source, path("m.gguf"));
    ASSERT_EQ(opened->files.size(), 1u);
    EXPECT_EQ(opened->tensors[0].bytes.data(),
              opened->files[0]->bytes().data() + opened->tensors[0].file_offset);
  }
}

TEST_F(OpenCheckpoint, FolderWithSeveralOrNone) {
  EXPECT_EQ(errorOf(folder_->path()),
            folder_->path() +
                ": the folder holds neither a .gguf file nor a Hugging Face checkpoint\n"
                "  hint: give a .gguf file, a folder with config.json and "
                ".safetensors, or a name: gemma3-270m, smollm2-135m");
  writeModel("b.gguf");
  writeModel("a.gguf");
  EXPECT_EQ(errorOf(folder_->path()), folder_->path() + ": holds 2 .gguf files, not one:\n  " +
                                          path("a.gguf") + "\n  " + path("b.gguf") +
                                          "\n  hint: give one of them as MODEL");
}

TEST_F(OpenCheckpoint, PartsOfAHuggingFaceFolder) {
  write("config.json", "{}");
  write("model.safetensors", "x");
  EXPECT_NE(errorOf(path("config.json")).find("a configuration, not a checkpoint"), std::string::npos);
  EXPECT_NE(errorOf(path("model.safetensors")).find("one file of a Hugging Face checkpoint"),
            std::string::npos);
}

TEST_F(OpenCheckpoint, NothingThere) {
  EXPECT_EQ(errorOf(path("none.gguf")), path("none.gguf") +
                                            ": no such file or folder, and no known name\n"
                                            "  hint: give a .gguf file, a Hugging Face folder, hf:org/name, "
                                            "or a name: gemma3-270m, smollm2-135m");
  EXPECT_EQ(errorOf("").substr(0, 29), "MODEL: no such file or folder");
  write("empty.gguf", "");
  EXPECT_EQ(errorOf(path("empty.gguf")), path("empty.gguf") + ": the file is empty (0 bytes)");
  EXPECT_EQ(errorOf("/dev/null"), "/dev/null: is not a regular file");
}

TEST_F(OpenCheckpoint, KnownNameNotFetchedYet) {
  Result<Checkpoint> opened = openCheckpoint("smollm2-135m");
  ASSERT_FALSE(opened.ok());
  const std::string file = path("cache/sublane/checkpoints/smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf");
  EXPECT_EQ(opened.error().text(), "smollm2-135m: not fetched yet (" + file +
                                       " is missing)\n  hint: run: sublane fetch smollm2-135m");
  EXPECT_EQ(opened.error().fault(), Fault::kMachine);
  fs::create_directories(fs::path(file).parent_path());
  ASSERT_TRUE(writeFileAtomically(file, "short").ok());
  EXPECT_EQ(errorOf("smollm2-135m"),
            "smollm2-135m: " + file + " has 5 bytes, not 98362432\n  hint: run: sublane fetch smollm2-135m");
  fs::resize_file(file, 98362432);  // as long as the right one
  EXPECT_NE(errorOf("smollm2-135m").find(file + " has changed since it was fetched: its sha256 is not "),
            std::string::npos);
}

}  // namespace
}  // namespace sublane::io
