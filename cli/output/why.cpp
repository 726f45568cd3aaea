// SPDX-License-Identifier: Apache-2.0
#include "cli/output/why.hpp"

#include "cli/output/cause_words.hpp"
#include "cli/output/end_words.hpp"
#include "core/base/text/units.hpp"
#include "core/run/ledger/history.hpp"
#include "core/sched/phrases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dts::cli {
namespace {

using run::AttemptSummary;
using run::Event;
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

std::string replaced(std::string text, const std::string& name, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
    text.replace(at, name.size(), value);
  return text;
}

// The last event of one of these types; null: none.
template <class... Types>
const Event* last_of(const std::vector<Event>& events) {
  const auto found = std::find_if(
      events.rbegin(), events.rend(), [](const Event& event) { return event.is<Types...>(); });
  return found == events.rend() ? nullptr : &*found;
}

bool is_local(const Known& known) {
  return known.summary.job.empty();
}

std::string who(const Known& known) {
  return is_local(known) ? "the run" : fmt::format("job {}", known.summary.job);
}

std::string who_begins(const Known& known) {
  return is_local(known) ? "The run" : fmt::format("Job {}", known.summary.job);
}

std::string scheduler_begins(const Known& known) {
  std::string name = known.phrases.name;
  if (name.starts_with("the ")) name.front() = 'T';
  return name;
}

const AttemptSummary* newest(const Known& known) {
  return known.summary.attempts.empty() ? nullptr : &known.summary.attempts.back();
}

Standing standing_of(const Known& known) {
  const Event* end = run::final_decision(known.events);
  if (known.job && known.job->state == sched::JobState::pending) return Standing::pending;
  if (end != nullptr) return run::is_done(known.events) ? Standing::done : Standing::stopped;
  if (known.job) return sched::is_terminal(known.job->state) ? Standing::lost : Standing::running;
  if (known.forgotten) return Standing::lost;
  if (known.agent_lives && newest(known) != nullptr)
    return *known.agent_lives ? Standing::running : Standing::lost;
  return Standing::unknown;
}

// "continues from step-000000060", "starts over: it has no checkpoint".
std::string would_continue(const Known& known) {
  const AttemptSummary* attempt = newest(known);
  if (attempt != nullptr && attempt->cause == run::Cause::damaged)
    return "stops again as long as no checkpoint is good";
  return known.checkpoint.empty() ? "starts over: it has no checkpoint"
                                  : "continues from " + known.checkpoint;
}

std::string continue_command(const Known& known) {
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

// The words of its cause. A signal from outside is the user's own after `dtsubmit stop`.
std::string what_ended(const AttemptSummary& attempt, run::Cause cause) {
  if (cause == run::Cause::stopped && is_stop_asked_for(attempt))
    return "`dtsubmit stop` asked it to save and end";
  return words_of_cause(cause).what;
}

AttemptWhy told_of(const AttemptSummary& attempt) {
  AttemptWhy told{attempt.number, fmt::format("attempt {}", attempt.number), "", "", {}};
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
  return told;
}

// "submitted", "requeued", "asked for again"
std::string_view how_asked_for(const Event& event) {
  return event.is<run::Resumed>() ? "resumed" : run::event_name(event);
}

std::string waits_since(const Event& event, std::int64_t now) {
  const std::string when = fmt::format("{}, {} ago", event.time, ago(now - unix_of(event.time)));
  if (event.is<run::Decided>()) return fmt::format("Its last attempt ended at {}.", when);
  return fmt::format("It was {} at {}.", how_asked_for(event), when);
}

std::string waits_because(const Known& known) {
  const sched::JobInfo& job = *known.job;
  std::string words =
      job.explanation.empty() ? "for a reason that dtsubmit does not know" : job.explanation;
  if (job.wait == sched::Wait::time && job.eligible_time > known.now)
    words +=
        fmt::format(": at {}, in {}", utc(job.eligible_time), ago(job.eligible_time - known.now));
  return words;
}

void explain_pending(const Known& known, Why& why) {
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
  if (!job.dependency.empty() && job.dependency != "(null)")
    why.answer.push_back(fmt::format("It depends on {}.", job.dependency));
  const Event* since =
      last_of<run::Submitted, run::Requeued, run::Resubmitted, run::Resumed, run::Decided>(
          known.events);
  if (since != nullptr) why.answer.push_back(waits_since(*since, known.now));
  if (job.start_time > known.now)
    why.answer.push_back(fmt::format("{} expects to start it at {}, in {}.",
                                     scheduler_begins(known),
                                     utc(job.start_time),
                                     ago(job.start_time - known.now)));
  if (!advice.empty()) why.next.push_back(sched::with_job(advice, job.id));
}

std::string progress_of(const Known& known, const AttemptSummary& attempt) {
  std::string words = fmt::format("It has done step {}", attempt.last_step);
  if (known.summary.total_steps > 0) words += fmt::format(" of {}", known.summary.total_steps);
  if (known.last_metric > 0)
    words += fmt::format(", as reported {} ago", ago(known.now - known.last_metric));
  return words + ".";
}

void explain_running(const Known& known, Why& why) {
  const AttemptSummary* attempt = newest(known);
  const bool goes_on = attempt != nullptr && attempt->ended.empty();
  if (known.job && known.job->state == sched::JobState::suspended)
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
    if (!attempt->quiet.empty())
      why.answer.push_back(fmt::format("Its programs show no activity: {}.", attempt->quiet));
    if (const auto cause = attempt->cause.value())
      why.answer.push_back(fmt::format(
          "It is being stopped: {} ({}).", what_ended(*attempt, *cause), run::to_string(*cause)));
  }
  if (known.job && known.job->preempt_time > 0)
    why.answer.push_back(scheduler_begins(known) + " is preempting it for another job.");
  if (known.job && known.job->unlimited)
    why.answer.push_back("It has no time limit.");
  else if (known.job && known.job->end_time > known.now)
    why.answer.push_back(fmt::format("{} ends it at {}, in {}.",
                                     scheduler_begins(known),
                                     utc(known.job->end_time),
                                     ago(known.job->end_time - known.now)));
  why.next.push_back("dtsubmit logs -f " + known.name);
}

void advise(const Known& known, const AttemptSummary& attempt, Why& why) {
  if (const auto cause = attempt.cause.value()) {
    std::string advice = replaced(words_of_cause(*cause).advice, "{job}", known.name);
    advice = replaced(advice, "{attempt}", std::to_string(attempt.number));
    advice = replaced(advice, "{run}", known.run_directory);
    if (!advice.empty()) why.next.push_back(advice);
  }
  why.next.push_back(continue_command(known));
}

// ", first rank 3 on n2"
std::string first_failed(const AttemptSummary& attempt) {
  if (!attempt.rank) return {};
  return fmt::format(
      ", first rank {}{}{}", *attempt.rank, attempt.node.empty() ? "" : " on ", attempt.node);
}

void explain_end(const Known& known, const Event& end, Why& why) {
  const AttemptSummary* attempt = newest(known);
  const run::Decided& decided = *end.as<run::Decided>();
  if (decided.decision == run::Action::done) {
    why.answer.push_back(fmt::format("{} is done: it completed at {} in {} attempt{}.",
                                     who_begins(known),
                                     end.time,
                                     known.summary.attempts.size(),
                                     known.summary.attempts.size() == 1 ? "" : "s"));
    if (known.job)
      if (const std::string words =
              words_of_other_state(known.events, *known.job, known.phrases.name);
          !words.empty())
        why.answer.push_back(words + ".");
    return;
  }
  const auto cause = attempt != nullptr ? attempt->cause.value() : std::nullopt;
  why.answer.push_back(fmt::format("{} ended at {} with exit code {}: {}{}.",
                                   who_begins(known),
                                   end.time,
                                   decided.exit_code.value_or(-1),
                                   cause ? what_ended(*attempt, *cause) : "it could not go on",
                                   attempt != nullptr ? first_failed(*attempt) : ""));
  // Below it is cut, and what to write instead stands there.
  if (cause == run::Cause::second_launcher && attempt != nullptr)
    why.answer.push_back(fmt::format("Found: {}.", attempt->detail));
  if (!decided.detail.empty())
    why.answer.push_back(fmt::format("It was not continued: {}.", decided.detail));
  if (attempt != nullptr)
    advise(known, *attempt, why);
  else
    why.next.push_back(continue_command(known));
}

// The agent had no time to record the end, so the scheduler's record is used.
void explain_lost(const Known& known, Why& why) {
  const AttemptSummary* attempt = newest(known);
  if (known.forgotten) {
    why.answer.push_back(
        fmt::format("{} is over and its agent recorded no end; {} no longer knows it{}.",
                    who_begins(known),
                    known.phrases.name,
                    known.phrases.forgets.empty() ? "" : " (" + known.phrases.forgets + ")"));
    if (!known.phrases.accounting.empty())
      why.next.push_back(sched::with_job(known.phrases.accounting, known.summary.job));
    why.next.push_back(continue_command(known));
    return;
  }
  if (!known.job) {
    why.answer.push_back(
        fmt::format("The agent of attempt {} is gone and recorded no end: it was "
                    "killed, or the machine was restarted.",
                    attempt->number));
    why.next.push_back(continue_command(known));
    return;
  }
  const std::string& how = known.job->explanation;
  const bool under_way = attempt != nullptr && attempt->ended.empty();
  if (known.job->state == sched::JobState::cancelled && !under_way)
    why.answer.push_back(
        fmt::format("{} was cancelled while it waited in the queue.", who_begins(known)));
  else
    why.answer.push_back(fmt::format("{} is over ({}{}) and its agent recorded no end{}.",
                                     who_begins(known),
                                     sched::to_string(known.job->state),
                                     known.job->reason.empty() ? "" : ", " + known.job->reason,
                                     how.empty() ? "" : ": " + how));
  if (known.job->end_time > 0 && known.job->end_time <= known.now)
    why.answer.push_back(fmt::format(
        "It ended at {}, {} ago.", utc(known.job->end_time), ago(known.now - known.job->end_time)));
  if (attempt == nullptr)
    why.answer.push_back("No attempt ever began.");
  else if (under_way)
    why.answer.push_back(
        fmt::format("Attempt {} was under way, since {}.", attempt->number, attempt->started));
  if (!known.job->advice.empty())
    why.next.push_back(sched::with_job(known.job->advice, known.job->id));
  if (known.batch_words) why.next.push_back("less " + known.batch_words->path);
  why.next.push_back(continue_command(known));
}

void explain_unknown(const Known& known, Why& why) {
  const AttemptSummary* attempt = newest(known);
  const Event* last =
      last_of<run::Submitted, run::Requeued, run::Resubmitted, run::Resumed>(known.events);
  const bool under_way = attempt != nullptr && attempt->ended.empty();
  std::string words;
  if (under_way)
    words = fmt::format("attempt {} began at {} on {} and no end is recorded",
                        attempt->number,
                        attempt->started,
                        fmt::join(attempt->nodes, ","));
  else if (last != nullptr)
    words = fmt::format(
        "{} was {} at {} and has not begun since", who(known), how_asked_for(*last), last->time);
  else
    words = "nothing has begun yet";
  why.answer.push_back(fmt::format("The run directory says: {}.", words));
  if (under_way && attempt->last_step >= 0) why.answer.push_back(progress_of(known, *attempt));
  if (!is_local(known))
    why.next.push_back(
        fmt::format("where {} can be reached: dtsubmit why {}", known.phrases.name, known.name));
  else if (!under_way)
    why.next.push_back(continue_command(known));
}

std::optional<LastWords> last_words_of(const Known& known, Standing standing) {
  if (standing == Standing::lost) return known.batch_words;
  const AttemptSummary* attempt = newest(known);
  if (attempt == nullptr) return std::nullopt;
  const auto found = known.last_words.find(attempt->number);
  return found == known.last_words.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Budget> budgets_of(const Known& known) {
  std::vector<Budget> budgets;
  const run::Circumstances used = run::count_failures(known.events);
  for (const run::Cause cause : run::all_causes()) {
    const run::Kind kind = run::kind_of(cause);
    const auto most = known.policy.rule(cause).most;
    const auto count = used.failures.find(kind);
    if (!most || count == used.failures.end()) continue;
    const std::string name = run::to_string(kind);
    if (budgets.empty() || budgets.back().kind != name)
      budgets.push_back({name, count->second, *most});
  }
  return budgets;
}

}  // namespace

const char* to_string(Standing standing) {
  switch (standing) {
    case Standing::pending:
      return "pending";
    case Standing::running:
      return "running";
    case Standing::done:
      return "done";
    case Standing::stopped:
      return "stopped";
    case Standing::lost:
      return "lost";
    case Standing::unknown:
      return "unknown";
  }
  return "unknown";
}

Why explain(const Known& known) {
  Why why;
  why.standing = standing_of(known);
  switch (why.standing) {
    case Standing::pending:
      explain_pending(known, why);
      break;
    case Standing::running:
      explain_running(known, why);
      break;
    case Standing::done:
    case Standing::stopped:
      explain_end(known, *run::final_decision(known.events), why);
      break;
    case Standing::lost:
      explain_lost(known, why);
      break;
    case Standing::unknown:
      explain_unknown(known, why);
      break;
  }
  if (!known.no_job.empty())
    why.answer.push_back(
        fmt::format("This is based on the run directory alone: {}.", known.no_job));
  for (const AttemptSummary& attempt : known.summary.attempts)
    why.attempts.push_back(told_of(attempt));
  why.last_words = last_words_of(known, why.standing);
  why.budgets = budgets_of(known);
  return why;
}

}  // namespace dts::cli
