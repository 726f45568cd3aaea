// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/segment_folder.hpp"

#include "core/base/files/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>

namespace dts {
namespace {

constexpr int k_tries = 100;  // to join a folder that others are removing

std::string prefix() {
  return fmt::format("dtsubmit-{}-", ::geteuid());
}

// The parent is writable by all users, so a name there proves nothing.
bool is_ours(int fd) {
  struct stat info {};

  return ::fstat(fd, &info) == 0 && info.st_uid == ::geteuid() &&
         (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

bool is_still(int fd, const std::string& path) {
  struct stat held {};

  struct stat now {};

  return ::fstat(fd, &held) == 0 && ::lstat(path.c_str(), &now) == 0 && held.st_dev == now.st_dev &&
         held.st_ino == now.st_ino;
}

bool is_older(int fd, std::chrono::seconds age) {
  struct stat info {};

  return ::fstat(fd, &info) == 0 && ::time(nullptr) - info.st_mtim.tv_sec >= age.count();
}

UniqueFd open_folder(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Removes `folder`, which is open and perhaps joined, unless another process has joined it. If it
// cannot be removed, it stays until the next cleanup.
void remove_if_last(const UniqueFd& folder, const std::string& path) {
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 && is_still(folder.get(), path))
    (void)remove_all(path);
}

}  // namespace

SegmentFolder SegmentFolder::join(const std::string& parent, std::string_view name) {
  std::string path = fmt::format("{}/{}{}", parent, prefix(), name);
  for (int i = 0; i < k_tries; ++i) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return {};
    UniqueFd folder = open_folder(path);
    if (!folder.valid() && errno == ENOENT) continue;
    if (!folder.valid() || !is_ours(folder.get())) return {};
    if (::flock(folder.get(), LOCK_SH) == 0 && is_still(folder.get(), path))
      return {std::move(path), std::move(folder)};
  }
  return {};
}

SegmentFolder::~SegmentFolder() {
  if (lock_.valid()) remove_if_last(lock_, path_);
}

void remove_left_segments(const std::string& parent, std::chrono::seconds age) {
  for (const std::string& name : list_folder(parent)) {
    if (name.rfind(prefix(), 0) != 0) continue;
    const std::string path = parent + "/" + name;
    const UniqueFd folder = open_folder(path);
    if (folder.valid() && is_ours(folder.get()) && is_older(folder.get(), age))
      remove_if_last(folder, path);
  }
}

}  // namespace dts
