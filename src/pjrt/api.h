// Private to this folder: the plugin's function table, and how every call to it is made.
//
// Version skew: an entry is used only if it lies inside the plugin's own struct and is not null, and each
// args struct is zeroed and carries the size that our header knows.
//
//   PjrtArgs(PJRT_Buffer_Delete_Args, args);
//   args.buffer = buffer;
//   SUBLANE_CHECK_OK(PjrtCall(api, PJRT_Buffer_Delete, args));
#pragma once

#include <pjrt_c_api.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/pjrt.h"

/// Declares a zeroed args struct with its size set.
#define PjrtArgs(type, name) \
  type name{};               \
  name.struct_size = type##_STRUCT_SIZE
/// Calls an entry that returns a PJRT_Error*. A Status.
#define PjrtCall(api, function, args) (api).call(#function, &PJRT_Api::function, args)

namespace sublane::pjrt {

struct Api {
  std::string path;
  const PJRT_Api* table = nullptr;
  int major = 0;
  int minor = 0;

  /// The entry, or null where the plugin is older than it.
  template <class Function>
  Function* entry(Function* PJRT_Api::* member) const {
    const auto* field = reinterpret_cast<const char*>(&(table->*member));
    const size_t end = static_cast<size_t>(field - reinterpret_cast<const char*>(table)) + sizeof(Function*);
    return end <= table->struct_size ? table->*member : nullptr;
  }

  template <class Function, class Args>
  Status call(const char* name, Function* PJRT_Api::* member, Args& args) const {
    Function* function = entry(member);
    if (function == nullptr) return missingEntry(name);
    if (PJRT_Error* error = function(&args)) return takeError(name, error);
    return Ok{};
  }

  Error missingEntry(const char* name) const;
  /// Turns a plugin's error into ours and frees it. Wrong arguments and programs are the input's fault.
  Error takeError(const char* name, PJRT_Error* error) const;
  /// Waits for the event, frees it, and returns the error that it carries.
  Status await(const char* name, PJRT_Event* event) const;
};

/// Options as PJRT takes them. Points into `options`, which must outlive it.
std::vector<PJRT_NamedValue> namedValues(const Options& options);

PJRT_Buffer_Type bufferType(formats::DType dtype);

/// A client that frees itself; buffers and executables hold it, so it goes last.
struct ClientHandle {
  std::shared_ptr<const Api> api;
  PJRT_Client* client = nullptr;
  std::vector<PJRT_Device*> devices;

  ClientHandle() = default;
  ClientHandle(const ClientHandle&) = delete;
  ~ClientHandle();
};

struct Buffer::Impl {
  std::shared_ptr<const ClientHandle> client;
  PJRT_Buffer* buffer = nullptr;

  Impl(std::shared_ptr<const ClientHandle> owner, PJRT_Buffer* raw) : client(std::move(owner)), buffer(raw) {}
  Impl(const Impl&) = delete;
  ~Impl();
};

struct Client::Impl {
  std::shared_ptr<const ClientHandle> handle;
};

/// Wraps a loaded executable (owned from here on, also if this fails).
Result<Executable> wrapExecutable(std::shared_ptr<const ClientHandle> client, PJRT_LoadedExecutable* loaded);

/// Serialised executable, from its PJRT_Executable.
Result<std::string> serializeExecutable(const Api& api, const PJRT_Executable* executable);

}  // namespace sublane::pjrt
