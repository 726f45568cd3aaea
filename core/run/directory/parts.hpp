// SPDX-License-Identifier: Apache-2.0
// The parts of a composed run, each with its own run directory below the run's: RUN/steps/2-train,
// RUN/roles/1-server.
#pragma once

#include "core/run/directory/run_directory.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::run {

struct PartDirectory {
  std::string name;  // "train"
  bool is_role = false;
  RunDirectory run;
};

// "steps/2-train"; `number` from 1.
[[nodiscard]] std::string part_folder(bool is_role, unsigned number, const std::string& name);

// The parts of a run, in order; empty for a run that is not composed.
[[nodiscard]] std::vector<PartDirectory> parts_of(const RunDirectory& run);

// The part with this name: "train", "2-train" or "steps/2-train".
[[nodiscard]] std::optional<PartDirectory> part_named(const RunDirectory& run,
                                                      const std::string& name);

// The run that `run` is a part of, or `run` itself if it is not a part.
[[nodiscard]] RunDirectory whole_of(const RunDirectory& run);

// The run's name; for a part, the whole run's name followed by the part's, which is unique. Uses
// only the path.
[[nodiscard]] std::string full_name(const RunDirectory& run);

}  // namespace dts::run
