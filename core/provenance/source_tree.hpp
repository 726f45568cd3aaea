// SPDX-License-Identifier: Apache-2.0
// The git working tree that a job is submitted from: its commit, changes since, and a copy of it.
// Uses git(1), which rejects trees of other users (safe.directory). Thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dts::provenance {

struct SourceTree {
  std::string top;                     // root folder of the tree, absolute
  std::string prefix;                  // of the queried folder, relative to `top`: "src/"
  std::string commit;                  // empty: there is none yet
  std::string branch;                  // empty: a detached head
  std::string remote;                  // URL of "origin" without passwords; empty: none
  std::vector<std::string> changed;    // tracked files that differ from the commit
  std::vector<std::string> untracked;  // untracked files, and folders with nothing else ("data/")
  std::string diff;  // against the commit, including binary files, as git apply reads it
  std::string note;  // what could not be recorded, and why; empty: everything was
};

// nullopt if `folder` is in no working tree or git is not installed. Errc::io if git fails, or does
// not answer within 5 s for one of three queries.
[[nodiscard]] Result<std::optional<SourceTree>> read_source_tree(const std::string& folder);

// Paths relative to the tree's folder, sorted, including submodules. Errc::io if git fails or takes
// longer than a minute.
[[nodiscard]] Result<std::vector<std::string>> tracked_files(const SourceTree& tree);

struct Copied {
  std::size_t files = 0;
};

// Copies the tracked files in their current state, including submodules, to the new folder `into`,
// and makes them durable: files with their modes, symbolic links as links. Errc::io leaves a
// partial copy behind.
[[nodiscard]] Result<Copied> copy_tracked_files(const SourceTree& tree, const std::string& into);

// The recorded facts as JSON, without the diff.
[[nodiscard]] std::string to_json(const SourceTree& tree);

}  // namespace dts::provenance
