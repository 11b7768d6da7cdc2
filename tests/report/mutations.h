// Foreign text with some of its bytes changed, cut and doubled: the same for the same seed. A reader must say
// what is wrong, or take it; it must not fall.
//
//   for (uint64_t seed = 0; seed < 2000; ++seed) (void)parseReport(mutated(text, seed), "r.json");
#pragma once

#include <random>
#include <string>

namespace sublane {

inline std::string mutated(std::string text, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  static const std::string kLikely = "0123456789-\"{}[],:.e\n= \xff";
  for (size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
    const size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = kLikely[below(kLikely.size())];
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        text.insert(at, text.substr(at, 1 + below(40)));
        break;
      default:
        text.insert(at, 1, kLikely[below(kLikely.size())]);
    }
  }
  return text;
}

}  // namespace sublane
