#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "pjrt/api.h"

namespace sublane::pjrt {

static std::string_view codeName(PJRT_Error_Code code) {
  static constexpr std::string_view kNames[] = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  const auto index = static_cast<size_t>(code);
  return index < std::size(kNames) ? kNames[index] : "UNKNOWN";
}

static Fault faultOf(PJRT_Error_Code code) {
  switch (code) {
    case PJRT_Error_Code_INVALID_ARGUMENT:
    case PJRT_Error_Code_OUT_OF_RANGE:
    case PJRT_Error_Code_UNIMPLEMENTED:
      return Fault::kInput;
    default:
      return Fault::kMachine;
  }
}

Error Api::missingEntry(const char* name) const {
  return machineError("plugin {}: PJRT API {}.{} has no {}", path, major, minor, name)
      .hint("use a newer plugin; tools/setup.sh installs the pinned ones");
}

Error Api::takeError(const char* name, PJRT_Error* error) const {
  PjrtArgs(PJRT_Error_GetCode_Args, code_args);
  code_args.error = error;
  code_args.code = PJRT_Error_Code_UNKNOWN;
  if (auto* get_code = entry(&PJRT_Api::PJRT_Error_GetCode)) {
    if (PJRT_Error* nested = get_code(&code_args)) {
      PjrtArgs(PJRT_Error_Destroy_Args, nested_args);
      nested_args.error = nested;
      table->PJRT_Error_Destroy(&nested_args);
    }
  }
  PjrtArgs(PJRT_Error_Message_Args, message_args);
  message_args.error = error;
  table->PJRT_Error_Message(&message_args);
  const std::string message(message_args.message, message_args.message_size);
  PjrtArgs(PJRT_Error_Destroy_Args, destroy_args);
  destroy_args.error = error;
  table->PJRT_Error_Destroy(&destroy_args);
  return Error(faultOf(code_args.code), fmt::format("{}: {}: {}", name, codeName(code_args.code), message));
}

Status Api::await(const char* name, PJRT_Event* event) const {
  PjrtArgs(PJRT_Event_Await_Args, args);
  args.event = event;
  Status status = PjrtCall(*this, PJRT_Event_Await, args);
  PjrtArgs(PJRT_Event_Destroy_Args, destroy_args);
  destroy_args.event = event;
  Status destroyed = PjrtCall(*this, PJRT_Event_Destroy, destroy_args);
  if (!status.ok()) return std::move(status).error().at(name);
  return destroyed;
}

static Error notAPlugin(const std::string& path, std::string_view why) {
  return machineError("plugin {}: {}", path, why)
      .hint("name a PJRT plugin's shared library, or run tools/setup.sh to install the pinned ones");
}

Result<Plugin> Plugin::load(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return notAPlugin(path, "no such file");
  // XLA also logs what it returns as errors, and that its own build knows no "prefer-no-gather". Fatal only,
  // unless the user has chosen.
  setenv("TF_CPP_MIN_LOG_LEVEL", "3", 0);
  // Never closed: plugins start threads and register exit handlers.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return notAPlugin(path, fmt::format("cannot be loaded: {}", dlerror()));
  auto* get_api = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) return notAPlugin(path, "not a PJRT plugin: it has no function GetPjrtApi");

  auto api = std::make_shared<Api>();
  api->path = path;
  api->table = get_api();
  if (api->table == nullptr) return notAPlugin(path, "GetPjrtApi returned nothing");
  api->major = api->table->pjrt_api_version.major_version;
  api->minor = api->table->pjrt_api_version.minor_version;
  if (api->major != PJRT_API_MAJOR) {
    return notAPlugin(path, fmt::format("PJRT API {}.{}: major version {}, but Sublane speaks {}", api->major,
                                        api->minor, api->major, PJRT_API_MAJOR));
  }
  if (api->entry(&PJRT_Api::PJRT_Error_Destroy) == nullptr ||
      api->entry(&PJRT_Api::PJRT_Error_Message) == nullptr) {
    return api->missingEntry("PJRT_Error_Message");  // without it no error can be told
  }
  if (api->entry(&PJRT_Api::PJRT_Plugin_Initialize) == nullptr)
    return api->missingEntry("PJRT_Plugin_Initialize");
  PjrtArgs(PJRT_Plugin_Initialize_Args, args);
  Status initialised = PjrtCall(*api, PJRT_Plugin_Initialize, args);
  if (!initialised.ok()) return machineError("plugin {}: {}", path, initialised.error().message());
  return Plugin(std::move(api));
}

int Plugin::major() const { return api_->major; }
int Plugin::minor() const { return api_->minor; }
const std::string& Plugin::path() const { return api_->path; }

static void setValue(PJRT_NamedValue& out, const OptionValue& value) {
  out.value_size = 1;
  if (const auto* text = std::get_if<std::string>(&value)) {
    out.type = PJRT_NamedValue_kString;
    out.string_value = text->data();
    out.value_size = text->size();
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    out.type = PJRT_NamedValue_kInt64;
    out.int64_value = *number;
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    out.type = PJRT_NamedValue_kBool;
    out.bool_value = *flag;
  } else {
    out.type = PJRT_NamedValue_kFloat;
    out.float_value = static_cast<float>(std::get<double>(value));
  }
}

std::vector<PJRT_NamedValue> namedValues(const Options& options) {
  std::vector<PJRT_NamedValue> values;
  values.reserve(options.size());
  for (const auto& [name, value] : options) {
    PjrtArgs(PJRT_NamedValue, out);
    out.name = name.data();
    out.name_size = name.size();
    setValue(out, value);
    values.push_back(out);
  }
  return values;
}

}  // namespace sublane::pjrt
