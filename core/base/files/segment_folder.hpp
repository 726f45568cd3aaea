// SPDX-License-Identifier: Apache-2.0
// A folder for node-local files, which is removed when its last user exits for whatever reason.
#pragma once

#include "core/base/files/unique_fd.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace dts {

inline constexpr const char* k_shared_memory = "/dev/shm";

// Processes of one user that join() with the same name share PARENT/dtsubmit-UID-NAME, of mode
// 0700. Each holds a shared lock (flock(2)) on it; the last one to leave removes it with its
// contents. Not thread-safe; processes may race.
class SegmentFolder {
 public:
  SegmentFolder() = default;

  // Not valid() if `parent` is absent or not writable, or if the folder belongs to another user or
  // is accessible to others: then there is nothing to share, which is not an error.
  [[nodiscard]] static SegmentFolder join(const std::string& parent, std::string_view name);

  SegmentFolder(SegmentFolder&&) noexcept = default;
  SegmentFolder& operator=(SegmentFolder&&) = delete;
  SegmentFolder(const SegmentFolder&) = delete;
  SegmentFolder& operator=(const SegmentFolder&) = delete;
  ~SegmentFolder();

  [[nodiscard]] bool valid() const { return lock_.valid(); }

  [[nodiscard]] const std::string& path() const { return path_; }

  // Keeps the folder after all processes have left, until remove_left_segments() finds it. Returns
  // the lock, which marks the folder as in use while any process has the descriptor open.
  [[nodiscard]] UniqueFd keep() && { return std::move(lock_); }

 private:
  SegmentFolder(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  UniqueFd lock_;
};

// Removes this user's folders in `parent` that no process uses any more, because their processes
// were killed before they could leave. Never removes a folder that belongs to another user, is in
// use, or in which a name has changed within `age`.
void remove_left_segments(const std::string& parent,
                          std::chrono::seconds age = std::chrono::seconds(0));

}  // namespace dts
