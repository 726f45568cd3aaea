// SPDX-License-Identifier: Apache-2.0
// The names of a job's states, and small functions.
#include "core/sched/scheduler.hpp"

#include "core/base/text/names.hpp"
#include "core/base/text/text.hpp"
#include "core/sched/billing.hpp"

namespace dts::sched {
namespace {

constexpr Names<JobState, 11> k_states{{
    {JobState::pending, "pending"},
    {JobState::running, "running"},
    {JobState::suspended, "suspended"},
    {JobState::completed, "completed"},
    {JobState::cancelled, "cancelled"},
    {JobState::failed, "failed"},
    {JobState::timed_out, "timed_out"},
    {JobState::node_failed, "node_failed"},
    {JobState::preempted, "preempted"},
    {JobState::out_of_memory, "out_of_memory"},
    {JobState::unknown, "unknown"},
}};

constexpr Names<Preemption, 4> k_preemptions{{
    {Preemption::none, "none"},
    {Preemption::requeue, "requeue"},
    {Preemption::cancel, "cancel"},
    {Preemption::suspend, "suspend"},
}};

// A list of codes and ranges, "85,90-99".
bool lists(const std::string& codes, unsigned code) {
  for (const std::string& item : split(codes, ',')) {
    const std::size_t dash = item.find('-');
    const auto low = parse_number(trim(std::string_view(item).substr(0, dash)));
    const auto high = dash == std::string::npos
                          ? low
                          : parse_number(trim(std::string_view(item).substr(dash + 1)));
    if (low && high && *low <= code && code <= *high) return true;
  }
  return false;
}

constexpr Names<BillingRule, 3> k_billing_rules{{
    {BillingRule::sum, "sum"},
    {BillingRule::largest, "largest"},
    {BillingRule::largest_and_gpus, "largest_and_gpus"},
}};

}  // namespace

const char* to_string(JobState state) {
  return name_of(k_states, state);
}

JobState job_state_of(std::string_view word) {
  return value_of(k_states, word).value_or(JobState::unknown);
}

bool waits(const JobInfo& job) {
  return job.state == JobState::pending || job.preparing;
}

const char* to_string(Preemption preemption) {
  return name_of(k_preemptions, preemption);
}

Preemption preemption_of(std::string_view word) {
  return value_of(k_preemptions, word).value_or(Preemption::none);
}

const char* to_string(BillingRule rule) {
  return name_of(k_billing_rules, rule);
}

BillingRule billing_rule_of(std::string_view word) {
  return value_of(k_billing_rules, word).value_or(BillingRule::sum);
}

const ClaimedExits* claimed_by(const ConfigInfo& config, unsigned code) {
  for (const ClaimedExits& claim : config.claimed_exits)
    if (lists(claim.codes, code)) return &claim;
  return nullptr;
}

tl::unexpected<Error> cannot_tell() {
  return fail(Errc::invalid, "this scheduler does not say");
}

std::string to_text(const Access& way) {
  return way.instead.empty() ? way.words : way.words + ": " + way.instead;
}

bool is_terminal(JobState state) {
  switch (state) {
    case JobState::pending:
    case JobState::running:
    case JobState::suspended:
    case JobState::unknown:
      return false;
    case JobState::completed:
    case JobState::cancelled:
    case JobState::failed:
    case JobState::timed_out:
    case JobState::node_failed:
    case JobState::preempted:
    case JobState::out_of_memory:
      return true;
  }
  return false;
}

}  // namespace dts::sched
