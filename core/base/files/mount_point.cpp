// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/mount_point.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/text/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace dts {
namespace {

constexpr int k_open_folder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

tl::unexpected<Error> no_mount_point(const std::string& root,
                                     const std::string& target,
                                     int number) {
  if (number == ELOOP || number == ENOTDIR)
    return fail(
        Errc::invalid,
        fmt::format("{} in the image {} leads over a symbolic link or a file", target, root),
        "mount at another path");
  return fail(
      Errc::io,
      fmt::format(
          "no {} in the image {}, and it cannot be made: {}", target, root, std::strerror(number)),
      "make it in the image");
}

bool is_there(int folder, const std::string& name) {
  struct stat found {};

  return ::fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
         !S_ISLNK(found.st_mode);
}

// Makes an empty file unless that name exists.
bool make_file(int folder, const std::string& name) {
  if (is_there(folder, name)) return true;
  const UniqueFd file(
      ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  return file.valid();
}

}  // namespace

Result<void> make_mount_point(const std::string& root, const std::string& target, bool is_folder) {
  std::vector<std::string> steps;
  for (std::string& step : split(target, '/'))
    if (!step.empty() && step != ".") steps.push_back(std::move(step));
  UniqueFd folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return fail_errno("cannot open the image " + root);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i + 1 == steps.size() && !is_folder) {
      if (make_file(folder.get(), steps[i])) return {};
      return no_mount_point(root, target, errno);
    }
    UniqueFd next(::openat(folder.get(), steps[i].c_str(), k_open_folder));
    if (!next.valid() && errno == ENOENT) {
      if (::mkdirat(folder.get(), steps[i].c_str(), 0755) != 0 && errno != EEXIST)
        return no_mount_point(root, target, errno);
      next.reset(::openat(folder.get(), steps[i].c_str(), k_open_folder));
    }
    if (!next.valid()) return no_mount_point(root, target, errno);
    folder = std::move(next);
  }
  return {};
}

}  // namespace dts
