// SPDX-License-Identifier: Apache-2.0
#include "core/train/data/mapped_file.hpp"

#include "core/base/files/unique_fd.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace dts::train {

void MappedFile::Unmap::operator()(void* memory) const {
  ::munmap(memory, bytes);
}

Result<MappedFile> MappedFile::open(const std::string& path, const std::string& hint) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));

  struct stat info {};

  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return fail_errno(path, hint);
  if (!S_ISREG(info.st_mode) || info.st_size == 0)
    return fail(Errc::invalid, path + ": empty, or not a file");
  const auto bytes = static_cast<std::size_t>(info.st_size);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return fail_errno("cannot map " + path);
  return MappedFile(std::unique_ptr<void, Unmap>(memory, Unmap{bytes}));
}

}  // namespace dts::train
