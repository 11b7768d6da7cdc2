#include "views/trace_writer.h"

#include <algorithm>

#include "base/text.h"

namespace sublane::views {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;
/// One sequence of packets, whose interned strings all of it may use.
constexpr int64_t kSequence = 1;
constexpr int64_t kStateCleared = 1, kNeedsState = 2;
constexpr int64_t kExplicitOrder = 3;

enum TraceField : uint32_t { kPacket = 1 };
enum PacketField : uint32_t {
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};
enum DescriptorField : uint32_t {
  kUuid = 1,
  kTrackName = 2,
  kProcess = 3,
  kParent = 5,
  kCounter = 8,
  kChildOrdering = 11,
  kRank = 12,
  kDescription = 14,
};
enum ProcessField : uint32_t { kPid = 1, kProcessName = 6 };
enum CounterField : uint32_t { kUnitName = 6 };
enum EventField : uint32_t {
  kCategory = 3,
  kAnnotation = 4,
  kType = 9,
  kName = 10,
  kTrack = 11,
  kRealValue = 44,
  kFlow = 47,
  kFlowEnds = 48,
};
enum EventType : int { kBegin = 1, kEnd = 2, kInstant = 3, kCount = 4 };
enum AnnotationField : uint32_t { kArgumentName = 1, kInteger = 4, kReal = 5, kParts = 11, kText = 17 };
enum InternedField : uint32_t { kCategories = 1, kNames = 2, kArgumentNames = 3, kTexts = 29 };
enum EntryField : uint32_t { kNumber = 1, kString = 2 };

/// Names come from foreign programs.
std::string shown(std::string_view text) {
  constexpr size_t kLongest = 4096;
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return plain && text.size() <= kLongest ? std::string(text) : escaped(text, kLongest);
}

}  // namespace

Result<TraceWriter> TraceWriter::create(const std::string& path) {
  SUBLANE_TRY(AtomicFile file, AtomicFile::create(path));
  return TraceWriter(std::move(file));
}

uint64_t TraceWriter::process(std::string_view name) {
  WireWriter process, track;
  process.number(kPid, ++processes_);
  process.text(kProcessName, shown(name));
  track.number(kUuid, static_cast<int64_t>(++last_track_));
  track.text(kProcess, process.bytes());
  track.number(kChildOrdering, kExplicitOrder);
  descriptor(track);
  return last_track_;
}

uint64_t TraceWriter::track(const Track& track) {
  WireWriter out;
  out.number(kUuid, static_cast<int64_t>(++last_track_));
  out.text(kTrackName, track.name);
  if (track.parent != 0) out.number(kParent, static_cast<int64_t>(track.parent));
  if (track.counter) {
    WireWriter counter;
    if (!track.unit.empty()) counter.text(kUnitName, track.unit);
    out.text(kCounter, counter.bytes());
  }
  out.number(kRank, track.rank);
  if (!track.description.empty()) out.text(kDescription, track.description);
  descriptor(out);
  return last_track_;
}

void TraceWriter::descriptor(const WireWriter& track) {
  packet_.clear();
  packet_.text(kTrackDescriptor, track.bytes());
  packet(packet_);
}

/// The string's number; the first time, its text goes into this packet.
uint64_t TraceWriter::number(Numbers& known, uint32_t field, std::string_view text) {
  const auto [entry, added] = known.try_emplace(std::string(text), known.size() + 1);
  if (added) {
    WireWriter out;
    out.number(kNumber, static_cast<int64_t>(entry->second));
    out.text(kString, shown(text));
    interned_.text(field, out.bytes());
  }
  return entry->second;
}

void TraceWriter::annotate(WireWriter& out, uint32_t field, const Argument& argument) {
  WireWriter value;
  value.number(kArgumentName, static_cast<int64_t>(number(argument_names_, kArgumentNames, argument.name)));
  switch (argument.kind) {
    case Argument::Kind::kNumber:
      value.number(kInteger, argument.number);
      break;
    case Argument::Kind::kReal:
      value.real(kReal, argument.real);
      break;
    case Argument::Kind::kText:
      value.number(kText, static_cast<int64_t>(number(texts_, kTexts, argument.text)));
      break;
    case Argument::Kind::kParts:
      for (const Argument& part : argument.parts) annotate(value, kParts, part);
      break;
  }
  out.text(field, value.bytes());
}

void TraceWriter::event(uint64_t track, int64_t ns, int type, const TraceEvent& event) {
  event_.clear();
  interned_.clear();
  event_.number(kType, type);
  event_.number(kTrack, static_cast<int64_t>(track));
  if (!event.name.empty()) event_.number(kName, static_cast<int64_t>(number(names_, kNames, event.name)));
  if (!event.category.empty())
    event_.number(kCategory, static_cast<int64_t>(number(categories_, kCategories, event.category)));
  for (const Argument& argument : event.arguments) annotate(event_, kAnnotation, argument);
  if (event.flow != 0) event_.fixed(event.flow_ends ? kFlowEnds : kFlow, event.flow);
  packet_.clear();
  packet_.number(kTimestamp, ns);
  packet_.text(kTrackEvent, event_.bytes());
  if (!interned_.bytes().empty()) packet_.text(kInternedData, interned_.bytes());
  packet(packet_);
}

void TraceWriter::begin(uint64_t track, int64_t ns, const TraceEvent& event) {
  this->event(track, ns, kBegin, event);
}

void TraceWriter::end(uint64_t track, int64_t ns) { event(track, ns, kEnd, {}); }

void TraceWriter::instant(uint64_t track, int64_t ns, const TraceEvent& event) {
  this->event(track, ns, kInstant, event);
}

void TraceWriter::count(uint64_t track, int64_t ns, double value) {
  event_.clear();
  event_.number(kType, kCount);
  event_.number(kTrack, static_cast<int64_t>(track));
  event_.real(kRealValue, value);
  packet_.clear();
  packet_.number(kTimestamp, ns);
  packet_.text(kTrackEvent, event_.bytes());
  packet(packet_);
}

void TraceWriter::packet(const WireWriter& fields) {
  WireWriter sequence;
  sequence.number(kSequenceId, kSequence);
  sequence.number(kSequenceFlags, std::exchange(first_, false) ? kStateCleared | kNeedsState : kNeedsState);
  WireWriter head;
  head.text(kPacket, fields.bytes() + sequence.bytes());
  buffer_ += head.bytes();
  if (buffer_.size() >= kBuffer) flush();
}

void TraceWriter::flush() {
  if (status_.ok()) status_ = file_.append(buffer_);
  buffer_.clear();
}

Status TraceWriter::finish() {
  flush();
  if (!status_.ok()) return status_;
  return file_.commit();
}

}  // namespace sublane::views
