// SPDX-License-Identifier: Apache-2.0
// Puts everything that a job stages into this node's stage folder, unless it is already there.
#pragma once

#include "core/base/result.hpp"
#include "core/spec/stage.hpp"
#include "core/stage/meter.hpp"

#include <string>
#include <vector>

namespace dts::stage {

struct StageOrder {
  std::vector<spec::StageItem> items;
  std::string folder;    // from open_stage_folder(), in use
  unsigned threads = 8;  // copying threads; shared file systems need several to be fast
};

// Blocks until it is done. Errors name the option: a source that cannot be read here, too little
// space (then nothing is copied), a copy that differs. The error is stored in the folder as well.
[[nodiscard]] Result<void> stage_all(const StageOrder& order, const Meter::Say& say);

// The error that stage_all() left in that folder, with its hint, in one line; empty if there was
// none.
[[nodiscard]] std::string read_failure(const std::string& folder);

}  // namespace dts::stage
