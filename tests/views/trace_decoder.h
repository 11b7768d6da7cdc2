// Reads a Perfetto trace back, by the public protos' field numbers and with a wire reader of its own: what
// the writer's code believes is not used here. Strict: whatever is not expected is a fault.
//
//   const DecodedTrace trace = decodeTrace(bytes);
//   ASSERT_EQ(trace.fault, "");
//   for (const DecodedSlice& slice : slicesOf(trace, "decode, core 0", "MXU")) ...
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sublane::views {

struct DecodedArguments {
  std::map<std::string, int64_t> numbers;
  std::map<std::string, double> reals;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::map<std::string, int64_t>> parts;

  int64_t number(const std::string& name) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? -1 : found->second;
  }
  std::string text(const std::string& name) const {
    const auto found = texts.find(name);
    return found == texts.end() ? "" : found->second;
  }
};

struct DecodedEvent {
  uint64_t type = 0, track = 0;  // 1: begin, 2: end, 3: instant, 4: counter
  int64_t ns = -1;
  std::string name, category;
  DecodedArguments arguments;
  std::vector<uint64_t> flows, flow_ends;
  double value = 0;
};

struct DecodedTrack {
  uint64_t uuid = 0, parent = 0;
  std::string name, description, process, unit;
  uint64_t pid = 0, rank = 0, ordering = 0;
  bool counter = false;
};

struct DecodedTrace {
  std::vector<DecodedTrack> tracks;
  std::vector<DecodedEvent> events;  // in the file's order
  std::string fault;
};

/// One field of a message; the shortest reader that can tell when bytes are wrong.
struct RawField {
  uint64_t number = 0, type = 0, value = 0;
  std::string_view bytes;
};

inline bool nextField(std::string_view& rest, RawField& field, std::string& fault) {
  const auto varint = [&](uint64_t& out) {
    out = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (rest.empty()) return false;
      const auto byte = static_cast<unsigned char>(rest[0]);
      rest.remove_prefix(1);
      out |= static_cast<uint64_t>(byte & 127) << (shift < 64 ? shift : 63);
      if (byte < 128) return true;
    }
    return false;
  };
  if (rest.empty()) return false;
  uint64_t tag = 0, length = 0;
  field = {};
  bool good = varint(tag);
  field.number = tag >> 3;
  field.type = tag & 7;
  if (good && field.type == 0) {
    good = varint(field.value);
  } else if (good && field.type == 1) {
    good = rest.size() >= 8;
    if (good) std::memcpy(&field.value, rest.data(), 8);
    if (good) rest.remove_prefix(8);
  } else if (good && field.type == 2) {
    good = varint(length) && length <= rest.size();
    if (good) field.bytes = rest.substr(0, length);
    if (good) rest.remove_prefix(length);
  } else {
    good = false;
  }
  if (!good) fault = "malformed bytes";
  return good;
}

class TraceDecoder {
 public:
  DecodedTrace decode(std::string_view bytes) {
    each(bytes, [&](const RawField& field) {
      if (field.number == 1 && field.type == 2)
        packet(field.bytes);
      else
        fail("a field of the trace that is no packet");
    });
    return std::move(trace_);
  }

 private:
  using Names = std::map<uint64_t, std::string>;

  template <class Visit>
  void each(std::string_view bytes, Visit visit) {
    RawField field;
    while (trace_.fault.empty() && nextField(bytes, field, trace_.fault)) visit(field);
  }
  void fail(const std::string& what) {
    if (trace_.fault.empty()) trace_.fault = what;
  }

  void packet(std::string_view bytes) {
    std::string_view event, track;
    int64_t ns = -1;
    uint64_t sequence = 0, flags = 0;
    each(bytes, [&](const RawField& field) {
      if (field.number == 8) ns = static_cast<int64_t>(field.value);
      if (field.number == 10) sequence = field.value;
      if (field.number == 13) flags = field.value;
      if (field.number == 11) event = field.bytes;
      if (field.number == 60) track = field.bytes;
      if (field.number == 12) intern(field.bytes);
    });
    if (sequence == 0) fail("a packet of no sequence");
    // 1: what was interned before is forgotten; 2: what is interned is used.
    if (flags != (first_ ? 3u : 2u)) fail("the flags of a packet");
    first_ = false;
    if (!track.empty()) descriptor(track);
    if (!event.empty()) this->event(event, ns);
    if (track.empty() == event.empty()) fail("a packet that is neither a track nor an event");
  }

  void descriptor(std::string_view bytes) {
    DecodedTrack track;
    each(bytes, [&](const RawField& field) {
      if (field.number == 1) track.uuid = field.value;
      if (field.number == 2) track.name = field.bytes;
      if (field.number == 5) track.parent = field.value;
      if (field.number == 11) track.ordering = field.value;
      if (field.number == 12) track.rank = field.value;
      if (field.number == 14) track.description = field.bytes;
      if (field.number == 3) {
        each(field.bytes, [&](const RawField& process) {
          if (process.number == 1) track.pid = process.value;
          if (process.number == 6) track.process = process.bytes;
        });
      }
      if (field.number == 8) {
        track.counter = true;
        each(field.bytes, [&](const RawField& counter) {
          if (counter.number == 6) track.unit = counter.bytes;
        });
      }
    });
    for (const DecodedTrack& other : trace_.tracks)
      if (other.uuid == track.uuid) fail("two tracks of one number");
    trace_.tracks.push_back(track);
  }

