// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/lock.hpp"

#include "core/base/files/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace dts::cluster {
namespace {

// False if the previous holder has removed the folder and another process has created it again.
bool is_still(int fd, const std::string& folder) {
  struct stat held {};

  struct stat now {};

  return ::fstat(fd, &held) == 0 && ::stat(folder.c_str(), &now) == 0 &&
         held.st_dev == now.st_dev && held.st_ino == now.st_ino;
}

Result<void> check_owner(int fd, const std::string& folder) {
  struct stat info {};

  if (::fstat(fd, &info) != 0) return fail_errno("cannot look at " + folder);
  if (info.st_uid == ::geteuid()) return {};
  return fail(Errc::invalid,
              fmt::format("{} belongs to another user (uid {})", folder, info.st_uid),
              "choose another --folder, or work as that user");
}

// Not valid() if the folder is absent.
Result<UniqueFd> open_folder(const std::string& folder, IfAbsent if_absent) {
  if (if_absent == IfAbsent::create) DTS_TRY(make_folders(folder, 0700));
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() && errno != ENOENT) return fail_errno("cannot open " + folder);
  if (fd.valid()) DTS_TRY(check_owner(fd.get(), folder));
  return fd;
}

}  // namespace

Result<UniqueFd> lock_folder(const std::string& folder,
                             IfAbsent if_absent,
                             std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    DTS_ASSIGN(UniqueFd fd, open_folder(folder, if_absent));
    if (!fd.valid() && if_absent == IfAbsent::leave) return fd;
    const bool held = fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
    if (held && is_still(fd.get(), folder)) return fd;
    if (std::chrono::steady_clock::now() > deadline)
      return fail(Errc::io,
                  fmt::format("another `dtsubmit cluster` has been working on {} for {} s",
                              folder,
                              std::chrono::duration_cast<std::chrono::seconds>(limit).count()),
                  "wait for it, or end it");
    if (fd.valid() && !held) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace dts::cluster
