// SPDX-License-Identifier: Apache-2.0
// Explains a job that is pending or running.
#include "cli/output/cause_words.hpp"
#include "cli/output/end_words.hpp"
#include "cli/output/why_words.hpp"
#include "core/base/text/units.hpp"
#include "core/run/ledger/history.hpp"
#include "core/sched/phrases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dts::cli::why_words {
namespace {

std::string waits_since(const Event& event, std::int64_t now) {
  const std::string when = fmt::format("{}, {} ago", event.time, ago(now - unix_of(event.time)));
  if (event.is<run::Decided>() || event.is<run::AttemptEnded>())
    return fmt::format("Its last attempt ended at {}.", when);
  if (event.is<run::AttemptStarted>())
    return fmt::format("Its last attempt began at {}, and no end is recorded.", when);
  return fmt::format("It was {} at {}.", request_verb(event), when);
}

std::string waits_because(const RunFacts& known) {
  const sched::JobInfo& job = *known.job;
  std::string words =
      job.explanation.empty() ? "for a reason that dtsubmit does not know" : job.explanation;
  if (job.wait == sched::Wait::time && job.eligible_time > known.now)
    words +=
        fmt::format(": at {}, in {}", utc(job.eligible_time), ago(job.eligible_time - known.now));
  return words;
}

// A rank whose last words are an error often waits in vain for others, which wait for it.
void add_last_error(const RunFacts& known, Explanation& why) {
  constexpr std::int64_t k_quiet = 30;  // seconds
  const auto& error = known.last_error;
  if (!error || known.now - error->written < k_quiet) return;
  why.answer.push_back(
      fmt::format("The last words of rank {}{}, {} ago, are an error, but it has not ended: {}",
                  error->rank,
                  error->part.empty() ? "" : " of " + error->part,
                  ago(known.now - error->written),
                  error->line));
  why.next.push_back(fmt::format("dtsubmit logs {}{} --rank {}",
                                 known.name,
                                 error->part.empty() ? "" : "/" + error->part,
                                 error->rank));
}

// When the scheduler ends the job of a run that has one.
void add_end(const RunFacts& known, bool suspended, Explanation& why) {
  if (known.job->unlimited)
    why.answer.push_back("It has no time limit.");
  else if (suspended)
    why.answer.push_back("Time while it is suspended does not count towards its time limit.");
  else if (known.job->end_time > known.now)
    why.answer.push_back(
        fmt::format("{} ends it at {}, in {}{}.",
                    scheduler_begins(known),
                    utc(known.job->end_time),
                    ago(known.job->end_time - known.now),
                    known.job->ends_unwarned ? ": " + known.job->explanation : ""));
}

}  // namespace

void explain_pending(const RunFacts& known, Explanation& why) {
  const sched::JobInfo& job = *known.job;
  const bool away = known.nodes_up < known.nodes_needed && !known.phrases.nodes_away.empty();
  const std::string& advice = away ? known.phrases.nodes_away : job.advice;
  why.answer.push_back(fmt::format("{} waits: {}{}.",
                                   who_begins(known),
                                   waits_because(known),
                                   job.reason.empty() ? "" : " (" + job.reason + ")"));
  if (!job.description.empty() && job.description != job.reason)
    why.answer.push_back(fmt::format("{} adds: {}.", scheduler_begins(known), job.description));
  if (known.nodes_up < known.nodes_needed)
    why.answer.push_back(fmt::format("Of its partition {} node{} up, and it needs {}.",
                                     known.nodes_up,
                                     known.nodes_up == 1 ? " is" : "s are",
                                     known.nodes_needed));
  if (!job.exclude_nodes.empty())
    why.answer.push_back(
        fmt::format("It may not run on {}: by its options, or because of earlier faults, which "
                    "`dtsubmit nodes` lists.",
                    job.exclude_nodes));
  if (!job.dependency.empty() && job.dependency != "(null)")
    why.answer.push_back(fmt::format("It depends on {}.", job.dependency));
  // An agent that is lost with its node may record less than others.
  const Event* since = last_of<run::Submitted,
                               run::Requeued,
                               run::Resubmitted,
                               run::Resumed,
                               run::Decided,
                               run::AttemptEnded,
                               run::AttemptStarted>(known.events);
  if (since != nullptr) why.answer.push_back(waits_since(*since, known.now));
  if (job.start_time > known.now)
    why.answer.push_back(fmt::format("{} expects to start it at {}, in {}.",
                                     scheduler_begins(known),
                                     utc(job.start_time),
                                     ago(job.start_time - known.now)));
  if (!advice.empty()) why.next.push_back(sched::with_job(advice, job.id));
}

void explain_running(const RunFacts& known, Explanation& why) {
  const AttemptSummary* attempt = newest(known);
  const bool goes_on = attempt != nullptr && attempt->ended.empty();
  const bool suspended = known.job && known.job->state == sched::JobState::suspended;
  if (suspended)
    why.answer.push_back(
        fmt::format("{} is suspended: {} gave its cores to another job "
                    "(gang scheduling), or somebody suspended it.",
                    who_begins(known),
                    known.phrases.name));
  if (!goes_on) {
    const std::string next =
        attempt == nullptr ? "its agent has not begun yet" : "the next attempt has not begun yet";
    why.answer.push_back(fmt::format("{} runs; {}.", who_begins(known), next));
  } else {
    why.answer.push_back(fmt::format("{} has been running since {} ({}): attempt {} on {}.",
                                     who_begins(known),
                                     attempt->started,
                                     ago(known.now - unix_of(attempt->started)),
                                     attempt->number,
                                     fmt::join(attempt->nodes, ",")));
    const Event* last = last_of<run::AttemptStarted, run::RanksStarted>(known.events);
    if (last != nullptr && last->is<run::AttemptStarted>())
      why.answer.push_back("Not every rank's program runs yet.");
    if (attempt->last_step >= 0) why.answer.push_back(progress_of(known, *attempt));
    for (const std::string& warning : attempt->warnings)
      why.answer.push_back(fmt::format("Warning: {}.", warning));
    add_last_error(known, why);
    if (!attempt->quiet.empty())
      why.answer.push_back(fmt::format("Its programs show no activity: {}.", attempt->quiet));
    if (const auto cause = attempt->cause.value())
      why.answer.push_back(fmt::format(
          "It is being stopped: {} ({}).", what_ended(*attempt, *cause), run::to_string(*cause)));
  }
  if (known.job && known.job->preempt_time > 0)
    why.answer.push_back(scheduler_begins(known) + " is preempting it for another job.");
  if (known.job) add_end(known, suspended, why);
  why.next.push_back("dtsubmit logs -f " + known.name);
}

}  // namespace dts::cli::why_words
