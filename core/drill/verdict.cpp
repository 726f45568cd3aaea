// SPDX-License-Identifier: Apache-2.0
#include "core/drill/verdict.hpp"

#include "core/base/text/counted.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dts::drill {
namespace {

using run::Action;

// True if the decision follows the rule. If Slurm requeues by itself, the agent only waits; if
// Slurm refuses, a successor continues the run.
bool is_as_ruled(Action ruled, const run::Recorded<Action>& decision) {
  if (ruled == Action::requeue && (decision == Action::wait || decision == Action::resubmit))
    return true;
  return decision == ruled;
}

void judge_cause(const Shown& shown, const FaultFacts& facts, std::vector<std::string>& problems) {
  const run::Recorded<run::Cause>& cause = shown.attempt.cause;
  if (std::find(facts.causes.begin(), facts.causes.end(), cause) != facts.causes.end()) return;
  std::vector<std::string> expected;
  for (const run::Cause one : facts.causes) expected.emplace_back(run::to_string(one));
  problems.push_back(fmt::format("the cause in the ledger is {}, not {}",
                                 cause.empty() ? "missing" : cause.name(),
                                 fmt::join(expected, " or ")));
}

void judge_decision(const Shown& shown,
                    const FaultFacts& facts,
                    const run::Policy& policy,
                    std::vector<std::string>& problems) {
  const auto cause = shown.attempt.cause.value();
  if (!cause || *cause == run::Cause::agent_lost) return;  // then no agent was left to decide
  const Action ruled = policy.rule(*cause).action;
  const run::Recorded<Action>& decision = shown.attempt.decision;
  if (!is_as_ruled(ruled, decision))
    problems.push_back(
        fmt::format("the decision is {}, not {}{}",
                    decision.empty() ? "missing" : decision.name(),
                    run::to_string(ruled),
                    shown.attempt.reason.empty() ? "" : ": " + shown.attempt.reason));
  const bool may_end = ruled == Action::stop && !facts.by_hand;
  if (shown.ended && !may_end && decision != Action::stop)
    problems.emplace_back("the run has ended for good");
}

void judge_strictly(const Shown& shown,
                    const FaultFacts& facts,
                    const Strictness& strictness,
                    std::vector<std::string>& problems) {
  const std::int64_t most = facts.warned ? 0 : strictness.interval;
  if (shown.attempt.steps_lost < 0)
    problems.emplace_back("it is not known how many steps are lost");
  if (shown.attempt.steps_lost > most)
    problems.push_back(
        fmt::format("{} lost, at most {} allowed",
                    counted(static_cast<std::uint64_t>(shown.attempt.steps_lost), "step"),
                    most));
  if (strictness.digest.empty() || strictness.digest != strictness.undisturbed)
    problems.push_back(fmt::format("the digest is {}, that of an undisturbed run {}",
                                   strictness.digest.empty() ? "missing" : strictness.digest,
                                   strictness.undisturbed));
}

}  // namespace

std::vector<std::string> faults_found(const Shown& shown,
                                      const run::Policy& policy,
                                      const std::optional<Strictness>& strictness) {
  const FaultFacts& facts = facts_of(shown.fault);
  std::vector<std::string> problems;
  if (facts.causes.empty()) {
    if (!shown.attempt.cause.empty() && shown.attempt.cause != run::Cause::completed)
      problems.push_back(
          fmt::format("the attempt ended ({}) for no reason", shown.attempt.cause.name()));
  } else {
    judge_cause(shown, facts, problems);
    judge_decision(shown, facts, policy, problems);
  }
  const auto cause = shown.attempt.cause.value();
  const bool stops = cause && policy.rule(*cause).action == Action::stop && !facts.by_hand;
  if (!shown.seconds && !(shown.ended && stops))
    problems.push_back("it has not come back to " + shown.sign);
  if (shown.left > 0)
    problems.push_back(
        fmt::format("left of attempt {}: {}",
                    shown.attempt.number,
                    counted(static_cast<std::uint64_t>(shown.left), "process", "processes")));
  if (strictness) judge_strictly(shown, facts, *strictness, problems);
  return problems;
}

}  // namespace dts::drill
