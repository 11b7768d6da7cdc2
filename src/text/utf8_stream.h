// Bytes in, whole UTF-8 characters out.
//
// An incomplete character is held back until it is whole or proven wrong; bytes that cannot be part of a
// character become U+FFFD at once, one for each longest beginning of a character (Unicode's "maximal
// subparts", what Python and Rust do). So the text does not depend on how the bytes were cut.
//
//   Utf8Stream stream;
//   stream.push("\xF0\x9F");          // ""
//   stream.push("\xA6\x99");          // "🦙"
//   stream.finish();                  // "" (or U+FFFD for what is still open)
#pragma once

#include <string>
#include <string_view>

namespace sublane::text {

class Utf8Stream {
 public:
  std::string push(std::string_view bytes);
  std::string finish();

 private:
  std::string held_;  // a proper beginning of one character, or empty
};

/// Whole, valid characters only.
bool isUtf8(std::string_view bytes);

}  // namespace sublane::text
