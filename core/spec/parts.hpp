// SPDX-License-Identifier: Apache-2.0
// Jobs of several programs: steps, which run one after another, and roles, which run side by side
// on nodes of their own. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/spec/job_spec.hpp"

#include <string>
#include <vector>

namespace dts::spec {

inline constexpr std::size_t k_most_parts = 99;

[[nodiscard]] inline bool is_composed(const JobSpec& spec) {
  return !spec.steps.empty() || !spec.roles.empty();
}

// Its steps, or its roles.
[[nodiscard]] inline const std::vector<Part>& parts_of(const JobSpec& spec) {
  return spec.roles.empty() ? spec.steps : spec.roles;
}

// "step `train`", for messages.
[[nodiscard]] std::string words_of(const JobSpec& spec, const Part& part);

// Makes Part::job of each part: the job's options, except for the number of nodes of a role, and
// then what the part says of itself. Call it once all sources of the job's options were read, after
// settle_size(). Appends what does not fit together, by part.
void resolve_parts(JobSpec& spec, Diagnostics& problems);

// Appends the problems of names, of what parts cannot have, and of each part as a job of its own;
// what is a problem of the whole job already is not said again.
void check_parts(const JobSpec& spec, Diagnostics& problems);

// "PREP" for prep, "DATA_SERVER" for data-server: in the names of environment variables.
[[nodiscard]] std::string variable_name(const std::string& part);

}  // namespace dts::spec
