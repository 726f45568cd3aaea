// SPDX-License-Identifier: Apache-2.0
// Puts everything that a job stages into this node's stage folder, or finds it there.
#pragma once

#include "core/base/result.hpp"
#include "core/spec/stage.hpp"
#include "core/stage/meter.hpp"

#include <string>
#include <vector>

namespace dts::stage {

struct StageOrder {
  std::vector<spec::StageItem> items;
  std::string folder;    // open_stage_folder(), in use
  unsigned threads = 8;  // that copy; file systems that nodes share need several to be fast
};

// Blocks until it is done. Errors name the option: a source that cannot be read here, too little
// space (nothing is copied then), a copy that differs. They are kept in the folder as well.
[[nodiscard]] Result<void> stage_all(const StageOrder& order, const Meter::Say& say);

// The error of stage_all() in that folder, in one line with what to do; empty: there was none.
[[nodiscard]] std::string read_failure(const std::string& folder);

}  // namespace dts::stage
