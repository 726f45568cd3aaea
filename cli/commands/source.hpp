// SPDX-License-Identifier: Apache-2.0
// The origin of a job, as recorded in the run directory: the git tree of its program, and the
// environment and versions at submission.
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
  std::string note;  // why git could not be queried; empty: it could, or there is no tree
};

// Queries git about the working folder in the background.
[[nodiscard]] std::future<Source> begin_reading_source();

// --snapshot: adds as problems what the copy would lack, and as notes what runs outside of the
// copy.
void check_snapshot(Asked& asked, const Source& source);

// The folder of all attempts: the working folder, or its copy in `run` with --snapshot.
[[nodiscard]] std::string folder_of_attempts(const spec::JobSpec& spec,
                                             const Source& source,
                                             const run::RunDirectory& run);

// Copies the tree to `staging` for --snapshot.
[[nodiscard]] Result<void> take_snapshot(const Source& source, const run::RunDirectory& staging);

struct Submitted {
  std::string folder;                       // of all attempts
  const std::vector<std::string>& command;  // as passed to the ranks
  const std::map<std::string, std::string>& versions;
};

// The text of provenance.json.
[[nodiscard]] std::string provenance_record(const Submitted& submitted, const Source& source);

// The value that variable `name` had when the run was submitted; empty: unset, or not recorded.
[[nodiscard]] std::string recorded_variable(const run::RunDirectory& run, const char* name);

}  // namespace dts::cli
