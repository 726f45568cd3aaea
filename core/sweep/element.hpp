// SPDX-License-Identifier: Apache-2.0
// What an element of a sweep runs: the sweep's spec and plan with the element's values filled in.
// Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/job_id.hpp"
#include "core/plan/plan.hpp"
#include "core/spec/job_spec.hpp"
#include "core/sweep/substitute.hpp"
#include "core/sweep/sweep.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dts::sweep {

// The element's values by name, including the index.
[[nodiscard]] Assignments assignments_of(const Sweep& sweep, const Element& element);

// The spec as if the element had been submitted alone.
[[nodiscard]] spec::JobSpec element_spec(spec::JobSpec spec,
                                         const Sweep& sweep,
                                         const Element& element);
[[nodiscard]] plan::Plan element_plan(plan::Plan plan, const Sweep& sweep, const Element& element);

// Reports every {name} in texts with placeholders that is probably a mistake.
void check_texts(const spec::JobSpec& spec, const Sweep& sweep, Diagnostics& problems);

// The parameters that no argument of the program, nor --setup or --teardown, mentions: as {name} or
// by their variables. A program may still read those by itself.
[[nodiscard]] std::vector<std::string> unmentioned_parameters(const spec::JobSpec& spec,
                                                              const Sweep& sweep);

// What an element's run directory records about its sweep (element.json).
struct Membership {
  unsigned index = 0;
  JobId array{};                                // the id of the whole array
  unsigned lowest = 0, highest = 0, count = 0;  // indices of the array
  std::vector<std::pair<std::string, std::string>> parameters{};
};

[[nodiscard]] Membership membership_of(const Sweep& sweep, const Element& element, JobId array);

// Variables passed to the element's programs: DTSUBMIT_PARAMETERS, DTSUBMIT_PARAMETER_<NAME>, and
// SLURM_ARRAY_*, which a job that continues the element alone lacks.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> variables_of(
    const Membership& membership);

// The scheduler's name for the element's job: "123_4".
[[nodiscard]] JobId job_of_element(const JobId& array, unsigned index);

}  // namespace dts::sweep
