// SPDX-License-Identifier: Apache-2.0
// Checks a site's configuration before a job is submitted there.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/sched/scheduler.hpp"

#include <compare>
#include <optional>
#include <string>

namespace dts::cli {

// Errc::invalid if the site assigns a meaning of its own to one of our exit codes: a job that exits
// with "saved, run me again" (85) or "do not restart" (93) would be requeued or held without us.
[[nodiscard]] Result<void> check_exit_codes(const sched::ConfigInfo& config);

struct Site {
  plan::ClusterView cluster;
  std::string version;  // of the scheduler
  bool signals_reach_programs = false;
};

// The account and QOS that decide which limits a job has.
struct Charged {
  std::string account, qos;  // empty: the default

  auto operator<=>(const Charged&) const = default;
};

// nullopt: parts of the job have different ones.
[[nodiscard]] std::optional<Charged> charged_for(const spec::JobSpec& spec);

// Queries the available resources, and the limits of such a job if it is known. Errors: the
// scheduler's, and those of check_exit_codes().
[[nodiscard]] Result<Site> look_at_site(sched::Scheduler& scheduler,
                                        const std::optional<Charged>& charged);

void add_limits(const sched::SiteLimits& limits, plan::ClusterView& cluster);

// Adds to `cluster` the nodes that this user's jobs on that cluster should currently avoid, and the
// site's limit for arrays. An unreadable quarantine counts as empty, with a message on standard
// error.
void add_site(const sched::ConfigInfo& config, plan::ClusterView& cluster);

}  // namespace dts::cli
