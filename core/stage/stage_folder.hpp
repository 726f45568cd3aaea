// SPDX-License-Identifier: Apache-2.0
// Where a run's staged files are on a node:
// BASE/dtsubmit-stage-UID/NODE/dtsubmit-UID-RUN, closed to others. The node's name is part of it
// because several nodes may share a BASE.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/result.hpp"

#include <string>

namespace dts::stage {

struct StagePlace {
  std::string node;
  std::string run_directory;
};

struct StageFolder {
  std::string path;
  UniqueFd lock;  // the folder is in use as long as this is open in any process

  // What programs see, DTSUBMIT_STAGE_DIR.
  [[nodiscard]] std::string data() const { return path + "/data"; }
};

// The folder on a disk of this node: DTSUBMIT_STAGE_BASE, which must be usable, otherwise the first
// of SLURM_TMPDIR, TMPDIR and /tmp that is.
[[nodiscard]] Result<std::string> stage_base(const Lookup& environment);

// Makes it, or opens the one that an earlier attempt left, and keeps it in use.
[[nodiscard]] Result<StageFolder> open_stage_folder(const StagePlace& place,
                                                    const Lookup& environment);

// Removes those of this user beside `path` that no job uses: a node that was lost leaves them.
void remove_left_stages(const std::string& path);

// Writes `path` to `file`, from which remove_staged() knows what to remove.
[[nodiscard]] Result<void> record_stage(const std::string& file, const std::string& path);

// Removes the folder that `file` names, if both are there. Errc::invalid where it names no stage
// folder of ours.
[[nodiscard]] Result<void> remove_staged(const std::string& file);

}  // namespace dts::stage
