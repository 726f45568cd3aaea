// SPDX-License-Identifier: Apache-2.0
#include "core/train/memory/node_memory.hpp"

#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/os/process_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace dts::train {

std::uint64_t node_key() {
  struct stat process_namespace {};

  ::stat("/proc/self/ns/pid", &process_namespace);
  return hash64(boot_id() + read_file("/proc/sys/kernel/hostname").value_or("") +
                std::to_string(process_namespace.st_ino));
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

Result<SharedMemory> SharedMemory::map(UniqueFd fd, std::size_t bytes, int protection) {
  void* const at = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return fail_errno(fmt::format("cannot map {} shared bytes", bytes));
  return SharedMemory(std::move(fd), static_cast<std::byte*>(at), bytes);
}

Result<SharedMemory> SharedMemory::create(std::size_t bytes) {
  UniqueFd fd(::memfd_create("dttrain", MFD_CLOEXEC));
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return fail_errno(fmt::format("cannot make {} bytes of shared memory", bytes));
  return map(std::move(fd), bytes, PROT_READ | PROT_WRITE);
}

Result<SharedMemory> SharedMemory::open(SharedMemoryName name, std::size_t bytes, Access access) {
  const std::string path = fmt::format("/proc/{}/fd/{}", name.pid, name.fd);
  UniqueFd fd(::open(path.c_str(), (access == Access::write ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("cannot open the node's shared memory " + path);
  DTS_ASSIGN(
      auto memory,
      map(std::move(fd), bytes, access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ));
  memory.fd_ = UniqueFd();  // do not keep descriptors: many ranks have many arrays
  return memory;
}

SharedMemoryName SharedMemory::name() const {
  return {::getpid(), fd_.get()};
}

}  // namespace dts::train
