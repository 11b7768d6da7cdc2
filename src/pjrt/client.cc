#include "pjrt/ahead_of_time.h"
#include "pjrt/api.h"

namespace sublane::pjrt {

ClientHandle::~ClientHandle() {
  if (client == nullptr) return;
  PjrtArgs(PJRT_Client_Destroy_Args, args);
  args.client = client;
  (void)PjrtCall(*api, PJRT_Client_Destroy, args);
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::create(const Plugin& plugin, const Options& options) {
  auto handle = std::make_shared<ClientHandle>();
  handle->api = plugin.api();
  const std::vector<PJRT_NamedValue> values = namedValues(options);
  PjrtArgs(PJRT_Client_Create_Args, args);
  args.create_options = values.data();
  args.num_options = values.size();
  Status created = PjrtCall(*handle->api, PJRT_Client_Create, args);
  if (!created.ok()) return std::move(created).error().at("plugin " + plugin.path());
  handle->client = args.client;

  PjrtArgs(PJRT_Client_AddressableDevices_Args, devices);
  devices.client = handle->client;
  SUBLANE_CHECK_OK(PjrtCall(*handle->api, PJRT_Client_AddressableDevices, devices));
  handle->devices.assign(devices.addressable_devices,
                         devices.addressable_devices + devices.num_addressable_devices);
  if (handle->devices.empty()) return machineError("plugin {}: no device to run on", plugin.path());
  auto impl = std::make_unique<Impl>();
  impl->handle = std::move(handle);
  return Client(std::move(impl));
}

std::string Client::platformName() const {
  PjrtArgs(PJRT_Client_PlatformName_Args, args);
  args.client = impl_->handle->client;
  if (!PjrtCall(*impl_->handle->api, PJRT_Client_PlatformName, args).ok()) return "unknown";
  return std::string(args.platform_name, args.platform_name_size);
}

std::string Client::platformVersion() const {
  PjrtArgs(PJRT_Client_PlatformVersion_Args, args);
  args.client = impl_->handle->client;
  if (!PjrtCall(*impl_->handle->api, PJRT_Client_PlatformVersion, args).ok()) return "unknown";
  return std::string(args.platform_version, args.platform_version_size);
}

int64_t Client::deviceCount() const { return static_cast<int64_t>(impl_->handle->devices.size()); }

Result<Executable> Client::compile(const std::string& stablehlo, const CompileOptions& options) const {
  static constexpr std::string_view kFormat = "mlir";
  const std::string encoded = encodeCompileOptions(options);
  std::string code = stablehlo;  // the C struct wants a mutable pointer
  PjrtArgs(PJRT_Program, program);
  program.code = code.data();
  program.code_size = code.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  PjrtArgs(PJRT_Client_Compile_Args, args);
  args.client = impl_->handle->client;
  args.program = &program;
  args.compile_options = encoded.data();
  args.compile_options_size = encoded.size();
  Status compiled = PjrtCall(*impl_->handle->api, PJRT_Client_Compile, args);
  // Whatever the code (a parse error has code UNKNOWN), a compiler that answers has refused the program.
  if (!compiled.ok()) return inputError("{}", shortened(compiled.error().message()));
  return wrapExecutable(impl_->handle, args.executable);
}

Result<Executable> Client::deserialize(const std::string& bytes) const {
  PjrtArgs(PJRT_Executable_DeserializeAndLoad_Args, args);
  args.client = impl_->handle->client;
  args.serialized_executable = bytes.data();
  args.serialized_executable_size = bytes.size();
  SUBLANE_CHECK_OK(PjrtCall(*impl_->handle->api, PJRT_Executable_DeserializeAndLoad, args));
  return wrapExecutable(impl_->handle, args.loaded_executable);
}

// ---- host to device

static Status checkSize(const graph::Type& type, std::span<const std::byte> bytes) {
  const int64_t expected = graph::byteCount(type);
  if (static_cast<int64_t>(bytes.size()) == expected) return Ok{};
  return inputError("pjrt: {} takes {} bytes, got {}", graph::toString(type), expected, bytes.size());
}

static Status startTransfer(const ClientHandle& client, const graph::Type& type,
                            std::span<const std::byte> bytes, PJRT_Client_BufferFromHostBuffer_Args& args) {
  SUBLANE_CHECK_OK(checkSize(type, bytes));
  static constexpr std::byte kNothing{};  // an empty array still needs an address
  args.client = client.client;
  args.data = bytes.empty() ? &kNothing : bytes.data();
  args.type = bufferType(type.dtype);
  args.dims = type.shape.data();
  args.num_dims = type.shape.size();
  args.device = client.devices.front();
  return PjrtCall(*client.api, PJRT_Client_BufferFromHostBuffer, args);
}

Result<Buffer> Client::toDevice(const graph::Type& type, std::span<const std::byte> bytes) const {
  PjrtArgs(PJRT_Client_BufferFromHostBuffer_Args, args);
  args.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
  SUBLANE_CHECK_OK(startTransfer(*impl_->handle, type, bytes, args));
  Buffer buffer;
  buffer.impl = std::make_unique<Buffer::Impl>(impl_->handle, args.buffer);
  SUBLANE_CHECK_OK(impl_->handle->api->await("copy to the device", args.done_with_host_buffer));
  return buffer;
}

namespace {
/// Keeps host memory alive until the plugin says that it is done with it.
struct HostLoan {
  std::shared_ptr<const ClientHandle> client;  // keeps the event's plugin state alive
  std::shared_ptr<const void> owner;
  PJRT_Event* event;
};
}  // namespace

static void endLoan(PJRT_Error* error, void* user) {
  std::unique_ptr<HostLoan> loan(static_cast<HostLoan*>(user));
  const Api& api = *loan->client->api;
  if (error != nullptr) (void)api.takeError("zero-copy transfer", error);
  PjrtArgs(PJRT_Event_Destroy_Args, args);
  args.event = loan->event;
  (void)PjrtCall(api, PJRT_Event_Destroy, args);
}

Result<Buffer> Client::viewHost(const graph::Type& type, std::span<const std::byte> bytes,
                                std::shared_ptr<const void> owner) const {
  static constexpr uintptr_t kAlignment = 64;  // XLA's CPU client copies, or refuses, below this
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0 || bytes.empty())
    return toDevice(type, bytes);
  PjrtArgs(PJRT_Client_BufferFromHostBuffer_Args, args);
  args.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableZeroCopy;
  SUBLANE_CHECK_OK(startTransfer(*impl_->handle, type, bytes, args));
  Buffer buffer;
  buffer.impl = std::make_unique<Buffer::Impl>(impl_->handle, args.buffer);

  auto loan =
      std::make_unique<HostLoan>(HostLoan{impl_->handle, std::move(owner), args.done_with_host_buffer});
  PjrtArgs(PJRT_Event_OnReady_Args, ready);
  ready.event = args.done_with_host_buffer;
  ready.callback = endLoan;
  ready.user_arg = loan.get();
  SUBLANE_CHECK_OK(PjrtCall(*impl_->handle->api, PJRT_Event_OnReady, ready));
  (void)loan.release();  // endLoan has it now
  return buffer;
}

}  // namespace sublane::pjrt
