// The free pages of the cache, or its free state slots. Sequences take pages as they grow, a slot when they
// begin, and give them back when they end.
//
//   PagePool pool(4);
//   int32_t page = pool.take().value();
//   pool.give(page);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sublane::engine {

class PagePool {
 public:
  explicit PagePool(int64_t pages) {
    for (int64_t page = pages; page-- > 0;) free_.push_back(static_cast<int32_t>(page));
  }
  std::optional<int32_t> take() {
    if (free_.empty()) return std::nullopt;
    int32_t page = free_.back();
    free_.pop_back();
    return page;
  }
  void give(int32_t page) { free_.push_back(page); }
  size_t freePages() const { return free_.size(); }

 private:
  std::vector<int32_t> free_;  // the last one is taken next
};

}  // namespace sublane::engine
