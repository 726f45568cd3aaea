// SPDX-License-Identifier: Apache-2.0
// The parts of a composed run, each with a run directory of its own below the run's:
// RUN/steps/2-train, RUN/roles/1-server.
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

// In their order; empty for a run that is not composed.
[[nodiscard]] std::vector<PartDirectory> parts_of(const RunDirectory& run);

// The part that is called so: "train", "2-train" or "steps/2-train".
[[nodiscard]] std::optional<PartDirectory> part_named(const RunDirectory& run,
                                                      const std::string& name);

// The run that `run` is a part of; `run` itself if it is none.
[[nodiscard]] RunDirectory whole_of(const RunDirectory& run);

// The run's name; of a part that of the whole with the part's behind it: no other has it. By the
// path alone.
[[nodiscard]] std::string full_name(const RunDirectory& run);

}  // namespace dts::run
