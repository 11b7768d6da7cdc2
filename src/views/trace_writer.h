// Packets of a Perfetto trace: processes, tracks, slices, instants, counters and flows, with names written
// once. The numbers of fields are those of perfetto's public protos (perfetto/trace/*.proto). Private to the
// folder.
//
//   SUBLANE_TRY(TraceWriter trace, TraceWriter::create("t.pftrace"));
//   const uint64_t process = trace.process("decode");
//   const uint64_t track = trace.track({.parent = process, .name = "MXU"});
//   trace.begin(track, 0, {.name = "issue:mxu", .arguments = {{"cycles", 7}}});
//   trace.end(track, 4);
//   SUBLANE_CHECK_OK(trace.finish());
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/paths.h"
#include "base/result.h"
#include "base/wire.h"

namespace sublane::views {

/// A named value of a slice: a number, a text, or more of them.
struct Argument {
  enum class Kind : uint8_t { kNumber, kReal, kText, kParts };
  Argument(std::string_view n, int64_t value) : name(n), number(value) {}
  Argument(std::string_view n, int32_t value) : name(n), number(value) {}
  Argument(std::string_view n, double value) : name(n), kind(Kind::kReal), real(value) {}
  Argument(std::string_view n, std::string_view value) : name(n), kind(Kind::kText), text(value) {}
  Argument(std::string_view n, std::vector<Argument> value)
      : name(n), kind(Kind::kParts), parts(std::move(value)) {}
  std::string_view name;
  Kind kind = Kind::kNumber;
  int64_t number = 0;
  double real = 0;
  std::string_view text{};
  std::vector<Argument> parts{};
};

/// `flow` joins the events that carry it, in order of time; 0: none.
struct TraceEvent {
  std::string_view name;
  std::string_view category{};
  std::vector<Argument> arguments{};
  uint64_t flow = 0;
  bool flow_ends = false;
};

struct Track {
  uint64_t parent = 0;
  std::string_view name;
  std::string_view description{};
  int32_t rank = 0;         // among its siblings
  std::string_view unit{};  // of a counter
  bool counter = false;
};

class TraceWriter {
 public:
  /// Writes beside `path` until finish().
  static Result<TraceWriter> create(const std::string& path);

  uint64_t process(std::string_view name);
  uint64_t track(const Track& track);
  /// Times in ns; on a track they must not go back. Slices of a track nest.
  void begin(uint64_t track, int64_t ns, const TraceEvent& event);
  void end(uint64_t track, int64_t ns);
  void instant(uint64_t track, int64_t ns, const TraceEvent& event);
  void count(uint64_t track, int64_t ns, double value);

  /// Errors: the disk refused (the first time that it did).
  Status finish();

 private:
  using Numbers = std::unordered_map<std::string, uint64_t>;
  explicit TraceWriter(AtomicFile file) : file_(std::move(file)) {}
  void event(uint64_t track, int64_t ns, int type, const TraceEvent& event);
  void annotate(WireWriter& out, uint32_t field, const Argument& argument);
  uint64_t number(Numbers& known, uint32_t field, std::string_view text);
  void descriptor(const WireWriter& track);
  void packet(const WireWriter& fields);
  void flush();

  AtomicFile file_;
  Status status_ = Ok{};
  std::string buffer_;
  Numbers categories_, names_, argument_names_, texts_;
  WireWriter packet_, event_, interned_;  // kept, so that their memory is
  uint64_t last_track_ = 0;
  int32_t processes_ = 0;
  bool first_ = true;
};

}  // namespace sublane::views
