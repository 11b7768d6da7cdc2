// What is wrong with the tensors of a file, collected in file order, so that all of it shows at once.
// Private to the folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace sublane::io {

class TensorFaults {
 public:
  explicit TensorFaults(std::string source) : source_(std::move(source)) {}

  template <class... Args>
  void add(std::string_view tensor, fmt::format_string<Args...> format, Args&&... args) {
    ++count_;
    if (shown_.size() < kShown) {
      shown_.push_back(
          fmt::format("tensor {}: {}", inQuotes(tensor), fmt::format(format, std::forward<Args>(args)...)));
    }
  }
  /// The first reason for a hint wins.
  void hint(std::string_view text) {
    if (hint_.empty()) hint_ = text;
  }
  bool any() const { return count_ > 0; }

  Error error() const {
    if (count_ == 1) return inputError("{}: {}", source_, shown_[0]).hint(hint_);
    std::string text = fmt::format("{} faults in the tensors:", count_);
    for (const std::string& fault : shown_) text += "\n  " + fault;
    if (count_ > shown_.size()) text += fmt::format("\n  and {} more", count_ - shown_.size());
    return inputError("{}: {}", source_, text).hint(hint_);
  }

 private:
  static constexpr size_t kShown = 12;
  std::string source_, hint_;
  std::vector<std::string> shown_;
  size_t count_ = 0;
};

}  // namespace sublane::io
