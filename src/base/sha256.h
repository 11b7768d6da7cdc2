// SHA-256 of bytes as they come, and of a whole file.
//
//   Sha256 hash;
//   hash.update(std::as_bytes(std::span(text)));
//   std::string hex = hash.hex();             // 64 lower-case digits
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace sublane {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  /// Ends the hash; update() must not follow.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256Of(std::span<const std::byte> bytes);
/// Errors: as MappedFile::open.
Result<std::string> sha256OfFile(const std::string& path);

}  // namespace sublane
