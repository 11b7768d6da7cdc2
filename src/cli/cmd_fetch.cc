// `sublane fetch NAME`: a known checkpoint into the cache.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "io/fetch.h"

namespace sublane::cli {
namespace {

// A line that is rewritten on a terminal; one line a step elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(std::string_view name) : name_(name), terminal_(isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (open_) std::fputs("\r\x1b[K", stderr);
  }

  void show(const io::FetchProgress& progress) {
    if (!terminal_ && progress.step == step_) return;
    step_ = progress.step;
    std::string text = fmt::format("fetch {}: {}, {} of {}", name_, progress.step,
                                   formatBytes(static_cast<double>(progress.bytes)),
                                   formatBytes(static_cast<double>(progress.total)));
    std::fprintf(stderr, terminal_ ? "\r%s\x1b[K" : "%s\n", text.c_str());
    std::fflush(stderr);
    open_ = terminal_;
  }

 private:
  std::string_view name_;
  std::string step_;
  bool terminal_, open_ = false;
};

void report(const io::KnownCheckpoint& known, const io::FetchedCheckpoint& fetched, double seconds,
            bool json) {
  if (!json) {
    fmt::print("{}: {} {}, {}, sha256 checked{}\n", known.name,
               fetched.was_there ? "already in" : "fetched to", fetched.path,
               formatBytes(static_cast<double>(known.bytes)),
               fetched.was_there ? "" : fmt::format(", in {} (measured)", formatSeconds(seconds)));
    return;
  }
  nlohmann::ordered_json document = jsonDocument("sublane.fetch/1");
  document["name"] = known.name;
  document["path"] = fetched.path;
  document["bytes"] = known.bytes;
  document["sha256"] = known.sha256;
  document["downloaded"] = !fetched.was_there;
  document["time"] = jsonNumber(seconds, "s", Origin::kMeasured);
  document["terms"] = known.terms;
  printJson(document);
}

Status fetch(const std::string& name, bool json) {
  const io::KnownCheckpoint* known = io::findKnownCheckpoint(name);
  if (!known) {
    return inputError("fetch: \"{}\" is not a known checkpoint", name)
        .hint("known: " + io::knownCheckpointNames());
  }
  std::fprintf(stderr, "fetch %s: %s\n", name.c_str(), std::string(known->terms).c_str());
  const auto start = std::chrono::steady_clock::now();
  Result<io::FetchedCheckpoint> fetched = [&] {
    SignalsRaiseFlag signals;
    std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is then an error of write, as a full disk is
    ProgressLine line(known->name);
    return io::fetchCheckpoint(*known,
                               {.progress = [&](const io::FetchProgress& progress) { line.show(progress); },
                                .cancel = &interrupted()});
  }();
  if (!fetched.ok()) endIfInterrupted("fetch " + name);
  if (!fetched.ok()) return std::move(fetched).error();
  report(*known, *fetched, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
         json);
  return Ok{};
}

}  // namespace

extern const Command cmd_fetch;
const Command cmd_fetch{"fetch", "Bring a known checkpoint into the cache", [](CLI::App& verb) -> Action {
                          auto name = std::make_shared<std::string>();
                          auto json = std::make_shared<bool>(false);
                          verb.add_option("NAME", *name, "One of: " + io::knownCheckpointNames())->required();
                          verb.add_flag("--json", *json, "Print JSON");
                          return [name, json] { return fetch(*name, *json); };
                        }};

}  // namespace sublane::cli
