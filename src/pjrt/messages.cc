#include "pjrt/messages.h"

#include "base/wire.h"

namespace sublane::pjrt {

// ---- frames

static constexpr std::string_view kMagic = "SUBL";
static constexpr size_t kHeaderBytes = kMagic.size() + 1 + 8;

std::string encodeFrame(std::string_view payload) {
  std::string frame(kMagic);
  frame.push_back(static_cast<char>(kMessageVersion));
  for (int shift = 0; shift < 64; shift += 8)
    frame.push_back(static_cast<char>(uint64_t{payload.size()} >> shift));
  frame.append(payload);
  return frame;
}

Result<std::string_view> decodeFrame(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) {
    return machineError("frame: {} bytes, shorter than its {}-byte header", bytes.size(), kHeaderBytes);
  }
  if (!bytes.starts_with(kMagic)) return machineError("frame: does not start with \"{}\"", kMagic);
  const int version = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (version != kMessageVersion) {
    return machineError("frame: version {}, but this program speaks {}", version, kMessageVersion);
  }
  uint64_t size = 0;
  for (int i = 0; i < 8; ++i) {
    size |= uint64_t{static_cast<unsigned char>(bytes[kMagic.size() + 1 + static_cast<size_t>(i)])}
            << (8 * i);
  }
  if (bytes.size() - kHeaderBytes != size) {
    return machineError("frame: {} bytes of payload, its header says {}", bytes.size() - kHeaderBytes, size);
  }
  return bytes.substr(kHeaderBytes);
}

// ---- options

namespace {
enum OptionField : uint32_t { kName = 1, kString = 2, kInt64 = 3, kBool = 4, kDouble = 5 };
enum RequestField : uint32_t {
  kStablehlo = 1,
  kTopology,
  kTopologyOption,
  kReplicas,
  kPartitions,
  kOverride,
  kInitArg,
  kLibtpuPath,
  kWantExecutable,
  kWantListings,
  kWantAssembly,
  kWantProfile
};
enum ResultField : uint32_t {
  kOptimizedHlo = 1,
  kExecutable,
  kFingerprint,
  kPlatformVersion,
  kDeviceKind,
  kDeviceCount,
  kMemory,
  kSeconds,
  kDump
};
enum MemoryField : uint32_t { kCode = 1, kArguments, kOutputs, kAliased, kTemporaries, kPeak };
enum DumpField : uint32_t { kFunction = 1, kLabel, kText };
enum ReplyField : uint32_t { kReplyResult = 1, kReplyError };
enum ErrorField : uint32_t { kFault = 1, kMessage, kHint };

void writeOption(WireWriter& out, uint32_t field, const std::string& name, const OptionValue& value) {
  WireWriter option;
  option.text(kName, name);
  if (const auto* text = std::get_if<std::string>(&value)) option.text(kString, *text);
  if (const auto* number = std::get_if<int64_t>(&value)) option.number(kInt64, *number);
  if (const auto* flag = std::get_if<bool>(&value)) option.number(kBool, *flag);
  if (const auto* real = std::get_if<double>(&value)) option.real(kDouble, *real);
  out.text(field, option.bytes());
}

bool readOption(std::string_view bytes, Options& options) {
  std::string name;
  OptionValue value;
  WireReader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case kName:
        name = in.text();
        break;
      case kString:
        value = std::string(in.text());
        break;
      case kInt64:
        value = in.number();
        break;
      case kBool:
        value = in.number() != 0;
        break;
      case kDouble:
        value = in.real();
        break;
      default:  // of a younger writer
        break;
    }
  }
  options[name] = std::move(value);
  return in.wellFormed();
}

Error malformed(std::string_view what) { return machineError("{}: malformed bytes", what); }
}  // namespace

// ---- requests

std::string encodeRequest(const AheadOfTimeRequest& request) {
  WireWriter out;
  out.text(kStablehlo, request.stablehlo);
  out.text(kTopology, request.topology);
  for (const auto& [name, value] : request.topology_options) writeOption(out, kTopologyOption, name, value);
  out.number(kReplicas, request.options.replicas);
  out.number(kPartitions, request.options.partitions);
  for (const auto& [name, value] : request.options.overrides) writeOption(out, kOverride, name, value);
  for (const std::string& argument : request.init_args) out.text(kInitArg, argument);
  out.text(kLibtpuPath, request.libtpu_path);
  out.number(kWantExecutable, request.want_executable);
  out.number(kWantListings, request.want_listings);
  out.number(kWantAssembly, request.want_assembly);
  out.number(kWantProfile, request.want_profile);
  return out.bytes();
}

