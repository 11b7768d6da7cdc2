#include "report/event_lines.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/paths.h"

namespace sublane::report {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;

/// In quotes; names come from foreign programs.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The unit of a cause: "mxu" of "issue:mxu" and "dependency:mxu"; else the cause is its own.
std::string_view unitOf(std::string_view cause) {
  const size_t colon = cause.find(':');
  return colon == std::string_view::npos ? cause : cause.substr(colon + 1);
}

/// What only some kinds have.
std::string ofTransfer(const events::Event& event) {
  if (event.kind == events::Kind::kIssued) {
    return fmt::format(R"(,"from":"{}","to":"{}","link":{})", events::name(event.from),
                       events::name(event.to), event.link);
  }
  if (event.kind == events::Kind::kDone)
    return fmt::format(R"(,"first_byte":{},"last_byte":{})", event.first_byte, event.last_byte);
  return "";
}

}  // namespace

struct EventLines::State {
  AtomicFile file;
  std::string buffer{};
  Status status = Ok{};

  void flush() {
    if (status.ok()) status = file.append(buffer);
    buffer.clear();
  }
};

EventLines::EventLines(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventLines::EventLines(EventLines&&) noexcept = default;
EventLines::~EventLines() = default;

Result<EventLines> EventLines::create(const std::string& path) {
  SUBLANE_TRY(AtomicFile file, AtomicFile::create(path));
  return EventLines(std::make_unique<State>(State{std::move(file)}));
}

std::function<void(const events::Event&)> EventLines::sinkFor(const std::string& step,
                                                              const llo::Program& program) {
  std::vector<std::string> ops, kernels;  // written once, used for each event
  for (const llo::TracedOp& op : program.traced) ops.push_back(quoted(op.name));
  for (const llo::Listing& listing : program.listings) kernels.push_back(quoted(listing.function));
  const auto nameAt = [](const std::vector<std::string>& names, int32_t index) {
    return index < 0 || static_cast<size_t>(index) >= names.size() ? "null"
                                                                   : names[static_cast<size_t>(index)];
  };
  return [state = state_.get(), nameAt, ops, kernels, step = quoted(step)](const events::Event& event) {
    const std::string_view cause = events::name(event.cause);
    fmt::format_to(std::back_inserter(state->buffer),
                   R"({{"step":{},"what":"{}","cycle":{},"duration":{},"core":{},"cause":"{}","unit":"{}",)"
                   R"("op":{},"kernel":{},"bundle":{},"bytes":{},"transfer":{}{}}})"
                   "\n",
                   step, events::name(event.kind), event.cycle, event.duration, event.core, cause,
                   unitOf(cause), nameAt(ops, event.op), nameAt(kernels, event.listing),
                   event.bundle < 0 ? std::string("null") : fmt::format("{}", event.bundle), event.bytes,
                   event.transfer < 0 ? std::string("null") : fmt::format("{}", event.transfer),
                   ofTransfer(event));
    if (state->buffer.size() >= kBuffer) state->flush();
  };
}

Status EventLines::finish() {
  state_->flush();
  if (!state_->status.ok()) return state_->status;
  return state_->file.commit();
}

}  // namespace sublane::report
