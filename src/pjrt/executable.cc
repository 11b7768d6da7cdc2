#include <atomic>
#include <mutex>

#include "pjrt/api.h"

namespace sublane::pjrt {

struct Executable::Impl {
  std::shared_ptr<const ClientHandle> client;
  PJRT_LoadedExecutable* loaded = nullptr;
  PJRT_Executable* executable = nullptr;
  PJRT_ExecuteContext* context = nullptr;  // null where the plugin is too old for one
  size_t outputs = 0;
  size_t devices = 0;

  // Which arguments the program takes over. Asked of the plugin after the first run: this also serves
  // deserialised executables, which have no text, and programs whose donation XLA paired up itself.
  mutable std::mutex donation_mutex;
  mutable std::atomic<bool> donation_known = false;
  mutable std::vector<size_t> donated;

  ~Impl();
};

Executable::Impl::~Impl() {
  const Api& api = *client->api;
  if (context != nullptr) {
    PjrtArgs(PJRT_ExecuteContext_Destroy_Args, args);
    args.context = context;
    (void)PjrtCall(api, PJRT_ExecuteContext_Destroy, args);
  }
  if (executable != nullptr) {
    PjrtArgs(PJRT_Executable_Destroy_Args, args);
    args.executable = executable;
    (void)PjrtCall(api, PJRT_Executable_Destroy, args);
  }
  PjrtArgs(PJRT_LoadedExecutable_Destroy_Args, args);
  args.executable = loaded;
  (void)PjrtCall(api, PJRT_LoadedExecutable_Destroy, args);
}

Executable::Executable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;
Executable::~Executable() = default;

Result<Executable> wrapExecutable(std::shared_ptr<const ClientHandle> client, PJRT_LoadedExecutable* loaded) {
  auto impl = std::make_unique<Executable::Impl>();
  const Api& api = *client->api;
  impl->client = std::move(client);
  impl->loaded = loaded;

  PjrtArgs(PJRT_LoadedExecutable_GetExecutable_Args, get);
  get.loaded_executable = loaded;
  SUBLANE_CHECK_OK(PjrtCall(api, PJRT_LoadedExecutable_GetExecutable, get));
  impl->executable = get.executable;

  PjrtArgs(PJRT_Executable_NumOutputs_Args, outputs);
  outputs.executable = impl->executable;
  SUBLANE_CHECK_OK(PjrtCall(api, PJRT_Executable_NumOutputs, outputs));
  impl->outputs = outputs.num_outputs;

  PjrtArgs(PJRT_LoadedExecutable_AddressableDevices_Args, devices);
  devices.executable = loaded;
  SUBLANE_CHECK_OK(PjrtCall(api, PJRT_LoadedExecutable_AddressableDevices, devices));
  impl->devices = devices.num_addressable_devices;

  // FFI handlers that bind user data crash without a context, so every run gets one.
  if (api.entry(&PJRT_Api::PJRT_ExecuteContext_Create) != nullptr) {
    PjrtArgs(PJRT_ExecuteContext_Create_Args, context);
    SUBLANE_CHECK_OK(PjrtCall(api, PJRT_ExecuteContext_Create, context));
    impl->context = context.context;
  }
  return Executable(std::move(impl));
}

int64_t Executable::outputCount() const { return static_cast<int64_t>(impl_->outputs); }

static bool isDeleted(const Api& api, PJRT_Buffer* buffer) {
  PjrtArgs(PJRT_Buffer_IsDeleted_Args, args);
  args.buffer = buffer;
  return PjrtCall(api, PJRT_Buffer_IsDeleted, args).ok() && args.is_deleted;
}

static std::vector<size_t> deletedAmong(const Api& api, std::span<Buffer* const> arguments) {
  std::vector<size_t> deleted;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (isDeleted(api, arguments[i]->impl->buffer)) deleted.push_back(i);
  }
  return deleted;
}

static Result<std::vector<PJRT_Buffer*>> rawArguments(std::span<Buffer* const> arguments) {
  std::vector<PJRT_Buffer*> raw(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == nullptr || arguments[i]->impl == nullptr) {
      return inputError("pjrt: argument {} of {} is empty: it was donated to an earlier run, or never filled",
                        i, arguments.size());
    }
    raw[i] = arguments[i]->impl->buffer;
  }
  return raw;
}

/// Empties the arguments that the program took over.
static void dropDonated(const Executable::Impl& program, std::span<Buffer* const> arguments) {
  if (!program.donation_known.load(std::memory_order_acquire)) {
    std::vector<size_t> deleted = deletedAmong(*program.client->api, arguments);
    std::lock_guard lock(program.donation_mutex);
    if (!program.donation_known.load(std::memory_order_relaxed)) {
      program.donated = std::move(deleted);
      program.donation_known.store(true, std::memory_order_release);
    }
  }
  for (size_t index : program.donated) arguments[index]->impl.reset();
}

Result<std::vector<Buffer>> Executable::execute(std::span<Buffer* const> arguments) const {
  const Impl& program = *impl_;
  const Api& api = *program.client->api;
  if (program.devices != 1) {
    return inputError("pjrt: the program was compiled for {} devices, execute runs on 1", program.devices);
  }
  SUBLANE_TRY(std::vector<PJRT_Buffer*> inputs, rawArguments(arguments));
  std::vector<PJRT_Buffer*> outputs(program.outputs);
  PJRT_Buffer* const* input_list = inputs.data();
  PJRT_Buffer** output_list = outputs.data();
  PJRT_Event* done = nullptr;

  PjrtArgs(PJRT_ExecuteOptions, options);
  options.context = program.context;
  PjrtArgs(PJRT_LoadedExecutable_Execute_Args, args);
  args.executable = program.loaded;
  args.options = &options;
  args.argument_lists = &input_list;
  args.num_devices = 1;
  args.num_args = inputs.size();
  args.output_lists = &output_list;
  args.device_complete_events = &done;
  Status started = PjrtCall(api, PJRT_LoadedExecutable_Execute, args);
  if (!started.ok()) {
    // A refused run may still have taken arguments; what is gone must not look usable.
    for (size_t index : deletedAmong(api, arguments)) arguments[index]->impl.reset();
    return std::move(started).error();
  }
  std::vector<Buffer> results(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    results[i].impl = std::make_unique<Buffer::Impl>(program.client, outputs[i]);
  }
  // Arguments are the caller's: they may be freed as soon as we return, so the run must be over by then.
  Status finished = api.await("execute", done);
  dropDonated(program, arguments);
  SUBLANE_CHECK_OK(std::move(finished));
  return results;
}

Result<std::string> serializeExecutable(const Api& api, const PJRT_Executable* executable) {
  PjrtArgs(PJRT_Executable_Serialize_Args, args);
  args.executable = executable;
  SUBLANE_CHECK_OK(PjrtCall(api, PJRT_Executable_Serialize, args));
  std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  if (args.serialized_executable_deleter != nullptr)
    args.serialized_executable_deleter(args.serialized_executable);
  return bytes;
}

Result<std::string> Executable::serialize() const {
  return serializeExecutable(*impl_->client->api, impl_->executable);
}

}  // namespace sublane::pjrt
