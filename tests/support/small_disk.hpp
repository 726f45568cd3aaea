// SPDX-License-Identifier: Apache-2.0
// A file system of a few KiB, seen by one child process only.
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string>

namespace dts::tests {

// Mounts a tmpfs of `kib` KiB on `folder` in a mount namespace of our own: call it in a child.
// False where the kernel does not allow that, as root or with user namespaces.
inline bool mount_small_disk(const std::string& folder, unsigned kib) {
  const uid_t user = ::geteuid();
  if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return false;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  const std::string options = "size=" + std::to_string(kib) + "k,mode=0700";
  return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

}  // namespace dts::tests
