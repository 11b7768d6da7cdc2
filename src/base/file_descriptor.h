// An open file descriptor with an owner: closed once, moved, never copied.
//
//   FileDescriptor fd(::open(path, O_RDONLY | O_CLOEXEC));
//   if (!fd.valid()) return inputError("{}: {}", path, std::strerror(errno));
#pragma once

#include <unistd.h>

#include <utility>

namespace sublane {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace sublane
