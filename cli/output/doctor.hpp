// SPDX-License-Identifier: Apache-2.0
// Output of `dtsubmit doctor`.
#pragma once

#include "core/doctor/verdict.hpp"

#include <string>
#include <vector>

namespace dts::cli {

struct Diagnosis {
  std::string way;  // to the scheduler: "Slurm 24.11.5 through libslurm.so.42"
  doctor::Facts facts;
  std::vector<doctor::Answered> answers;
};

// A paragraph for each question, and the lines to ask an administrator for.
[[nodiscard]] std::string to_text(const Diagnosis& diagnosis, bool in_colour);

// One document, schema dtsubmit/doctor/1.
[[nodiscard]] std::string to_json(const std::vector<Diagnosis>& partitions);

// For administrators: a diff of the configuration files with reasons, and of which partitions'
// jobs they are wishes.
[[nodiscard]] std::string site_text(const std::vector<Diagnosis>& partitions);

}  // namespace dts::cli
