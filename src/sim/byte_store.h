// HBM as far as its contents matter: pages of bytes that somebody wrote, and for each 4-byte word whether it
// was written at all. Everything else is unknown, not zero.
//
//   ByteStore hbm;
//   hbm.write(0x1000, bytes);
//   int64_t unknown = hbm.read(0x1000, into, kPoison);   // words that nobody wrote
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

namespace sublane::sim {

class ByteStore {
 public:
  /// Address and size are multiples of 4.
  void write(int64_t address, std::span<const std::byte> bytes);
  /// Unknown words become `filler`. Returns how many there were.
  int64_t read(int64_t address, std::span<std::byte> bytes, uint32_t filler) const;
  /// From now on the words are unknown.
  void forget(int64_t address, int64_t bytes);
  bool empty() const { return pages_.empty(); }

 private:
  static constexpr int64_t kPageBytes = 1 << 16;
  struct Page {
    std::byte bytes[kPageBytes];
    std::bitset<kPageBytes / 4> known;
  };
  std::unordered_map<int64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace sublane::sim
