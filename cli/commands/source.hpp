// SPDX-License-Identifier: Apache-2.0
// Where a job comes from: the git tree of its program, the environment and the versions at its
// submission, as the run directory keeps them.
#pragma once

#include "cli/commands/job_options.hpp"
#include "core/provenance/source_tree.hpp"
#include "core/run/directory/run_directory.hpp"

#include <future>
#include <map>
#include <optional>
#include <string>

namespace dts::cli {

struct Source {
  std::optional<provenance::SourceTree> tree;
  std::string note;  // why git could not be asked; empty: it could, or there is no tree
};

// Asks git about the working folder, while the caller does something else.
[[nodiscard]] std::future<Source> begin_reading_source();

// --snapshot: what of the job would not be in the copy, as problems of it; what it runs beside the
// copy, as notes.
void check_snapshot(Asked& asked, const Source& source);

// The folder of all attempts: the working folder, or with --snapshot its copy in `run`.
[[nodiscard]] std::string folder_of_attempts(const spec::JobSpec& spec,
                                             const Source& source,
                                             const run::RunDirectory& run);

// Copies the tree for --snapshot, to `staging`.
[[nodiscard]] Result<void> take_snapshot(const Source& source, const run::RunDirectory& staging);

struct Submitted {
  std::string folder;                       // of all attempts
  const std::vector<std::string>& command;  // as the ranks get it
  const std::map<std::string, std::string>& versions;
};

// The text of provenance.json.
[[nodiscard]] std::string provenance_record(const Submitted& submitted, const Source& source);

}  // namespace dts::cli
