// The simulator's events as a file: one JSON object a line, in the order in which they are told. Private to
// the folder.
//
//   SUBLANE_TRY(EventLines lines, EventLines::create("events.jsonl"));
//   options.sink = lines.sinkFor("decode", program, rows);
//   SUBLANE_CHECK_OK(lines.finish());
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "events/events.h"
#include "llo/program.h"

namespace sublane::report {

class EventLines {
 public:
  /// Writes beside `path` until finish(), so that a run that was interrupted leaves nothing half.
  static Result<EventLines> create(const std::string& path);
  EventLines(EventLines&&) noexcept;
  EventLines& operator=(EventLines&&) = delete;
  ~EventLines();

  /// `program` must outlive what is returned, and so must this.
  std::function<void(const events::Event&)> sinkFor(const std::string& step, const llo::Program& program);
  /// Errors: the disk refused (the first time that it did).
  Status finish();

 private:
  struct State;
  explicit EventLines(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sublane::report
