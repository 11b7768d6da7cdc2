#include "base/wire.h"
#include "pjrt/pjrt.h"

namespace sublane::pjrt {

// xla/pjrt/proto/compile_options.proto: the numbers of the fields that we set.
namespace {
enum CompileOptionsField : uint32_t { kBuildOptions = 3, kOverrides = 7 };
enum BuildOptionsField : uint32_t { kReplicas = 4, kPartitions = 5, kSpmd = 6, kShardy = 19 };
enum MapEntryField : uint32_t { kKey = 1, kValue = 2 };
enum OverrideField : uint32_t { kString = 1, kBool = 2, kInt64 = 3, kDouble = 4 };

std::string encodeOverride(const OptionValue& value) {
  WireWriter out;
  if (const auto* text = std::get_if<std::string>(&value)) {
    out.text(kString, *text);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    out.number(kBool, *flag);
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    out.number(kInt64, *number);
  } else {
    out.real(kDouble, std::get<double>(value));
  }
  return out.bytes();
}
}  // namespace

std::string encodeCompileOptions(const CompileOptions& options) {
  WireWriter build;
  build.number(kReplicas, options.replicas);
  build.number(kPartitions, options.partitions);
  if (options.partitions > 1) {  // sharded programs carry Shardy annotations
    build.number(kSpmd, 1);
    build.number(kShardy, 1);
  }
  WireWriter out;
  out.text(kBuildOptions, build.bytes());
  for (const auto& [name, value] : options.overrides) {
    WireWriter entry;
    entry.text(kKey, name);
    entry.text(kValue, encodeOverride(value));
    out.text(kOverrides, entry.bytes());
  }
  return out.bytes();
}

}  // namespace sublane::pjrt
