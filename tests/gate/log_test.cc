#include "gate/log.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "../report/mutations.h"
#include "../report/schema_keys.h"
#include "base/paths.h"

namespace sublane::gate {
namespace {

LogEntry entry(const std::string& subject, const std::string& note = "") {
  return {.verb = "simulate",
          .time = "2026-11-30T12:00:00Z",
          .sides = {{.subject = subject,
                     .chip = "v6e",
                     .compiler = "libtpu 0.0.52",
                     .program = "00ff",
                     .model = "abcd",
                     .flags = {"xla_a = 3"},
                     .steps = {{"decode", "simulated", 12.5}}}},
          .note = note};
}

class LogFile : public testing::Test {
 protected:
  Log read() {
    Result<Log> log = readLog(path_);
    EXPECT_TRUE(log.ok()) << log.error().text();
    return std::move(*log);
  }
  TemporaryDirectory folder_ = TemporaryDirectory::create().value();
  const std::string path_ = folder_.path() + "/log.jsonl";
};

TEST_F(LogFile, WhatIsAppendedIsReadBack) {
  ASSERT_TRUE(appendLog(path_, entry("a.mlir", "before the change")).ok());
  ASSERT_TRUE(appendLog(path_, entry("b\n\"\xff.mlir")).ok());
  const Log log = read();
  ASSERT_EQ(log.entries.size(), 2u);
  EXPECT_TRUE(log.damaged.empty());
  const LogEntry& first = log.entries[0].second;
  EXPECT_EQ(first.note, "before the change");
  EXPECT_EQ(first.sides[0].flags, std::vector<std::string>{"xla_a = 3"});
  EXPECT_DOUBLE_EQ(first.sides[0].steps[0].us, 12.5);
  EXPECT_NE(toText(log).find("a.mlir on v6e"), std::string::npos) << toText(log);
  EXPECT_NE(toText(log).find("decode 12.50 us (simulated)"), std::string::npos);
  EXPECT_NE(toText(1, first).find("chip model    abcd"), std::string::npos) << toText(1, first);
  const auto document = nlohmann::json::parse(toJson(log));
  EXPECT_EQ(document["schema"], "sublane.log/1");
  EXPECT_EQ(document["entries"][1]["line"], 2);
  const auto schema = schemaOf("log-1");
  expectKeys(document, schema);
  expectKeys(document["entries"][0], schema["$defs"]["entry"]);
  expectKeys(document["entries"][0]["sides"][0], schema["$defs"]["side"]);
  expectKeys(document["entries"][0]["sides"][0]["steps"][0],
             schema["$defs"]["side"]["properties"]["steps"]["items"]);
}

TEST_F(LogFile, DamagedLinesAreNamedAndTheRestIsShown) {
  ASSERT_TRUE(appendLog(path_, entry("a")).ok());
  const std::string whole = readFile(path_).value();
  ASSERT_TRUE(writeFileAtomically(path_, whole + "{\"schema\": \"sublane.log/1\", \"ti\n" +
                                             "{\"schema\": \"sublane.log/9\"}\n[1]\n" +
                                             std::string(2000, '[') + "\n" +
                                             whole.substr(0, whole.size() / 2))
                  .ok());
  ASSERT_TRUE(appendLog(path_, entry("b")).ok()) << "after a line that was cut";
  const Log log = read();
  ASSERT_EQ(log.entries.size(), 2u);
  EXPECT_EQ(log.entries[1].second.sides[0].subject, "b");
  ASSERT_EQ(log.damaged.size(), 5u);
  EXPECT_EQ(log.damaged[0].number, 2);
  EXPECT_NE(log.damaged[1].what.find("schema \"sublane.log/9\", expected"), std::string::npos);
  EXPECT_NE(toText(log).find("line 4 is damaged: not an object"), std::string::npos) << toText(log);
}

TEST_F(LogFile, WrongBytesAreNamedOrTaken) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(appendLog(path_, entry("a.mlir")).ok());
  const std::string text = readFile(path_).value();
  size_t damaged = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Log log = parseLog(mutated(text, seed));
    damaged += log.damaged.size();
    EXPECT_FALSE(toText(log).empty());
  }
  EXPECT_GT(damaged, 100u);
}

TEST_F(LogFile, SeveralProcessesWriteWholeLines) {
  constexpr int kProcesses = 8, kLines = 50;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      bool well = true;
      for (int line = 0; line < kLines; ++line)
        well &= appendLog(path_, entry(fmt::format("{}/{}", process, line), std::string(5000, 'x'))).ok();
      _exit(well ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Log log = read();
  EXPECT_TRUE(log.damaged.empty());
  EXPECT_EQ(log.entries.size(), static_cast<size_t>(kProcesses * kLines));
}

TEST(LogSides, HoldTheHashesThatAClaimDependsOn) {
  report::Simulation made{.subject = "m", .chip = *chips::findChip("v6e"), .compiler = "libtpu 0.0.52"};
  made.model_hash = "0123456789abcdef0123";
  made.without = {"dma"};
  made.steps.push_back({.name = "decode", .fingerprint = "one", .us = 3});
  const LogSide one = sideOf(made);
  EXPECT_EQ(one.model, "0123456789abcdef");
  EXPECT_EQ(one.flags, std::vector<std::string>{"without dma"});
  EXPECT_EQ(one.steps[0].origin, "simulated");
  made.steps[0].fingerprint = "two";
  EXPECT_NE(sideOf(made).program, one.program);
  made.steps[0].fingerprint = "";
  EXPECT_EQ(sideOf(made).program, "");
}

}  // namespace
}  // namespace sublane::gate