Result<AheadOfTimeRequest> decodeRequest(std::string_view bytes) {
  AheadOfTimeRequest request;
  bool good = true;
  WireReader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case kStablehlo:
        request.stablehlo = in.text();
        break;
      case kTopology:
        request.topology = in.text();
        break;
      case kTopologyOption:
        good = readOption(in.text(), request.topology_options) && good;
        break;
      case kReplicas:
        request.options.replicas = in.number();
        break;
      case kPartitions:
        request.options.partitions = in.number();
        break;
      case kOverride:
        good = readOption(in.text(), request.options.overrides) && good;
        break;
      case kInitArg:
        request.init_args.emplace_back(in.text());
        break;
      case kLibtpuPath:
        request.libtpu_path = in.text();
        break;
      case kWantExecutable:
        request.want_executable = in.number() != 0;
        break;
      case kWantListings:
        request.want_listings = in.number() != 0;
        break;
      case kWantAssembly:
        request.want_assembly = in.number() != 0;
        break;
      case kWantProfile:
        request.want_profile = in.number() != 0;
        break;
      default:  // of a younger writer
        break;
    }
  }
  if (!good || !in.wellFormed()) return malformed("compile request");
  return request;
}

// ---- results

static std::string encodeMemory(const MemoryStats& memory) {
  WireWriter out;
  out.number(kCode, memory.code);
  out.number(kArguments, memory.arguments);
  out.number(kOutputs, memory.outputs);
  out.number(kAliased, memory.aliased);
  out.number(kTemporaries, memory.temporaries);
  out.number(kPeak, memory.peak);
  return out.bytes();
}

static bool decodeMemory(std::string_view bytes, MemoryStats& memory) {
  WireReader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case kCode:
        memory.code = in.number();
        break;
      case kArguments:
        memory.arguments = in.number();
        break;
      case kOutputs:
        memory.outputs = in.number();
        break;
      case kAliased:
        memory.aliased = in.number();
        break;
      case kTemporaries:
        memory.temporaries = in.number();
        break;
      case kPeak:
        memory.peak = in.number();
        break;
      default:  // of a younger writer
        break;
    }
  }
  return in.wellFormed();
}

static std::string encodeDumpFile(const DumpFile& file) {
  WireWriter out;
  out.text(kFunction, file.function);
  out.text(kLabel, file.label);
  out.text(kText, file.text);
  return out.bytes();
}

static bool decodeDumpFile(std::string_view bytes, DumpFile& file) {
  WireReader in(bytes);
  while (in.next()) {
    if (in.field() == kFunction) file.function = in.text();
    if (in.field() == kLabel) file.label = in.text();
    if (in.field() == kText) file.text = in.text();
  }
  return in.wellFormed();
}

std::string encodeResult(const AheadOfTimeResult& result) {
  WireWriter out;
  out.text(kOptimizedHlo, result.optimized_hlo);
  out.text(kExecutable, result.executable);
  out.text(kFingerprint, result.fingerprint);
  out.text(kPlatformVersion, result.platform_version);
  out.text(kDeviceKind, result.device_kind);
  out.number(kDeviceCount, result.device_count);
  if (result.memory) out.text(kMemory, encodeMemory(*result.memory));
  out.real(kSeconds, result.seconds);
  for (const DumpFile& file : result.dump) out.text(kDump, encodeDumpFile(file));
  return out.bytes();
}

Result<AheadOfTimeResult> decodeResult(std::string_view bytes) {
  AheadOfTimeResult result;
  bool good = true;
  WireReader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case kOptimizedHlo:
        result.optimized_hlo = in.text();
        break;
      case kExecutable:
        result.executable = in.text();
        break;
      case kFingerprint:
        result.fingerprint = in.text();
        break;
      case kPlatformVersion:
        result.platform_version = in.text();
        break;
      case kDeviceKind:
        result.device_kind = in.text();
        break;
      case kDeviceCount:
        result.device_count = in.number();
        break;
      case kMemory:
        good = decodeMemory(in.text(), result.memory.emplace()) && good;
        break;
      case kSeconds:
        result.seconds = in.real();
        break;
      case kDump:
        good = decodeDumpFile(in.text(), result.dump.emplace_back()) && good;
        break;
      default:  // of a younger writer
        break;
    }
  }
  if (!good || !in.wellFormed()) return malformed("compile result");
  return result;
}

std::string encodeReply(const Result<AheadOfTimeResult>& reply) {
  WireWriter out;
  if (reply.ok()) {
    out.text(kReplyResult, encodeResult(*reply));
    return out.bytes();
  }
  WireWriter error;
  error.number(kFault, static_cast<int64_t>(reply.error().fault()));
  error.text(kMessage, reply.error().message());
  error.text(kHint, reply.error().hint());
  out.text(kReplyError, error.bytes());
  return out.bytes();
}

static Error decodeError(std::string_view bytes) {
  Fault fault = Fault::kMachine;
  std::string message, hint;
  WireReader in(bytes);
  while (in.next()) {
    switch (in.field()) {
      case kFault:
        fault = static_cast<Fault>(in.number());
        break;
      case kMessage:
        message = in.text();
        break;
      case kHint:
        hint = in.text();
        break;
      default:  // of a younger writer
        break;
    }
  }
  if (!in.wellFormed()) return malformed("compile error");
  return Error(fault, std::move(message)).hint(std::move(hint));
}

Result<AheadOfTimeResult> decodeReply(std::string_view bytes) {
  WireReader in(bytes);
  if (!in.next() || in.text().empty()) return malformed("compile reply");
  if (in.field() == kReplyResult) return decodeResult(in.text());
  if (in.field() == kReplyError) return decodeError(in.text());
  return malformed("compile reply");
}

}  // namespace sublane::pjrt
