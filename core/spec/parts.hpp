// SPDX-License-Identifier: Apache-2.0
// Jobs of several programs: steps run one after another, roles run side by side, each on its own
// nodes, or on those of another role. Pure, thread-safe.
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

// The job's steps or roles.
[[nodiscard]] inline const std::vector<Part>& parts_of(const JobSpec& spec) {
  return spec.roles.empty() ? spec.steps : spec.roles;
}

// "step `train`", for messages.
[[nodiscard]] std::string part_words(bool is_role, const std::string& name);
[[nodiscard]] std::string words_of(const JobSpec& spec, const Part& part);

// The index of the role whose nodes a role runs on: its own, unless it is beside another. A name
// that is not an earlier role's, which check_parts() reports, counts as none.
[[nodiscard]] std::size_t host_of(const std::vector<Part>& parts, std::size_t index);

// Fills Part::job of each part: the job's options, except a role's number of nodes, overridden by
// the part's own. Without a number, a role has one node, and beside another role all of its nodes.
// Call it after all sources of the job's options have been read and after settle_size(). Appends
// contradictions, by part.
void resolve_parts(JobSpec& spec, Diagnostics& problems);

// Appends problems of names, of options that parts cannot have, and of each part as a job of its
// own, unless the whole job already has the same problem.
void check_parts(const JobSpec& spec, Diagnostics& problems);

// "PREP" for prep, "DATA_SERVER" for data-server; for names of environment variables.
[[nodiscard]] std::string variable_name(const std::string& part);

}  // namespace dts::spec
