// The streaming machine against a naive one: decode all, then look for the stop text that is complete first.
#include "text/stop_matcher.h"

#include <gtest/gtest.h>

#include <random>

#include "tiny_vocabulary.h"

namespace sublane::text {
namespace {

StoppableText machine(const std::vector<std::string>& stops, bool include = false) {
  return {Utf8Stream{}, *StopMatcher::create({stops, include})};
}

struct Ended {
  std::string text, stop;
  bool operator==(const Ended&) const = default;
};

Ended naive(std::string_view bytes, const std::vector<std::string>& stops, bool include) {
  Utf8Stream utf8;
  std::string text = utf8.push(bytes);
  text += utf8.finish();
  for (size_t end = 1; end <= text.size(); ++end) {
    std::string_view so_far = std::string_view(text).substr(0, end);
    std::string best;
    for (const std::string& stop : stops) {
      if (so_far.ends_with(stop) && stop.size() > best.size()) best = stop;
    }
    if (!best.empty()) return {std::string(so_far.substr(0, include ? end : end - best.size())), best};
  }
  return {text, ""};
}

/// Bytes cut before each place in `cuts`.
Ended streamed(std::string_view bytes, const std::vector<std::string>& stops, bool include,
               const std::vector<bool>& cuts) {
  StoppableText stream = machine(stops, include);
  std::string text;
  size_t start = 0;
  for (size_t i = 1; i <= bytes.size(); ++i) {
    if (i < bytes.size() && !cuts[i]) continue;
    std::string piece = stream.push(bytes.substr(start, i - start));
    EXPECT_TRUE(isUtf8(piece)) << "half a character in " << piece;
    text += piece;
    start = i;
  }
  text += stream.finish();
  return {text, stream.matcher.stoppedBy().value_or("")};
}

TEST(StopMatcher, holdsBackWhatMayBeginAStop) {
  StoppableText stream = machine({"\nUser:", "END"});
  EXPECT_EQ(stream.push("hello"), "hello");
  EXPECT_EQ(stream.push(" E"), " ");
  EXPECT_EQ(stream.push("N"), "");
  EXPECT_EQ(stream.push("x\nUs"), "ENx");
  EXPECT_EQ(stream.push("er: hi"), "");
  EXPECT_EQ(stream.matcher.stoppedBy(), "\nUser:");
  EXPECT_EQ(stream.push("more") + stream.finish(), "");
}

TEST(StopMatcher, flushesWhatWasNotAStop) {
  StoppableText stream = machine({"END"});
  EXPECT_EQ(stream.push("the EN"), "the ");
  EXPECT_EQ(stream.finish(), "EN");
  EXPECT_FALSE(stream.matcher.stoppedBy());
}

TEST(StopMatcher, firstToBeCompleteWinsThenTheLongest) {
  auto once = [](const std::string& text, const std::vector<std::string>& stops, bool include = false) {
    StoppableText stream = machine(stops, include);
    std::string out = stream.push(text);
    return out + "|" + stream.matcher.stoppedBy().value_or("-");
  };
  EXPECT_EQ(once("abcd", {"abcd", "bc"}), "a|bc");       // begins later, ends first
  EXPECT_EQ(once("xabc", {"c", "bc", "abc"}), "x|abc");  // end together
  EXPECT_EQ(once("aaab", {"aab"}), "a|aab");
  EXPECT_EQ(once("ababac", {"abac"}), "ab|abac");
  EXPECT_EQ(once("say 🦙!", {"🦙"}, true), "say 🦙|🦙");
}

TEST(StopMatcher, stopOfManyBytesMayBeCutAnywhere) {
  StoppableText stream = machine({"🦙漢"});
  EXPECT_EQ(stream.push("a\xF0\x9F"), "a");
  EXPECT_EQ(stream.push("\xA6\x99\xE6"), "");
  EXPECT_EQ(stream.push("\xBC\xA2z"), "");
  EXPECT_EQ(stream.matcher.stoppedBy(), "🦙漢");
}

// Case 07: a byte that is no character is replaced at once, a cut one at the end only; both may be in a stop.
TEST(StopMatcher, brokenBytes) {
  StoppableText stream = machine({"\uFFFD!"});
  EXPECT_EQ(stream.push("x\xFF"), "x");
  EXPECT_EQ(stream.push("y\xF0\x9F"), "\uFFFDy");
  EXPECT_EQ(stream.push("!"), "");
  EXPECT_EQ(stream.matcher.stoppedBy(), "\uFFFD!");
  StoppableText tail = machine({"\uFFFD"});
  EXPECT_EQ(tail.push("a\xF0\x9F"), "a");
  EXPECT_EQ(tail.finish(), "");
  EXPECT_EQ(tail.matcher.stoppedBy(), "\uFFFD");
}

TEST(StopMatcher, refusesWhatCannotBeMeant) {
  auto said = [](const std::vector<std::string>& stops) {
    auto matcher = StopMatcher::create({stops, false});
    return matcher.ok() ? "taken" : matcher.error().message();
  };
  EXPECT_EQ(said({"a", ""}), "a stop text is empty");
  EXPECT_EQ(said({"\xF0\x9F"}), "the stop text \"\\xf0\\x9f\" is not UTF-8");
  EXPECT_EQ(said(std::vector<std::string>(65, "a")), "65 stop texts, at most 64 are allowed");
  EXPECT_EQ(said({std::string(1025, 'a')}).find("the stop text \"aaaaaaaaaaaaaaaaaaaa"), 0u);
  EXPECT_EQ(said({std::string(1024, 'a')}), "taken");
}

const std::vector<std::string> kPieces = {"a",  "b",        "ab",   "é",    "漢",       "🦙",
                                          "\n", "\xF0\x9F", "\xFF", "\xC3", "\xE6\xBC", "aab"};

std::string randomText(std::mt19937& random, size_t bytes, size_t kinds) {
  std::string text;
  while (text.size() < bytes) text += kPieces[random() % kinds];
  return text;
}

std::vector<std::string> randomStops(std::mt19937& random) {
  std::vector<std::string> stops;
  for (size_t i = 0; i < 1 + random() % 4; ++i) stops.push_back(randomText(random, 1 + random() % 4, 7));
  if (random() % 4 == 0) stops.push_back("\uFFFD");
  return stops;
}

// All 2^n ways to cut 200 short strings.
TEST(StopMatcher, everyCutOfShortStringsGivesTheSame) {
  std::mt19937 random(3);
  size_t stopped = 0;
  for (int round = 0; round < 200; ++round) {
    std::string bytes = randomText(random, 6 + random() % 4, round % 2 ? 7 : kPieces.size());
    bytes.resize(std::min<size_t>(bytes.size(), 11));
    std::vector<std::string> stops = randomStops(random);
    bool include = random() % 2;
    Ended expected = naive(bytes, stops, include);
    stopped += !expected.stop.empty();
    for (unsigned mask = 0; mask < 1u << (bytes.size() - 1); ++mask) {
      std::vector<bool> cuts(bytes.size());
      for (size_t i = 1; i < bytes.size(); ++i) cuts[i] = mask >> (i - 1) & 1;
      ASSERT_EQ(streamed(bytes, stops, include, cuts), expected) << "round " << round << ", cuts " << mask;
    }
  }
  EXPECT_GT(stopped, 50u);
  EXPECT_LT(stopped, 195u);
}

// All single cuts, all pairs of cuts, and random cuts of 200 longer ones.
TEST(StopMatcher, cutsOfLongerStringsGiveTheSame) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::string bytes = randomText(random, 20 + random() % 30, round % 2 ? 7 : kPieces.size());
    std::vector<std::string> stops = randomStops(random);
    for (std::string& stop : stops) stop += randomText(random, 2, 6);
    Ended expected = naive(bytes, stops, false);
    for (size_t first = 1; first < bytes.size(); ++first) {
      for (size_t second = first; second < bytes.size(); ++second) {
        std::vector<bool> cuts(bytes.size());
        cuts[first] = cuts[second] = true;
        ASSERT_EQ(streamed(bytes, stops, false, cuts), expected) << "round " << round;
      }
    }
    for (int draw = 0; draw < 50; ++draw) {
      std::vector<bool> cuts(bytes.size());
      for (size_t i = 0; i < cuts.size(); ++i) cuts[i] = random() % 3 == 0;
      ASSERT_EQ(streamed(bytes, stops, false, cuts), expected) << "round " << round;
    }
  }
}

TEST(TextStream, stopsInsideAToken) {
  auto tokenizer =
      Tokenizer::fromCheckpoint(checkpointOf(sentencePiece({{"\u2581Hi", -1}, {"x. U", -2}, {"ser:", -3}})));
  TextStream stream = *tokenizer->textStream({.stops = {" User:"}});
  EXPECT_EQ(stream.push(259), " Hi");
  EXPECT_EQ(stream.push(260), "x.");
  EXPECT_EQ(stream.push(261), "");
  EXPECT_EQ(stream.stoppedBy(), " User:");
  EXPECT_EQ(stream.finish(), "");
  TextStream plain = *tokenizer->textStream({});
  EXPECT_EQ(plain.push(259) + plain.push(260) + plain.finish(), " Hix. U");
}

}  // namespace
}  // namespace sublane::text
