#include "pjrt/messages.h"

#include <gtest/gtest.h>

#include "base/wire.h"
#include "pjrt/ahead_of_time.h"

namespace sublane::pjrt {
namespace {

AheadOfTimeRequest fullRequest() {
  AheadOfTimeRequest request;
  request.stablehlo = std::string("module \0 with a zero", 20);
  request.topology = "v4:2x2x1";
  request.topology_options = {{"chip_config_name", std::string("megacore")}, {"num_slices", int64_t{2}}};
  request.options.replicas = 3;
  request.options.partitions = 4;
  request.options.overrides = {{"a", true}, {"b", int64_t{-7}}, {"c", 0.25}, {"d", std::string("text")}};
  request.init_args = {"--one", "--two=2"};
  request.libtpu_path = "/somewhere/libtpu.so";
  request.want_executable = true;
  request.want_listings = request.want_assembly = request.want_profile = true;
  return request;
}

TEST(Frame, HoldsItsPayload) {
  for (const std::string& payload : {std::string(), std::string("x"), std::string(100000, '\0')}) {
    const std::string frame = encodeFrame(payload);
    Result<std::string_view> back = decodeFrame(frame);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, payload);
  }
}

TEST(Frame, WhatIsWrongIsSaid) {
  const std::string frame = encodeFrame("payload");
  EXPECT_EQ(decodeFrame("").error().message(), "frame: 0 bytes, shorter than its 13-byte header");
  EXPECT_EQ(decodeFrame("GET / HTTP/1.1\r\n").error().message(), "frame: does not start with \"SUBL\"");
  EXPECT_EQ(decodeFrame(std::string_view(frame).substr(0, frame.size() - 1)).error().message(),
            "frame: 6 bytes of payload, its header says 7");
  EXPECT_EQ(decodeFrame(frame + "!").error().message(), "frame: 8 bytes of payload, its header says 7");
  std::string other = frame;
  other[4] = 9;
  EXPECT_EQ(decodeFrame(other).error().message(), "frame: version 9, but this program speaks 2");
}

TEST(Messages, RequestGoesThereAndBack) {
  const AheadOfTimeRequest request = fullRequest();
  Result<AheadOfTimeRequest> back = decodeRequest(encodeRequest(request));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->stablehlo, request.stablehlo);
  EXPECT_EQ(back->topology, request.topology);
  EXPECT_EQ(back->topology_options, request.topology_options);
  EXPECT_EQ(back->options.replicas, 3);
  EXPECT_EQ(back->options.partitions, 4);
  EXPECT_EQ(back->options.overrides, request.options.overrides);
  EXPECT_EQ(back->init_args, request.init_args);
  EXPECT_EQ(back->libtpu_path, request.libtpu_path);
  EXPECT_TRUE(back->want_executable && back->want_listings && back->want_assembly && back->want_profile);
  EXPECT_EQ(encodeRequest(*back), encodeRequest(request));
}

TEST(Messages, CutRequestsNeverPass) {
  const std::string bytes = encodeRequest(fullRequest());
  size_t refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    Result<AheadOfTimeRequest> request = decodeRequest(std::string_view(bytes).substr(0, size));
    if (!request.ok()) {
      ++refused;
      EXPECT_EQ(request.error().message(), "compile request: malformed bytes");
    }
  }
  EXPECT_GT(refused, bytes.size() * 8 / 10) << "cuts between fields are caught by the frame";
}

TEST(Messages, ReplyCarriesTheErrorWhole) {
  for (Fault fault : {Fault::kCheckFailed, Fault::kInput, Fault::kMachine}) {
    Result<AheadOfTimeResult> back =
        decodeReply(encodeReply(Error(fault, "what\nis wrong").hint("try this")));
    ASSERT_FALSE(back.ok());
    EXPECT_EQ(back.error().fault(), fault);
    EXPECT_EQ(back.error().text(), "what\nis wrong\n  hint: try this");
  }
  AheadOfTimeResult result;
  result.optimized_hlo = "hlo";
  result.dump = {{"<f>", "label", "line\n"}, {"", "", std::string("\0", 1)}};
  Result<AheadOfTimeResult> back = decodeReply(encodeReply(result));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->optimized_hlo, "hlo");
  EXPECT_EQ(back->dump, result.dump);
  EXPECT_FALSE(back->memory.has_value());
  for (std::string_view bytes : {"", "\x08\x01", "\x0a\x05xx"}) {
    EXPECT_EQ(decodeReply(bytes).error().message(), "compile reply: malformed bytes");
  }
}

// ---- what comes out of the compiler

std::string message(uint32_t field, const std::string& content) {
  WireWriter out;
  out.text(field, content);
  return out.bytes();
}

TEST(HloModule, IsUnwrappedFromItsConfig) {
  const std::string module = message(1, "name");
  Result<std::string> found = moduleOf(message(2, "config first") + message(1, module));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, module);
  EXPECT_EQ(moduleOf(message(2, "only a config")).error().message(),
            "libtpu: its optimised program (15 bytes) holds no HLO module");
}

TEST(HloModule, MapsAreSortedAndNothingElseMoves) {
  auto entry = [](const char* key, const char* value) {
    return message(1, message(1, key) + message(2, value));
  };
  const std::string a = entry("a", "1"), bb = entry("bb", "2"), c = entry("c", "3");
  auto module = [](const std::string& map) {
    const std::string instruction = message(1, "z") + message(68, map) + message(1, "y");
    return message(1, "name") + message(3, message(1, "body") + message(2, instruction)) + message(19, map) +
           message(2, "after");
  };
  EXPECT_EQ(canonicalModule(module(c + a + bb)), module(a + bb + c));
  EXPECT_EQ(canonicalModule(module(a + bb + c)), module(a + bb + c));
  const std::string cut = module(c + a + bb).substr(0, 20);
  EXPECT_EQ(canonicalModule(cut), cut);
}

TEST(Shortened, KeepsTheFirstAndTheLastLines) {
  EXPECT_EQ(shortened("short"), "short");
  std::string message = "the reason\n";
  for (int i = 0; i < 2000; ++i) message += fmt::format("line {}\n", i);
  message += "the end";
  const std::string text = shortened(message);
  EXPECT_LT(text.size(), 8000u);
  EXPECT_TRUE(text.starts_with("the reason\nline 0\n"));
  EXPECT_TRUE(text.ends_with("line 1999\nthe end"));
  EXPECT_NE(text.find(" bytes left out) ...\nline "), std::string::npos);
  const std::string one_line = shortened(std::string(20000, 'x'));
  EXPECT_LT(one_line.size(), 8000u);
}

}  // namespace
}  // namespace sublane::pjrt
