// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/presence.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace dts::run {
namespace {

constexpr unsigned k_most_misses = 1;

// The errors of a server that does not answer (EIO, ETIMEDOUT, EACCES), or that was replaced
// (ESTALE), prove nothing.
bool proves_absence(int error) {
  return error == ENOENT || error == ENOTDIR;
}

}  // namespace

std::string vanished_words(const RunDirectory& run) {
  return run.path + " has vanished: it was removed, moved or unmounted";
}

Presence::Presence(const RunDirectory& run) : run_(run) {
  struct stat folder {};

  if (::stat(run_.path.c_str(), &folder) != 0) return;
  device_ = folder.st_dev;
  inode_ = folder.st_ino;
}

bool Presence::is_there() {
  struct stat folder {};

  if (::stat(run_.path.c_str(), &folder) != 0) return !proves_absence(errno);
  if (folder.st_dev != device_ || folder.st_ino != inode_) return false;
  if (::stat(run_.ledger().c_str(), &folder) == 0) {
    has_ledger_ = true;
    return true;
  }
  return !has_ledger_ || !proves_absence(errno);
}

bool Presence::poll() {
  misses_ = is_there() ? 0 : misses_ + 1;
  return misses_ <= k_most_misses;
}

bool Presence::is_present_now() {
  [[maybe_unused]] const bool perhaps = poll();
  return poll();
}

}  // namespace dts::run
