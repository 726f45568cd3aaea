// SPDX-License-Identifier: Apache-2.0
// Where a run's staged files are on a node: BASE/dtsubmit-stage-UID/NODE/dtsubmit-UID-RUN, closed
// to other users. The path has the node's name, because several nodes may share a BASE.
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
  UniqueFd lock;  // the folder is in use while any process has it open

  // The folder as programs see it, DTSUBMIT_STAGE_DIR.
  [[nodiscard]] std::string data() const { return path + "/data"; }
};

// The parent folder on a local disk: DTSUBMIT_STAGE_BASE, which must be usable, otherwise the first
// usable one of SLURM_TMPDIR, TMPDIR and /tmp.
[[nodiscard]] Result<std::string> stage_base(const Lookup& environment);

// Creates the folder, or opens the one that an earlier attempt left, and marks it as in use.
[[nodiscard]] Result<StageFolder> open_stage_folder(const StagePlace& place,
                                                    const Lookup& environment);

// Removes unused folders of this user beside `path`, which a lost node leaves behind.
void remove_left_stages(const std::string& path);

// Writes `path` to `file` for remove_staged().
[[nodiscard]] Result<void> record_stage(const std::string& file, const std::string& path);

// Removes the folder that `file` names, if both exist. Errc::invalid if the folder is not one of
// our stage folders.
[[nodiscard]] Result<void> remove_staged(const std::string& file);

}  // namespace dts::stage
