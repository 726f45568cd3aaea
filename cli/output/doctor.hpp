// SPDX-License-Identifier: Apache-2.0
// Output of `dtsubmit doctor`.
#pragma once

#include "core/doctor/verdict.hpp"

#include <string>
#include <vector>

namespace dts::cli {

struct Diagnosis {
  std::string way;  // how the scheduler is reached: "Slurm 24.11.5 through libslurm.so.42"
  doctor::Facts facts;
  std::vector<doctor::Answered> answers;
};

// One paragraph per question, and the settings to request from an administrator. `columns` (at
// least 40) limits the paragraphs, not the settings.
[[nodiscard]] std::string to_text(const Diagnosis& diagnosis, std::size_t columns, bool in_colour);

// One document, schema dtsubmit/doctor/1.
[[nodiscard]] std::string to_json(const std::vector<Diagnosis>& partitions);

// For administrators: a diff of the configuration files, with reasons, and with the partitions
// whose jobs would benefit.
[[nodiscard]] std::string site_text(const std::vector<Diagnosis>& partitions);

}  // namespace dts::cli
