// SPDX-License-Identifier: Apache-2.0
// Files that are complete or absent: every write is temp + fsync + rename + fsync of the folder.
// Functions are thread-safe as long as no two write the same path at once.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

// The whole file. Errc::not_found if absent, Errc::invalid if larger than `limit` bytes.
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::uint64_t limit = std::uint64_t{1} << 30);

// Writes all of `content` to a descriptor, even if write(2) is interrupted or writes less. `path`
// is for the error message.
[[nodiscard]] Result<void> write_whole(int fd, std::string_view content, const std::string& path);

enum class Durability {
  synced,    // survives a power cut when the call returns
  deferred,  // atomic for readers, but the caller syncs later (sync_folder_tree)
};

// Atomically replaces `path` by a new file of mode `mode`. On failure the old file is untouched and
// no temporary file is left.
[[nodiscard]] Result<void> write_file(const std::string& path,
                                      std::string_view content,
                                      unsigned mode = 0600,
                                      Durability durability = Durability::synced);

// Creates a file in a folder that has no readers yet: neither atomic nor durable. Errc::io if it
// exists.
[[nodiscard]] Result<void> create_file(const std::string& path,
                                       std::string_view content,
                                       unsigned mode = 0600);

// Appends `line` and a newline with one write(2) and fsync. Creates the file with `mode`.
[[nodiscard]] Result<void> append_line(const std::string& path,
                                       std::string_view line,
                                       unsigned mode = 0600);

// Creates the folder and its parents; an existing folder is fine.
[[nodiscard]] Result<void> make_folders(const std::string& path, unsigned mode = 0700);

// Calls fsync on a folder, so that renames in it are durable (rename(2) alone is not).
[[nodiscard]] Result<void> sync_folder(const std::string& path);

// Calls fsync on every file directly in `path` and on the folder itself.
[[nodiscard]] Result<void> sync_folder_tree(const std::string& path);

// Names in a folder, sorted, without "." and "..". Empty if the folder is absent.
[[nodiscard]] std::vector<std::string> list_folder(const std::string& path);

// The same, but Errc::not_found if the folder is absent, and Errc::io if it cannot be read now.
[[nodiscard]] Result<std::vector<std::string>> read_folder(const std::string& path);

[[nodiscard]] bool exists(const std::string& path);

// True if there is certainly nothing at `path`: a file system that fails now proves nothing.
[[nodiscard]] bool is_gone(const std::string& path);

// Removes a file or a whole folder; not an error if it is absent.
[[nodiscard]] Result<void> remove_all(const std::string& path);

// Absolute path of the running program's file.
[[nodiscard]] std::string program_path();

// The folder of plug-ins and internal programs: ../lib/dtsubmit from program_path().
[[nodiscard]] std::string library_folder();

// The folder for a user's state: dtsubmit in XDG_STATE_HOME, otherwise in ~/.local/state (XDG Base
// Directory Specification 0.8). Errc::invalid if neither variable gives an absolute path.
[[nodiscard]] Result<std::string> state_folder();

// Creates a symbolic link `link` to `target`, and the link's folder; replaces an existing link.
// Errc::io if something else exists there.
[[nodiscard]] Result<void> make_link(const std::string& target, const std::string& link);

// Makes a path absolute, without "." and ".." and without a trailing slash.
[[nodiscard]] std::string absolute_path(const std::string& path);

}  // namespace dts
