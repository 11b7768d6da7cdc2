// `sublane run` on damaged copies of a real checkpoint, and with a reader that goes away.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "base/mapped_file.h"
#include "base/paths.h"
#include "base/subprocess.h"
#include "io/checkpoint.h"

namespace sublane {
namespace {

class RunVerb : public testing::Test {
 protected:
  /// A copy of SmolLM2 whose tensor `name` (float32) went through `change`.
  std::string damaged(const std::string& name, const std::function<void(std::span<float>)>& change) {
    const io::Checkpoint whole = io::openCheckpoint("smollm2-135m").value();
    const io::Tensor* tensor = whole.find(name);
    EXPECT_EQ(formats::info(tensor->packing).name, "F32");
    std::string bytes(reinterpret_cast<const char*>(whole.files[0]->bytes().data()),
                      whole.files[0]->bytes().size());
    std::vector<float> values(tensor->bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data() + tensor->file_offset, tensor->bytes.size());
    change(values);
    std::memcpy(bytes.data() + tensor->file_offset, values.data(), tensor->bytes.size());
    const std::string path = folder_.path() + "/damaged.gguf";
    EXPECT_TRUE(writeFileAtomically(path, bytes).ok());
    return path;
  }
  SubprocessResult shell(const std::string& command) {
    Subprocess child;
    child.argv = {"/bin/bash", "-o", "pipefail", "-c", command};
    return run(child).value();
  }
  TemporaryDirectory folder_ = TemporaryDirectory::create().value();
  const std::string sublane_ = SUBLANE_BINARY_DIR "/sublane";
};

TEST_F(RunVerb, NanInTheWeightsIsAnErrorThatNamesTheTensor) {
  const std::string path = damaged("blk.7.ffn_norm.weight", [](std::span<float> values) {
    values[3] = std::numeric_limits<float>::quiet_NaN();
    values[5] = -std::numeric_limits<float>::infinity();
  });
  const SubprocessResult result = shell(sublane_ + " run " + path + " --prompt Hello --max-tokens 4");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.output, "");
  EXPECT_NE(result.errors.find("2 of 576 values are NaN or infinite as f32 (blk.7.ffn_norm.weight)"),
            std::string::npos)
      << result.errors;
  EXPECT_NE(result.errors.find("hint: sublane inspect " + path + " --scan"), std::string::npos);
}

TEST_F(RunVerb, LogitsThatAreAllNanAreAnErrorToo) {
  const std::string path = damaged("output_norm.weight", [](std::span<float> values) {
    for (float& value : values) value = std::numeric_limits<float>::max();
  });
  for (const char* more : {"", " --temperature 0.7"}) {
    const SubprocessResult result =
        shell(sublane_ + " run " + path + " --prompt Hello --max-tokens 4" + more);
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.errors.find("all logits of sequence 0 after 1 tokens are NaN"), std::string::npos)
        << result.errors;
  }
}

TEST_F(RunVerb, StopsWhenNobodyReads) {
  const std::string run = sublane_ + " run smollm2-135m --prompt Hello --max-tokens 8000";
  const SubprocessResult full = shell(run + " > /dev/full");
  EXPECT_EQ(full.code, 3);
  EXPECT_NE(full.errors.find("standard output: No space left on device"), std::string::npos) << full.errors;
  const SubprocessResult closed = shell(run + " | head -c 1");
  EXPECT_EQ(closed.code, 141) << "as other programs end whose reader has what it wants";
  EXPECT_EQ(closed.errors.find("tokens/s"), std::string::npos) << closed.errors;
}

TEST_F(RunVerb, PromptsThatDontFitAreRefusedBeforeTheWeightsAreRead) {
  ASSERT_TRUE(writeFileAtomically(folder_.path() + "/long.txt", std::string(40000, 'x')).ok());
  ASSERT_TRUE(writeFileAtomically(folder_.path() + "/empty.txt", "").ok());
  const std::string run = sublane_ + " run smollm2-135m --prompt-file " + folder_.path();
  const SubprocessResult long_one = shell(run + "/long.txt");
  EXPECT_EQ(long_one.code, 2);
  EXPECT_NE(long_one.errors.find("the context holds 8192"), std::string::npos) << long_one.errors;
  EXPECT_NE(long_one.errors.find("hint: shorten the prompt: the model was made for 8192 tokens"),
            std::string::npos);
  EXPECT_EQ(long_one.errors.find("reading"), std::string::npos) << "it should not read the weights first";
  EXPECT_NE(shell(run + "/long.txt --context 64").errors.find("the context holds 64"), std::string::npos);
  EXPECT_NE(shell(run + "/empty.txt").errors.find("empty.txt: the prompt file is empty"), std::string::npos);
  EXPECT_NE(shell(run + "/none.txt").errors.find("none.txt"), std::string::npos);
}

}  // namespace
}  // namespace sublane
