// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/trusted_file.hpp"

#include "core/base/files/own_file.hpp"
#include "core/base/files/owners.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/text/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace dts {
namespace {

using Info = struct stat;

// As in check_own_link(): if a user namespace hides root, root's files count as trusted.
bool is_foreign_owner(uid_t owner) {
  const OwnerView view = owner_view();
  return !view.is_trusted(owner) && !view.is_unknown(owner);
}

Result<void> check_trust(const Info& info, const std::string& path) {
  if (is_foreign_owner(info.st_uid))
    return fail(Errc::invalid,
                "refusing " + path + ": it belongs to user " + std::to_string(info.st_uid) +
                    ", neither to you nor to root",
                "make a copy of your own");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(Errc::invalid,
                "refusing " + path + ": it can be written by others",
                "chmod go-w " + shell_quote(path));
  return {};
}

Result<std::string> read(const std::string& path, std::uint64_t limit, bool must_be_trusted) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() && errno == ENOTDIR) return fail(Errc::not_found, path + ": no such file");
  if (!file.valid()) return fail_errno("cannot read " + path);
  Info info{};
  if (::fstat(file.get(), &info) != 0) return fail_errno("cannot look at " + path);
  if (!S_ISREG(info.st_mode))
    return fail(
        Errc::invalid,
        path + (S_ISDIR(info.st_mode) ? " is a folder, not a file" : " is not a regular file"));
  if (must_be_trusted) DTS_TRY(check_trust(info, path));
  if (static_cast<std::uint64_t>(info.st_size) > limit)
    return fail(Errc::invalid,
                path + " has " + std::to_string(info.st_size) + " bytes, at most " +
                    std::to_string(limit) + " are read");
  return read_open_file(file.get(), path, limit);
}

}  // namespace

Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit) {
  return read(path, limit, false);
}

Result<std::string> read_trusted_file(const std::string& path, std::uint64_t limit) {
  return read(path, limit, true);
}

std::optional<uid_t> foreign_owner(const std::string& path) {
  Info info{};
  if (::stat(path.c_str(), &info) != 0 || !is_foreign_owner(info.st_uid)) return std::nullopt;
  return info.st_uid;
}

}  // namespace dts
