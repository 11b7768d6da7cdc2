#include "views/html.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/deflate.h"

namespace sublane::views {
namespace {

constexpr std::string_view kOpen = "<script id=\"data\" type=\"application/octet-stream\">";

std::string dataOf(const std::string& page) {
  const size_t begin = page.find(kOpen) + kOpen.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

std::string fromBase64(std::string_view text) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  for (size_t i = 0; i + 4 <= text.size(); i += 4) {
    uint32_t bits = 0;
    int count = 0;
    for (size_t k = 0; k < 4; ++k) {
      const size_t digit = kDigits.find(text[i + k]);
      if (digit != std::string_view::npos) ++count;
      bits = bits << 6 | (digit == std::string_view::npos ? 0 : static_cast<uint32_t>(digit));
    }
    for (int k = 0; k + 1 < count; ++k) bytes += static_cast<char>(bits >> (16 - 8 * k) & 255);
  }
  return bytes;
}

TEST(ToHtml, HoldsTheReportAndNothingElseOfIt) {
  const std::string evil = "</script><script>alert(1)</script><!-- {{data}} -->";
  for (size_t extra = 0; extra < 4; ++extra) {
    const std::string json =
        "{\"schema\":\"sublane.explain/2\",\"subject\":\"" + evil + std::string(extra, 'x') + "\"}";
    const std::string page = toHtml(json);
    EXPECT_EQ(page.find(evil), std::string::npos);
    const std::string data = dataOf(page);
    EXPECT_EQ(data.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
              std::string::npos);
    EXPECT_EQ(data.size() % 4, 0u);
    Result<std::string> back = inflated(fromBase64(data), json.size(), DeflateForm::kGzip);
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(*back, json);
  }
}

TEST(ToHtml, LeavesOutSpaceBetweenTokensOnly) {
  const std::string page = toHtml("{\n  \"a b\": [ 1,\t2 ],\r\n  \"quote \\\" and \\\\\": \" c \"\n}");
  const std::string wanted = "{\"a b\":[1,2],\"quote \\\" and \\\\\":\" c \"}";
  EXPECT_EQ(*inflated(fromBase64(dataOf(page)), wanted.size(), DeflateForm::kGzip), wanted);
}

TEST(ToHtml, SameJsonSameBytes) {
  EXPECT_EQ(toHtml("{}"), toHtml("{}"));
  EXPECT_NE(toHtml("{}"), toHtml("[]"));
}

/// The browser's tests are of the template; this one is that the program carries that very file.
TEST(ToHtml, IsTheTemplateWithTheReportInIt) {
  std::ifstream file(SUBLANE_BINARY_DIR "/web/report.html");
  std::stringstream text;
  text << file.rdbuf();
  std::string expected = text.str();
  ASSERT_FALSE(expected.empty());
  const std::string page = toHtml("{}");
  expected.replace(expected.find("{{data}}"), 8, dataOf(page));
  EXPECT_EQ(page, expected);
}

TEST(ToHtml, NamesNoAddress) {
  std::string page = toHtml("{}");
  const std::string allowed = "http://www.w3.org/";  // names of XML, which nothing fetches
  for (size_t at; (at = page.find(allowed)) != std::string::npos;) page.erase(at, allowed.size());
  EXPECT_EQ(page.find("http:"), std::string::npos);
  EXPECT_EQ(page.find("https:"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

}  // namespace
}  // namespace sublane::views
