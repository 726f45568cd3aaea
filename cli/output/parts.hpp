// SPDX-License-Identifier: Apache-2.0
// The parts of a composed run, as `dtsubmit status` shows them.
#pragma once

#include "core/run/directory/run_directory.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace dts::cli {

struct PartRow {
  std::string name{};
  std::string folder{};  // its run directory
  std::string state{};   // done, running, stopped, not begun, or the next step: requeue
  unsigned attempts = 0;
  std::string cause{};   // of its latest end
  std::string detail{};  // the cause as text
  std::string steps{};   // "0-120"; "-": none reported
  std::string nodes{};   // of its latest attempt
};

// Empty if the run is not composed.
[[nodiscard]] std::vector<PartRow> part_rows(const run::RunDirectory& run);

// A table with a heading; empty if there are no rows.
[[nodiscard]] std::string parts_table(const std::vector<PartRow>& rows);

[[nodiscard]] nlohmann::ordered_json parts_to_json(const std::vector<PartRow>& rows);

}  // namespace dts::cli
