// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/own_file.hpp"

#include "core/base/files/owners.hpp"
#include "core/base/text/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace dts {
namespace {

using Status = struct stat;

// "64 MiB"; in the largest unit that divides it.
std::string in_units(std::uint64_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit < 3 && bytes > 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, units[unit]);
}

Result<Status> status_of(int fd, const std::string& path) {
  Status status{};
  if (::fstat(fd, &status) != 0) return fail_errno("cannot look at " + path);
  return status;
}

tl::unexpected<Error> refuse(const std::string& path, const std::string& why, std::string hint) {
  return fail(Errc::invalid, "refusing " + path + ": it " + why, std::move(hint));
}

tl::unexpected<Error> refuse_owner(const std::string& path, uid_t owner) {
  return refuse(path,
                "belongs to user " + std::to_string(owner) + ", not to you (user " +
                    std::to_string(::geteuid()) + ")",
                "only the owner of a run may act on it; name one of your own, or --runs for the "
                "folder of your runs");
}

Result<void> check(const Status& status, const std::string& path, Others others) {
  if (status.st_uid != ::geteuid()) return refuse_owner(path, status.st_uid);
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if (others == Others::may_not_write && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky)
    return refuse(path, "can be written by others", "chmod go-w " + shell_quote(path));
  return {};
}

}  // namespace

Result<void> check_own_link(const std::string& path) {
  const UniqueFd link(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!link.valid()) return {};
  DTS_ASSIGN(const Status status, status_of(link.get(), path));
  if (!S_ISLNK(status.st_mode)) return {};
  const OwnerView view = owner_view();
  if (view.is_trusted(status.st_uid) || view.is_unknown(status.st_uid)) return {};
  return refuse(path,
                "is a link that user " + std::to_string(status.st_uid) + " made, not you",
                "name the folder itself");
}

Result<UniqueFd> open_own_folder(const std::string& path) {
  DTS_TRY(check_own_link(path));
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return fail_errno("cannot open " + path);
  DTS_ASSIGN(const Status status, status_of(folder.get(), path));
  DTS_TRY(check(status, path, Others::may_not_write));
  return folder;
}

Result<UniqueFd> open_own_file(const std::string& path, Others others) {
  // O_NONBLOCK, so that a FIFO is refused without blocking.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() && errno == ELOOP)
    return refuse(path, "is a symbolic link", "replace it with the file itself");
  if (!file.valid()) {
    const bool is_denied = errno == EACCES;
    return fail_errno("cannot read " + path,
                      is_denied ? "ls -l " + shell_quote(path) + " shows who may read it" : "");
  }
  DTS_ASSIGN(const Status status, status_of(file.get(), path));
  if (!S_ISREG(status.st_mode)) return refuse(path, "is not a regular file", "");
  DTS_TRY(check(status, path, others));
  return file;
}

Result<std::string> read_open_file(int fd, const std::string& path, std::uint64_t limit) {
  struct stat info {};

  std::string content;
  if (::fstat(fd, &info) == 0) {
    if (S_ISDIR(info.st_mode)) return fail(Errc::invalid, path + " is a folder, not a file");
    // One allocation for a large file, without a copy each time that it doubles.
    if (info.st_size > 0)
      content.reserve(std::min(limit, static_cast<std::uint64_t>(info.st_size)) + 1);
  }
  char block[65536];
  while (true) {
    const ssize_t n = ::read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("cannot read " + path);
    if (n == 0) return content;
    content.append(block, static_cast<std::size_t>(n));
    if (content.size() > limit)
      return fail(Errc::invalid, fmt::format("{} is larger than {}", path, in_units(limit)));
  }
}

Result<std::string> read_own_file(const std::string& path, std::uint64_t limit, Others others) {
  DTS_ASSIGN(const UniqueFd file, open_own_file(path, others));
  return read_open_file(file.get(), path, limit);
}

Result<void> check_file_is_ours(int fd, const std::string& path) {
  DTS_ASSIGN(const Status status, status_of(fd, path));
  if (status.st_uid != ::geteuid()) return refuse_owner(path, status.st_uid);
  return {};
}

}  // namespace dts
