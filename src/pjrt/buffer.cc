#include <numeric>

#include "pjrt/api.h"

namespace sublane::pjrt {

PJRT_Buffer_Type bufferType(formats::DType dtype) {
  using formats::DType;
  switch (dtype) {
    case DType::kF32:
      return PJRT_Buffer_Type_F32;
    case DType::kBF16:
      return PJRT_Buffer_Type_BF16;
    case DType::kF16:
      return PJRT_Buffer_Type_F16;
    case DType::kI32:
      return PJRT_Buffer_Type_S32;
    case DType::kU32:
      return PJRT_Buffer_Type_U32;
    case DType::kI8:
      return PJRT_Buffer_Type_S8;
    case DType::kU8:
      return PJRT_Buffer_Type_U8;
    case DType::kI64:
      return PJRT_Buffer_Type_S64;
    case DType::kBool:
      return PJRT_Buffer_Type_PRED;
  }
  return PJRT_Buffer_Type_INVALID;
}

Buffer::Impl::~Impl() {
  PjrtArgs(PJRT_Buffer_Destroy_Args, args);
  args.buffer = buffer;
  (void)PjrtCall(*client->api, PJRT_Buffer_Destroy, args);
}

Buffer::Buffer() = default;
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer& Buffer::operator=(Buffer&&) noexcept = default;
Buffer::~Buffer() = default;

static Error emptyBuffer(const char* verb) {
  return inputError(
      "pjrt: cannot {} an empty buffer: it was donated to a program, moved from, or never filled", verb);
}

Status Buffer::await() const {
  if (impl == nullptr) return emptyBuffer("wait for");
  const Api& api = *impl->client->api;
  PjrtArgs(PJRT_Buffer_ReadyEvent_Args, args);
  args.buffer = impl->buffer;
  SUBLANE_CHECK_OK(PjrtCall(api, PJRT_Buffer_ReadyEvent, args));
  return api.await("buffer", args.event);
}

Status Buffer::toHost(std::span<std::byte> out) const {
  if (impl == nullptr) return emptyBuffer("read");
  const Api& api = *impl->client->api;
  PjrtArgs(PJRT_Buffer_Dimensions_Args, dims);
  dims.buffer = impl->buffer;
  SUBLANE_CHECK_OK(PjrtCall(api, PJRT_Buffer_Dimensions, dims));

  // Row-major is asked for: without a host layout the device's own order would come back.
  std::vector<int64_t> minor_to_major(dims.num_dims);
  std::iota(minor_to_major.rbegin(), minor_to_major.rend(), 0);
  PjrtArgs(PJRT_Buffer_MemoryLayout, layout);
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();

  PjrtArgs(PJRT_Buffer_ToHostBuffer_Args, args);
  args.src = impl->buffer;
  args.host_layout = &layout;
  SUBLANE_CHECK_OK(PjrtCall(api, PJRT_Buffer_ToHostBuffer, args));  // no destination: asks for the size
  if (args.dst_size != out.size()) {
    return inputError("pjrt: the buffer holds {} bytes, the destination {}", args.dst_size, out.size());
  }
  if (out.empty()) return await();
  args.dst = out.data();
  args.event = nullptr;
  SUBLANE_CHECK_OK(PjrtCall(api, PJRT_Buffer_ToHostBuffer, args));
  return api.await("copy to the host", args.event);
}

Result<uintptr_t> Buffer::address() const {
  if (impl == nullptr) return emptyBuffer("take the address of");
  const Api& api = *impl->client->api;
  if (api.entry(&PJRT_Api::PJRT_Buffer_UnsafePointer) != nullptr) {
    PjrtArgs(PJRT_Buffer_UnsafePointer_Args, args);
    args.buffer = impl->buffer;
    SUBLANE_CHECK_OK(PjrtCall(api, PJRT_Buffer_UnsafePointer, args));
    return args.buffer_pointer;
  }
  PjrtArgs(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args, args);
  args.buffer = impl->buffer;
  SUBLANE_CHECK_OK(PjrtCall(api, PJRT_Buffer_OpaqueDeviceMemoryDataPointer, args));
  return reinterpret_cast<uintptr_t>(args.device_memory_ptr);
}

}  // namespace sublane::pjrt
