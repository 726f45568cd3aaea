// SPDX-License-Identifier: Apache-2.0
// A file system of a few KiB that only one child process sees.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string>

namespace dts::tests {

// See user_namespaces(7). Without these maps no file could be created there, because its owner
// would be unknown.
inline bool map_own_ids(uid_t user, gid_t group) {
  const auto put = [](const char* path, const std::string& text) {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    return ::close(fd) == 0 && whole;
  };
  const auto only = [](unsigned id) {
    return std::to_string(id) + " " + std::to_string(id) + " 1";
  };
  return put("/proc/self/uid_map", only(user)) && put("/proc/self/setgroups", "deny") &&
         put("/proc/self/gid_map", only(group));
}

// Mounts a tmpfs of `kib` KiB on `folder` in a new mount namespace; to be called in a child
// process. Returns false if the kernel does not allow that, neither as root nor with user
// namespaces.
inline bool mount_small_disk(const std::string& folder, unsigned kib) {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return false;
  if (user != 0 && !map_own_ids(user, group)) return false;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  const std::string options = "size=" + std::to_string(kib) + "k,mode=0700";
  return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

}  // namespace dts::tests