  void intern(std::string_view bytes) {
    each(bytes, [&](const RawField& field) {
      uint64_t number = 0;
      std::string text;
      each(field.bytes, [&](const RawField& entry) {
        if (entry.number == 1) number = entry.value;
        if (entry.number == 2) text = entry.bytes;
      });
      if (number == 0 || !names_[field.number].emplace(number, text).second) fail("an interned name, twice");
    });
  }

  std::string named(uint64_t kind, uint64_t number) {
    const auto found = names_[kind].find(number);
    if (found == names_[kind].end()) fail("a name that was not interned");
    return found == names_[kind].end() ? "" : found->second;
  }

  void event(std::string_view bytes, int64_t ns) {
    DecodedEvent event{.ns = ns};
    each(bytes, [&](const RawField& field) {
      if (field.number == 9) event.type = field.value;
      if (field.number == 11) event.track = field.value;
      if (field.number == 3) event.category = named(1, field.value);
      if (field.number == 10) event.name = named(2, field.value);
      if (field.number == 4) argument(field.bytes, event.arguments);
      if (field.number == 47) event.flows.push_back(field.value);
      if (field.number == 48) event.flow_ends.push_back(field.value);
      if (field.number == 44) std::memcpy(&event.value, &field.value, 8);
      if ((field.number == 47 || field.number == 48 || field.number == 44) && field.type != 1)
        fail("a flow or value that is not 64 bits");
    });
    if (ns < 0) fail("an event without a time");
    trace_.events.push_back(std::move(event));
  }

  void argument(std::string_view bytes, DecodedArguments& into) {
    std::string name;
    int values = 0;
    DecodedArguments parts;
    each(bytes, [&](const RawField& field) {
      if (field.number == 1) name = named(3, field.value);
      if (field.number == 4) into.numbers[name] = static_cast<int64_t>(field.value), ++values;
      if (field.number == 5) std::memcpy(&into.reals[name], &field.value, 8), ++values;
      if (field.number == 17) into.texts[name] = named(29, field.value), ++values;
      if (field.number == 11) argument(field.bytes, parts), values = 1;
    });
    if (!parts.numbers.empty()) into.parts[name] = parts.numbers;
    if (name.empty() || values > 1) fail("an argument without a name, or with two values");
  }

  DecodedTrace trace_;
  std::map<uint64_t, Names> names_;  // by their kind
  bool first_ = true;
};

inline DecodedTrace decodeTrace(std::string_view bytes) { return TraceDecoder().decode(bytes); }

/// A begin with its end.
struct DecodedSlice {
  uint64_t track = 0;
  int64_t begin = 0, end = 0;
  size_t depth = 0;
  std::string name, category;
  DecodedArguments arguments;
  std::vector<uint64_t> flows;
};

/// Slices of all tracks of that name and process, in order of their begin on each. Whatever is not balanced,
/// or goes back in time, is a fault.
inline std::vector<DecodedSlice> slicesOf(DecodedTrace& trace, const std::string& process,
                                          const std::string& name) {
  std::vector<DecodedSlice> slices;
  for (const DecodedTrack& track : trace.tracks) {
    std::string owner;
    for (const DecodedTrack& other : trace.tracks)
      if (other.uuid == track.parent) owner = other.process;
    if (track.name != name || owner != process) continue;
    std::vector<size_t> open;
    int64_t last = 0;
    for (const DecodedEvent& event : trace.events) {
      if (event.track != track.uuid) continue;
      if (event.ns < last) trace.fault = name + ": time goes back";
      last = event.ns;
      if (event.type == 1) {
        open.push_back(slices.size());
        slices.push_back({track.uuid, event.ns, -1, open.size(), event.name, event.category, event.arguments,
                          event.flows});
      }
      if (event.type != 2) continue;
      if (open.empty()) {
        trace.fault = name + ": an end without a begin";
        continue;
      }
      slices[open.back()].end = event.ns;
      open.pop_back();
    }
    if (!open.empty()) trace.fault = name + ": a begin without an end";
  }
  return slices;
}

/// Names of a process's tracks in the order in which they are shown.
inline std::vector<std::string> tracksOf(const DecodedTrace& trace, const std::string& process) {
  std::map<uint64_t, std::string> names;
  for (const DecodedTrack& owner : trace.tracks) {
    if (owner.process != process) continue;
    for (const DecodedTrack& track : trace.tracks)
      if (track.parent == owner.uuid) names[track.rank] = track.name;
  }
  std::vector<std::string> out;
  for (const auto& [rank, name] : names)
    if (out.empty() || out.back() != name) out.push_back(name);
  return out;
}

}  // namespace sublane::views
