// SPDX-License-Identifier: Apache-2.0
// Slurm's job ids, which are texts in our interface.
#pragma once

#include "plugins/slurm_shared/failure.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slurm_plugin {

// "4711"; task 3 of an array "4711_3"; component 1 of a heterogeneous job "4711+1".
struct JobName {
  std::uint32_t number = 0;
  std::optional<std::uint32_t> task{};
  std::optional<std::uint32_t> component{};
};

// nullopt if it is not a Slurm job id. Pure.
[[nodiscard]] std::optional<JobName> parse_job_name(std::string_view text);

// Parses the request's "id"; the failure invalid names the id if it is not one of Slurm's.
[[nodiscard]] Outcome<JobName> job_name(const json& request);

// "job 4711_3", for the request's "id".
[[nodiscard]] std::string named_job(const json& request);

}  // namespace slurm_plugin
