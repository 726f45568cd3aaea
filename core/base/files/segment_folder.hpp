// SPDX-License-Identifier: Apache-2.0
// A folder for files of a node that goes when the last process that uses it has gone, whichever way
// that ended.
#pragma once

#include "core/base/files/unique_fd.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace dts {

inline constexpr const char* k_shared_memory = "/dev/shm";

// Processes of one user that join() with the same name share PARENT/dtsubmit-UID-NAME, of mode
// 0700. Each holds a lock (flock(2), shared) on it; who leaves last removes it with all it holds.
// Not thread-safe; processes may race.
class SegmentFolder {
 public:
  SegmentFolder() = default;

  // Not valid() if `parent` is absent or not writable, or if such a folder belongs to somebody else
  // or is open to others: then there is nothing to share, which is not an error.
  [[nodiscard]] static SegmentFolder join(const std::string& parent, std::string_view name);

  SegmentFolder(SegmentFolder&&) noexcept = default;
  SegmentFolder& operator=(SegmentFolder&&) = delete;
  SegmentFolder(const SegmentFolder&) = delete;
  SegmentFolder& operator=(const SegmentFolder&) = delete;
  ~SegmentFolder();

  [[nodiscard]] bool valid() const { return lock_.valid(); }

  [[nodiscard]] const std::string& path() const { return path_; }

  // It stays when everybody has left, until remove_left_segments() finds it. Gives the lock, which
  // says that it is in use as long as a descriptor of it is open in any process.
  [[nodiscard]] UniqueFd keep() && { return std::move(lock_); }

 private:
  SegmentFolder(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  UniqueFd lock_;
};

// Removes this user's folders in `parent` that nobody has joined any more: their processes were
// killed before they could leave. Never one of another user's, never one that is in use, or in
// which a name has changed within `age`.
void remove_left_segments(const std::string& parent,
                          std::chrono::seconds age = std::chrono::seconds(0));

}  // namespace dts
