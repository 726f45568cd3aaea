// SPDX-License-Identifier: Apache-2.0
// Puts all files that a job stages into this node's stage folder, unless they are already there.
#pragma once

#include "core/base/result.hpp"
#include "core/spec/stage.hpp"
#include "core/stage/meter.hpp"

#include <string>
#include <vector>

namespace dts::stage {

struct StageOrder {
  std::vector<spec::StageItem> items;
  std::string folder;    // from open_stage_folder(), and in use
  unsigned threads = 8;  // copying threads; shared file systems need several to be fast
};

// Blocks until staging is complete. Errors name the option: a source cannot be read here, there is
// too little space (then nothing is copied), or a copy differs. The error is also stored in the
// folder.
[[nodiscard]] Result<void> stage_all(const StageOrder& order, const Meter::Say& say);

// The error, with its hint, that stage_all() left in `folder`, in one line; empty if there is none.
[[nodiscard]] std::string read_failure(const std::string& folder);

}  // namespace dts::stage
