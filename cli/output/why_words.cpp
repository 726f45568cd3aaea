// SPDX-License-Identifier: Apache-2.0
#include "cli/output/why_words.hpp"

#include "cli/output/cause_words.hpp"
#include "cli/output/end_words.hpp"
#include "core/base/text/units.hpp"
#include "core/run/ledger/history.hpp"
#include "core/sched/phrases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dts::cli::why_words {

using std::chrono::seconds;

std::string ago(std::int64_t duration) {
  return run::duration_words(seconds(std::max<std::int64_t>(0, duration)));
}

std::string utc(std::int64_t time) {
  return format_utc(std::chrono::system_clock::from_time_t(time));
}

std::int64_t unix_of(const std::string& time) {
  const auto parsed = parse_utc(time);
  return parsed ? std::chrono::system_clock::to_time_t(*parsed) : 0;
}

bool is_local(const RunFacts& known) {
  return known.summary.job.empty();
}

std::string who(const RunFacts& known) {
  return is_local(known) ? "the run" : fmt::format("job {}", known.summary.job);
}

std::string who_begins(const RunFacts& known) {
  return is_local(known) ? "The run" : fmt::format("Job {}", known.summary.job);
}

std::string scheduler_begins(const RunFacts& known) {
  std::string name = known.phrases.name;
  if (name.starts_with("the ")) name.front() = 'T';
  return name;
}

const AttemptSummary* newest(const RunFacts& known) {
  return known.summary.attempts.empty() ? nullptr : &known.summary.attempts.back();
}

const AttemptSummary* under_way(const RunFacts& known) {
  const AttemptSummary* attempt = newest(known);
  return attempt != nullptr && attempt->ended.empty() ? attempt : nullptr;
}

namespace {

// If a job is only known from accounting, nothing shows whether it had begun.
bool is_cancelled_in_queue(const RunFacts& known) {
  return known.job->state == sched::JobState::cancelled && under_way(known) == nullptr &&
         !known.job->accounted;
}

}  // namespace

Standing standing_of(const RunFacts& known) {
  const Event* end = run::final_decision(known.events);
  if (known.job && sched::waits(*known.job)) return Standing::pending;
  if (end != nullptr) return run::is_done(known.events) ? Standing::done : Standing::stopped;
  if (known.job && is_cancelled_in_queue(known)) return Standing::cancelled;
  if (known.job) return sched::is_terminal(known.job->state) ? Standing::lost : Standing::running;
  if (known.forgotten && run::is_cancelled_in_queue(known.events)) return Standing::cancelled;
  if (known.forgotten) return Standing::lost;
  if (known.agent_lives && newest(known) != nullptr)
    return *known.agent_lives ? Standing::running : Standing::lost;
  return Standing::unknown;
}

namespace {

// True if the program saves under names of its own, as most frameworks do.
bool saves_otherwise(const RunFacts& known) {
  return std::any_of(known.events.begin(), known.events.end(), [](const Event& event) {
    const auto* ended = event.as<run::AttemptEnded>();
    return ended != nullptr && ended->saved;
  });
}

}  // namespace

std::string would_continue(const RunFacts& known) {
  const AttemptSummary* attempt = newest(known);
  if (attempt != nullptr && attempt->cause == run::Cause::damaged)
    return "stops again as long as no checkpoint is good";
  if (!known.checkpoint.empty()) return "continues from " + known.checkpoint;
  if (!known.own_checkpoints.empty())
    return "starts over: nothing that it wrote matches --checkpoints " + known.own_checkpoints;
  if (saves_otherwise(known)) return "continues from what its program has saved";
  const std::string part = attempt == nullptr ? "" : attempt->part;
  return part.empty() ? "starts over: its run directory has no checkpoint"
                      : fmt::format("`{}` starts over: it has no checkpoint", part);
}

std::string continue_command(const RunFacts& known) {
  const std::string command = is_local(known) ? "dtsubmit run --continue " : "dtsubmit requeue ";
  return fmt::format("{}{}   ({})", command, known.name, would_continue(known));
}

std::string steps_of(const AttemptSummary& attempt) {
  if (attempt.last_step < 0) return "no steps reported";
  if (attempt.anew)
    return fmt::format("started over at step 0 although there was {}, to step {}",
                       attempt.resumable,
                       attempt.last_step);
  std::string words = fmt::format(
      "steps {} to {}", std::max<std::int64_t>(0, attempt.first_step), attempt.last_step);
  if (attempt.steps_lost > 0) words += fmt::format(", {} of them lost", attempt.steps_lost);
  return words;
}

std::string what_ended(const AttemptSummary& attempt, run::Cause cause) {
  if (cause == run::Cause::stopped && is_stop_asked_for(attempt))
    return "`dtsubmit stop` asked it to save and end";
  return words_of_cause(cause, attempt.detail).what;
}

AttemptExplanation describe_attempt(const AttemptSummary& attempt) {
  AttemptExplanation told{
      attempt.number, fmt::format("attempt {}", attempt.number), "", "", "", {}};
  for (const std::string& warning : attempt.warnings) told.slow.push_back("warning: " + warning);
  for (const run::SlowRank& slow : attempt.slow) told.slow.push_back(slow.detail);
  if (!attempt.nodes.empty()) told.head += fmt::format(" on {}", fmt::join(attempt.nodes, ","));
  const bool known_length = !attempt.started.empty() && !attempt.ended.empty();
  if (known_length && attempt.cause != run::Cause::agent_lost)
    told.head += fmt::format(", {}", ago(unix_of(attempt.ended) - unix_of(attempt.started)));
  told.head += ", " + steps_of(attempt);
  if (!attempt.ended.empty()) {
    const auto cause = attempt.cause.value();
    told.cause = attempt.cause.name();
    if (cause) told.cause += fmt::format(": {}", what_ended(attempt, *cause));
    if (!attempt.detail.empty() && cause != run::Cause::completed)
      told.cause += fmt::format(" ({})", attempt.detail);
  }
  told.then = attempt.decision.name();
  if (!attempt.reason.empty()) told.then += ": " + attempt.reason;
  told.continued = attempt.continued;
  return told;
}

std::string_view request_verb(const Event& event) {
  return event.is<run::Resumed>() ? "resumed" : run::event_name(event);
}

std::string progress_of(const RunFacts& known, const AttemptSummary& attempt) {
  std::string words = fmt::format("It has done step {}", attempt.last_step);
  if (known.summary.total_steps > 0) words += fmt::format(" of {}", known.summary.total_steps);
  if (known.last_metric > 0)
    words += fmt::format(", as reported {} ago", ago(known.now - known.last_metric));
  return words + ".";
}

}  // namespace dts::cli::why_words
