// SPDX-License-Identifier: Apache-2.0
#include "cli/output/why.hpp"

#include "cli/output/cause_words.hpp"
#include "cli/output/end_words.hpp"
#include "cli/output/why_words.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/run/ledger/history.hpp"
#include "core/sched/phrases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dts::cli {
namespace {

using namespace why_words;
using std::chrono::seconds;

void advise(const RunFacts& known, const AttemptSummary& attempt, Explanation& why) {
  if (const auto cause = attempt.cause.value()) {
    std::string advice =
        replaced(words_of_cause(*cause, attempt.detail).advice, "{job}", known.name);
    advice = replaced(advice, "{attempt}", std::to_string(attempt.number));
    advice = replaced(advice, "{run}", known.run_directory);
    if (!advice.empty()) why.next.push_back(advice);
    if (cause == run::Cause::rendezvous && run::says_port_is_taken(attempt.detail))
      why.next.push_back(
          "if the program starts its own processes, as torch.multiprocessing.spawn does, submit it "
          "with --per-node; if it chose the port itself, let it listen on MASTER_PORT");
  }
  why.next.push_back(continue_command(known));
}

// ", first rank 3 on n2"
std::string first_failed(const AttemptSummary& attempt) {
  if (!attempt.rank) return {};
  return fmt::format(
      ", first rank {}{}{}", *attempt.rank, attempt.node.empty() ? "" : " on ", attempt.node);
}

void explain_end(const RunFacts& known, const Event& end, Explanation& why) {
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
  if (!decided.detail.empty())
    why.answer.push_back(fmt::format("It was not continued: {}.", decided.detail));
  if (attempt != nullptr)
    advise(known, *attempt, why);
  else
    why.next.push_back(continue_command(known));
}

std::string accounted_words(const RunFacts& known) {
  const sched::JobInfo& job = *known.job;
  const bool has_run = job.start_time > 0 && job.end_time >= job.start_time;
  return fmt::format(
      "{} has forgotten it; this is what the accounting says.{}",
      scheduler_begins(known),
      has_run ? fmt::format(" It ran for {}.", ago(job.end_time - job.start_time)) : "");
}

// " The batch script's bash first read ..."; empty without BASH_ENV.
std::string bash_env_words(const RunFacts& known) {
  if (known.bash_env.empty()) return {};
  return fmt::format(
      " The batch script's bash first read {} (BASH_ENV), and an `exit` there ends the job: "
      "`bash -c 'echo ok'` shows whether it does.",
      known.bash_env);
}

// The agent had no time to record the end, so the scheduler's record is used.
void explain_lost(const RunFacts& known, Explanation& why) {
  const AttemptSummary* attempt = newest(known);
  if (known.forgotten && why.standing == Standing::cancelled) {
    why.answer.push_back(
        fmt::format("{} was cancelled while it waited in the queue.", who_begins(known)));
    why.next.push_back(continue_command(known));
    return;
  }
  if (known.forgotten) {
    why.answer.push_back(
        fmt::format("{} is over and its agent recorded no end; {} no longer knows it{}.",
                    who_begins(known),
                    known.phrases.name,
                    known.reused                    ? ": that id is another job's now"
                    : known.phrases.forgets.empty() ? ""
                                                    : " (" + known.phrases.forgets + ")"));
    if (!known.phrases.accounting.empty() && !known.reused)
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
  if (why.standing == Standing::cancelled)
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
  if (known.job->accounted) why.answer.push_back(accounted_words(known));
  if (attempt == nullptr)
    why.answer.push_back("No attempt ever began." + bash_env_words(known));
  else if (under_way(known) != nullptr)
    why.answer.push_back(
        fmt::format("Attempt {} was under way, since {}.", attempt->number, attempt->started));
  if (!known.job->advice.empty())
    why.next.push_back(sched::with_job(known.job->advice, known.job->id));
  if (known.batch_words) why.next.push_back("less " + known.batch_words->path);
  why.next.push_back(continue_command(known));
}

void explain_unknown(const RunFacts& known, Explanation& why) {
  const AttemptSummary* attempt = under_way(known);
  const Event* last =
      last_of<run::Submitted, run::Requeued, run::Resubmitted, run::Resumed>(known.events);
  std::string words;
  if (attempt != nullptr)
    words = fmt::format("attempt {} began at {} on {} and no end is recorded",
                        attempt->number,
                        attempt->started,
                        fmt::join(attempt->nodes, ","));
  else if (last != nullptr)
    words = fmt::format(
        "{} was {} at {} and has not begun since", who(known), request_verb(*last), last->time);
  else
    words = "nothing has begun yet";
  why.answer.push_back(fmt::format("The run directory says: {}.", words));
  if (attempt != nullptr && attempt->last_step >= 0)
    why.answer.push_back(progress_of(known, *attempt));
  if (!is_local(known))
    why.next.push_back(
        fmt::format("where {} can be reached: dtsubmit why {}", known.phrases.name, known.name));
  else if (attempt == nullptr)
    why.next.push_back(continue_command(known));
}

std::optional<LastWords> last_words_of(const RunFacts& known, Standing standing) {
  if (standing == Standing::lost) return known.batch_words;
  const AttemptSummary* attempt = newest(known);
  if (attempt == nullptr) return std::nullopt;
  const auto found = known.last_words.find(attempt->number);
  return found == known.last_words.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Budget> budgets_of(const RunFacts& known) {
  std::vector<Budget> budgets;
  const run::Circumstances used = run::count_failures(known.events);
  for (const run::Cause cause : run::all_causes()) {
    const run::Kind kind = run::kind_of(cause);
    const auto most = known.policy.rule(cause).most;
    const auto count = used.failures.find(kind);
    if (!most || count == used.failures.end()) continue;
    const std::string name = run::to_string(kind);
    // The causes of one kind need not be adjacent in the list.
    if (std::none_of(budgets.begin(), budgets.end(), [&name](const Budget& one) {
          return one.kind == name;
        }))
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
    case Standing::cancelled:
      return "cancelled";
    case Standing::lost:
      return "lost";
    case Standing::unknown:
      return "unknown";
  }
  return "unknown";
}

Explanation explain(const RunFacts& known) {
  Explanation why;
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
    case Standing::cancelled:
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
    why.attempts.push_back(describe_attempt(attempt));
  why.last_words = last_words_of(known, why.standing);
  why.budgets = budgets_of(known);
  return why;
}

}  // namespace dts::cli
