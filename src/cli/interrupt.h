// Ctrl-C while other programs work for us: they are ended, temporary files go, and then we end as a shell
// expects. Private to the folder.
//
//   return untilInterrupted("simulate", [&] { return longWork({.cancel = &interrupted()}); });
#pragma once

#include <atomic>
#include <csignal>
#include <string>

namespace sublane::cli {

/// Raised by Ctrl-C and a polite kill while a SignalsRaiseFlag lives.
const std::atomic<bool>& interrupted();

/// While it lives, those signals raise the flag; afterwards they do what they did before. A signal that was
/// ignored (nohup) stays so.
class SignalsRaiseFlag {
 public:
  SignalsRaiseFlag();
  ~SignalsRaiseFlag();
  SignalsRaiseFlag(const SignalsRaiseFlag&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[3];
};

/// If it was raised: says so on stderr and ends by the same signal, so that a shell sees how.
void endIfInterrupted(const std::string& what);

/// Runs work that ends when `interrupted()` is raised; if it was, ends the program, too.
template <class Work>
auto untilInterrupted(const std::string& what, Work&& work) {
  auto result = [&] {
    SignalsRaiseFlag signals;
    return work();
  }();
  endIfInterrupted(what);
  return result;
}

}  // namespace sublane::cli
