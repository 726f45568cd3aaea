// SPDX-License-Identifier: Apache-2.0
// Those steps of make_plan() that have files of their own, each of which records its decision.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/plan/layout/fit.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/program/own_launcher.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace dts::plan {

inline constexpr const char* k_as_asked = "as requested";

inline void decide(Plan& plan,
                   std::string_view what,
                   const std::string& value,
                   const std::string& why) {
  plan.reasons.push_back({std::string(what), value, why, why == k_as_asked});
}

inline void decide(Plan& plan, std::string_view what, unsigned value, std::string why) {
  decide(plan, what, std::to_string(value), std::move(why));
}

// Slurm may send the signal up to 60 s early (sbatch(1), --signal), so a margin within a minute of
// the limit would take effect right at the start.
void choose_margin(Plan& plan, const spec::JobSpec& spec, const Fit& fit, Diagnostics& problems);

// Sets the number of processes that each task starts itself, if the program is known to do so or
// --per-node says so.
void choose_workers(Plan& plan, const spec::JobSpec& spec, const OwnLauncher& launcher);

// Reports options that do not work with such processes, and contradictions between the options that
// say who starts them.
void check_workers(const Plan& plan,
                   const spec::JobSpec& spec,
                   const OwnLauncher& launcher,
                   Diagnostics& problems);

}  // namespace dts::plan
