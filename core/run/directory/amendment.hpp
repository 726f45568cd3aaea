// SPDX-License-Identifier: Apache-2.0
// Changes the options of a run that exists: new contents for its spec.json, plan.json and
// script.sbatch, and for those of its parts, which replace the old ones together.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"

#include <string>
#include <vector>

namespace dts::run {

struct Amendment {
  std::string spec;
  std::string plan;
  std::string script;              // empty: unchanged
  std::string folder{};            // of a part: its part_folder()
  std::vector<Amendment> parts{};  // of a composed run; they have none themselves
};

// Replaces the files. amendment.json, which is written first and removed last, contains all
// texts, so that after a crash complete_amendment() finishes the work. The caller must hold
// lock_submission(), and no job of the run may be running. Errors: the disk's.
[[nodiscard]] Result<void> amend(const RunDirectory& run, const Amendment& amendment);

// Finishes an amendment that was interrupted; does nothing if there is none. Errc::invalid for an
// amendment.json that dtsubmit did not write.
[[nodiscard]] Result<void> complete_amendment(const RunDirectory& run);

}  // namespace dts::run
