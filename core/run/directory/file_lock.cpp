// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/file_lock.hpp"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace dts::run {
namespace {

constexpr std::chrono::milliseconds k_look{2};

}  // namespace

UniqueFd lock_file(const std::string& path, std::chrono::milliseconds patience) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return fd;
  const auto give_up = std::chrono::steady_clock::now() + patience;

  struct flock lock {};

  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  while (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) {
    const bool held = errno == EAGAIN || errno == EACCES || errno == EINTR;
    if (!held || std::chrono::steady_clock::now() > give_up) return UniqueFd();
    std::this_thread::sleep_for(k_look);
  }
  return fd;
}

UniqueFd lock_beside(const std::string& path) {
  const std::string name = path + ".lock";
  const UniqueFd made(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  return lock_file(name);
}

UniqueFd lock_submission(const RunDirectory& run, std::chrono::milliseconds patience) {
  return lock_file(run.provenance(), patience);
}

}  // namespace dts::run
