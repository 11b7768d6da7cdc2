#include "llo/program_overlays.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

namespace sublane::llo {
namespace {

constexpr int32_t kMostOverlays = 1 << 16;
constexpr int64_t kMostBundles = int64_t{1} << 24;  // of one overlay; a larger number is no address

struct Address {
  int32_t overlay = 0;
  int64_t bundle = 0;
};

/// "TensorCoreSequencer:30:0x1b74"
std::optional<Address> readAddress(std::string_view text) {
  constexpr std::string_view kCore = "TensorCoreSequencer:", kHex = ":0x";
  if (!text.starts_with(kCore)) return std::nullopt;
  text.remove_prefix(kCore.size());
  Address address;
  const char *const begin = text.data(), *const end = begin + text.size();
  auto [rest, error] = std::from_chars(begin, end, address.overlay);
  text.remove_prefix(static_cast<size_t>(rest - begin));
  if (error != std::errc() || !text.starts_with(kHex)) return std::nullopt;
  error = std::from_chars(text.data() + kHex.size(), end, address.bundle, 16).ec;
  if (error != std::errc() || address.overlay < 0 || address.overlay >= kMostOverlays) return std::nullopt;
  if (address.bundle < 0 || address.bundle > kMostBundles) return std::nullopt;
  return address;
}

/// What follows `label` on this line; empty: another line.
std::string_view after(std::string_view line, std::string_view label) {
  const size_t at = line.find(label);
  return at == std::string_view::npos ? "" : line.substr(at + label.size());
}

}  // namespace

std::vector<int64_t> joinOverlays(std::string_view details, std::vector<TracedOp>& traced) {
  std::vector<int64_t> bundles;
  std::unordered_map<std::string_view, int32_t> overlay_of;
  std::string_view name;
  const auto reach = [&](const Address& address) {
    if (std::ssize(bundles) <= address.overlay) bundles.resize(static_cast<size_t>(address.overlay) + 1, 0);
    int64_t& end = bundles[static_cast<size_t>(address.overlay)];
    end = std::max(end, address.bundle);
  };
  while (!details.empty()) {
    const size_t end = details.find('\n');
    const std::string_view line = details.substr(0, end);
    details.remove_prefix(end == std::string_view::npos ? details.size() : end + 1);
    if (const std::string_view operation = after(line, "operation: %"); !operation.empty())
      name = operation.substr(0, operation.find(' '));
    const std::string_view range = after(line, "emitted bundle range: [");
    const size_t comma = range.find(", ");
    if (comma == std::string_view::npos) continue;
    const auto first = readAddress(range), last = readAddress(range.substr(comma + 2));
    if (!first || !last) continue;
    overlay_of.emplace(name, first->overlay);
    reach(*first);
    reach(*last);
  }
  for (TracedOp& op : traced) {
    if (const auto found = overlay_of.find(op.name); found != overlay_of.end()) op.overlay = found->second;
  }
  return bundles;
}

}  // namespace sublane::llo
