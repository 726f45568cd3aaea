// SPDX-License-Identifier: Apache-2.0
// The git working tree that a job is submitted from: its commit, what has changed since, and a copy
// of it. By git(1), which refuses trees of other users (safe.directory). Thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dts::provenance {

struct SourceTree {
  std::string top;                     // the tree's folder, absolute
  std::string prefix;                  // of the folder that was asked about, below it: "src/"
  std::string commit;                  // empty: there is none yet
  std::string branch;                  // empty: a detached head
  std::string remote;                  // URL of "origin", without passwords; empty: there is none
  std::vector<std::string> changed;    // tracked files that differ from the commit
  std::vector<std::string> untracked;  // files, and folders of nothing else ("data/")
  std::string diff;  // from the commit, binary files included, as git apply reads it
  std::string note;  // what could not be recorded, and why; empty: nothing
};

// nullopt where `folder` is in no working tree, or there is no git. Errc::io where git fails or
// does not answer in time: 5 s for each of three questions.
[[nodiscard]] Result<std::optional<SourceTree>> read_source_tree(const std::string& folder);

// Paths below the tree's folder, sorted, submodules included. Errc::io as above, after a minute.
[[nodiscard]] Result<std::vector<std::string>> tracked_files(const SourceTree& tree);

struct Copied {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

// Copies the tracked files as they are now, submodules included, to the new folder `into`, and
// makes them durable: files with their modes, symbolic links as such. Errc::io, with what is there
// already left behind.
[[nodiscard]] Result<Copied> copy_tracked_files(const SourceTree& tree, const std::string& into);

// The facts as JSON, without the diff.
[[nodiscard]] std::string to_json(const SourceTree& tree);

}  // namespace dts::provenance
