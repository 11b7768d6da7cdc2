#include "cli/interrupt.h"

#include <cstdio>

namespace sublane::cli {
namespace {

std::atomic<bool> raised{false};
std::atomic<int> raised_by{0};

void onSignal(int number) {
  if (raised) {  // a second time: at once
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  raised_by = number;
  raised = true;
}

}  // namespace

const std::atomic<bool>& interrupted() { return raised; }

SignalsRaiseFlag::SignalsRaiseFlag() {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

SignalsRaiseFlag::~SignalsRaiseFlag() {
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

void endIfInterrupted(const std::string& what) {
  if (!raised) return;
  std::fprintf(stderr, "sublane: %s: interrupted\n", what.c_str());
  std::raise(raised_by);
}

}  // namespace sublane::cli
