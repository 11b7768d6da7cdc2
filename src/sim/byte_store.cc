#include "sim/byte_store.h"

#include <algorithm>
#include <cstring>

namespace sublane::sim {
namespace {

/// Calls `visit(page, offset in it, offset in the range, bytes)` for each page that a range touches.
template <class Visit>
void forPages(int64_t address, int64_t bytes, int64_t page_bytes, Visit visit) {
  for (int64_t done = 0; done < bytes;) {
    const int64_t at = address + done, offset = at % page_bytes;
    const int64_t count = std::min(page_bytes - offset, bytes - done);
    visit(at / page_bytes, offset, done, count);
    done += count;
  }
}

}  // namespace

void ByteStore::write(int64_t address, std::span<const std::byte> bytes) {
  forPages(address, static_cast<int64_t>(bytes.size()), kPageBytes,
           [&](int64_t number, int64_t offset, int64_t done, int64_t count) {
             std::unique_ptr<Page>& page = pages_[number];
             if (!page) page = std::make_unique<Page>();
             std::memcpy(page->bytes + offset, bytes.data() + done, static_cast<size_t>(count));
             for (int64_t w = offset / 4; w < (offset + count + 3) / 4; ++w)
               page->known.set(static_cast<size_t>(w));
           });
}

int64_t ByteStore::read(int64_t address, std::span<std::byte> bytes, uint32_t filler) const {
  int64_t unknown = 0;
  forPages(address, static_cast<int64_t>(bytes.size()), kPageBytes,
           [&](int64_t number, int64_t offset, int64_t done, int64_t count) {
             const auto found = pages_.find(number);
             const Page* page = found == pages_.end() ? nullptr : found->second.get();
             if (page) std::memcpy(bytes.data() + done, page->bytes + offset, static_cast<size_t>(count));
             for (int64_t w = 0; w < count / 4; ++w) {
               if (page && page->known.test(static_cast<size_t>(offset / 4 + w))) continue;
               std::memcpy(bytes.data() + done + w * 4, &filler, 4);
               ++unknown;
             }
           });
  return unknown;
}

void ByteStore::forget(int64_t address, int64_t bytes) {
  if (bytes <= 0) return;
  const int64_t first = address / kPageBytes, last = (address + bytes - 1) / kPageBytes;
  const auto clear = [&](int64_t number, Page& page) {
    const int64_t begin = std::max(address - number * kPageBytes, int64_t{0}) / 4;
    const int64_t end = std::min(address + bytes - number * kPageBytes, kPageBytes) / 4;
    for (int64_t w = begin; w < end; ++w) page.known.reset(static_cast<size_t>(w));
  };
  if (last - first > static_cast<int64_t>(pages_.size())) {
    for (auto& [number, page] : pages_) {
      if (number >= first && number <= last) clear(number, *page);
    }
    return;
  }
  for (int64_t number = first; number <= last; ++number) {
    if (const auto found = pages_.find(number); found != pages_.end()) clear(number, *found->second);
  }
}

}  // namespace sublane::sim
