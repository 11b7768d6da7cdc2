// Result<T>: a value or an Error, for everything that input, files, plugins or the machine can cause.
//
// No exception crosses a Sublane interface. An Error carries whose fault it is (which fixes the exit
// code), a message in the form "where: what is wrong, the two numbers that disagree", and one hint.
//
//   Result<int> half(int n) {
//     if (n % 2) return inputError("half: {} is odd", n).hint("pass an even number");
//     return n / 2;
//   }
//   Result<int> quarter(int n) {
//     SUBLANE_TRY(int h, half(n));
//     return half(h);
//   }
#pragma once

#include <fmt/format.h>

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sublane {

/// Whose fault an error is; also the exit code of the command line (DESIGN, "Interfaces").
enum class Fault {
  kCheckFailed = 1,  // a check that the user asked for found a difference
  kInput = 2,        // wrong use or bad input
  kMachine = 3,      // the machine, a plugin or a missing part failed
};

class [[nodiscard]] Error {
 public:
  Error(Fault fault, std::string message) : fault_(fault), message_(std::move(message)) {}

  /// Adds the one thing to try next.
  Error hint(std::string text) && {
    hint_ = std::move(text);
    return std::move(*this);
  }
  /// Puts "place: " before the message, as the error travels outwards.
  Error at(const std::string& place) && {
    message_ = place + ": " + message_;
    return std::move(*this);
  }

  Fault fault() const { return fault_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }
  /// "message\n  hint: ..." as the command line prints it.
  std::string text() const { return hint_.empty() ? message_ : message_ + "\n  hint: " + hint_; }

 private:
  Fault fault_;
  std::string message_;
  std::string hint_;
};

template <class... Args>
Error inputError(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Fault::kInput, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
Error machineError(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Fault::kMachine, fmt::format(format, std::forward<Args>(args)...));
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() & { return *std::get_if<1>(&state_); }
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value.
struct Ok {};
using Status = Result<Ok>;

}  // namespace sublane

#define SUBLANE_JOIN_(a, b) a##b
#define SUBLANE_JOIN(a, b) SUBLANE_JOIN_(a, b)
#define SUBLANE_TRY_(tmp, decl, ...)            \
  auto tmp = (__VA_ARGS__);                     \
  if (!tmp.ok()) return std::move(tmp).error(); \
  decl = std::move(tmp).value()
/// Declares `decl` from a Result, or returns its error: SUBLANE_TRY(auto file, MappedFile::open(path));
#define SUBLANE_TRY(decl, ...) SUBLANE_TRY_(SUBLANE_JOIN(try_, __LINE__), decl, __VA_ARGS__)
/// Returns the error of a Status, if it is one.
#define SUBLANE_CHECK_OK(...)                                       \
  do {                                                              \
    auto check_status = (__VA_ARGS__);                              \
    if (!check_status.ok()) return std::move(check_status).error(); \
  } while (0)
