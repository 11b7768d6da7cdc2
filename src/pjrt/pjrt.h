// One PJRT C API client for every plugin: XLA's CPU plugins execute, libtpu compiles ahead of time.
//
// The header in use is older than the plugins: every args struct is zeroed and sized, and an entry is used
// only if it lies inside the plugin's own struct and is not null. libtpu is never loaded into this
// process: see worker.h.
//
//   SUBLANE_TRY(auto plugin, pjrt::Plugin::load(path));
//   SUBLANE_TRY(auto client, pjrt::Client::create(plugin, {{"cpu_device_count", 1}}));
//   SUBLANE_TRY(auto program, client.compile(stablehlo, {}));
//   SUBLANE_TRY(auto x, client.toDevice(type, bytes));
//   SUBLANE_TRY(auto results, program.execute({&x}));
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace sublane::pjrt {

using OptionValue = std::variant<int64_t, std::string, bool, double>;
using Options = std::map<std::string, OptionValue>;

struct Api;  // hides pjrt_c_api.h

class Plugin {
 public:
  static Result<Plugin> load(const std::string& path);
  int major() const;
  int minor() const;
  const std::string& path() const;
  std::shared_ptr<const Api> api() const { return api_; }

 private:
  explicit Plugin(std::shared_ptr<const Api> api) : api_(std::move(api)) {}
  std::shared_ptr<const Api> api_;
};

/// An array on a device. Moves only. Freed when dropped; a donated one is empty afterwards.
class Buffer {
 public:
  Buffer();
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();
  /// Waits, then copies to the host. Error if sizes disagree.
  Status toHost(std::span<std::byte> out) const;
  Status await() const;
  /// Address of the device's memory (CPU plugins: a host pointer), to show that an update was in place.
  Result<uintptr_t> address() const;
  struct Impl;
  std::unique_ptr<Impl> impl;
};

struct CompileOptions {
  int64_t replicas = 1;
  int64_t partitions = 1;
  std::map<std::string, OptionValue> overrides{};  // env_option_overrides: xla_* flags of this compile
};
/// Serialised CompileOptionsProto (xla/pjrt/proto/compile_options.proto).
std::string encodeCompileOptions(const CompileOptions& options);

class Executable {
 public:
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();
  /// Runs on one device. Arguments that the program donates are emptied.
  Result<std::vector<Buffer>> execute(std::span<Buffer* const> arguments) const;
  Result<std::string> serialize() const;
  int64_t outputCount() const;
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

class Client {
 public:
  static Result<Client> create(const Plugin& plugin, const Options& options);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();
  std::string platformName() const;
  std::string platformVersion() const;
  int64_t deviceCount() const;
  Result<Executable> compile(const std::string& stablehlo, const CompileOptions& options) const;
  Result<Executable> deserialize(const std::string& bytes) const;
  /// Copies host bytes (row-major) to the first device; they may be freed when it returns.
  Result<Buffer> toDevice(const graph::Type& type, std::span<const std::byte> bytes) const;
  /// Uses host memory in place where the plugin can (CPU, 64-byte aligned), else copies it. `owner` keeps the
  /// bytes alive and unchanged until the plugin is done with them. A donated view is copied, never written.
  Result<Buffer> viewHost(const graph::Type& type, std::span<const std::byte> bytes,
                          std::shared_ptr<const void> owner) const;
  struct Impl;

 private:
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sublane::pjrt
