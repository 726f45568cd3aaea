// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/explain.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/files/files.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/run/directory/parts.hpp"
#include "core/run/directory/rank_logs.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/run/summary/evidence.hpp"
#include "core/run/summary/raised_error.hpp"
#include "core/run/summary/runtime_failure.hpp"
#include "core/run/summary/shown_lines.hpp"
#include "core/run/summary/summary.hpp"
#include "core/run/summary/telling_lines.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string_view>

namespace dts::run {
namespace {

constexpr std::size_t k_lines = 40;
constexpr unsigned k_most_logs = 256;
// The exit code of a program that Open MPI ends because it has lost its server, the launcher's
// daemon or slurmstepd: PMIX_ERR_LOST_CONNECTION, -61, truncated as by exit(3).
constexpr int k_lost_server = 195;

// The last lines of the rank's log that show why it failed, at most `lines`.
std::vector<std::string> rank_words(const RunDirectory& run,
                                    unsigned attempt,
                                    unsigned rank,
                                    std::size_t lines) {
  return telling_lines(shown_lines(last_lines(run.rank_log(attempt, rank), SIZE_MAX)), lines);
}

// Another rank that failed by itself, not because it lost its peers. Without `may_be_store`, one
// that lost their store is not meant either: torchrun's ends with the first rank.
std::optional<std::pair<unsigned, Evidence>> culprit(const RunDirectory& run,
                                                     unsigned attempt,
                                                     unsigned world_size,
                                                     unsigned victim,
                                                     bool may_be_store) {
  for (unsigned rank = 0; rank < std::min(world_size, k_most_logs); ++rank) {
    if (rank == victim) continue;
    auto found = evidence_of_rank(run, attempt, rank);
    if (found && !may_be_secondary(found->cause) &&
        (may_be_store || found->cause != Cause::rendezvous || says_port_is_taken(found->line)))
      return std::pair{rank, *std::move(found)};
  }
  return std::nullopt;
}

// The rank whose program raised an error of its own, after which it, or a rank that waited for it,
// lost the others: `first`, the first that ended, or another one.
std::optional<std::pair<unsigned, std::string>> rank_that_raised(const RunDirectory& run,
                                                                 unsigned attempt,
                                                                 unsigned world_size,
                                                                 unsigned first) {
  if (auto error = raised_error(rank_words(run, attempt, first, k_lines)))
    return std::pair{first, std::move(error->line)};
  for (unsigned rank = 0; rank < std::min(world_size, k_most_logs); ++rank)
    if (rank != first)
      if (auto error = raised_error(rank_words(run, attempt, rank, k_lines)))
        return std::pair{rank, std::move(error->line)};
  return std::nullopt;
}

// True if the disk is full: a program that cannot save its state for lack of space cannot write its
// last messages either.
bool is_full(const std::string& folder) {
  constexpr std::uintmax_t k_least = 4096;
  std::error_code failed;
  const auto space = std::filesystem::space(folder, failed);
  return !failed && space.available < k_least;
}

// The outcome if one of the ranks called MPI_Abort(code), according to its log.
std::optional<Outcome> abort_outcome(const RunDirectory& run,
                                     unsigned attempt,
                                     unsigned world_size) {
  for (unsigned rank = 0; rank < std::min(world_size, k_most_logs); ++rank) {
    const auto code = read_abort(last_lines(run.rank_log(attempt, rank), k_lines));
    if (!code) continue;
    const int exit_code = static_cast<int>(*code & 0xff);  // truncated as by exit(3)
    return Outcome{exit_code == k_no_restart ? Cause::no_restart : Cause::user_exit,
                   exit_code == 0 ? 1 : exit_code,
                   fmt::format("rank {} called MPI_Abort with code {}", rank, *code),
                   rank};
  }
  return std::nullopt;
}

// Adds what the first rank that did not save said about a failure of its own, such as a full disk.
// An error that it raised does not show that others have not saved.
void add_why_unsaved(Outcome& outcome, const RunDirectory& run, unsigned attempt) {
  if (!outcome.unsaved_rank) return;
  const auto words = rank_words(run, attempt, *outcome.unsaved_rank, k_lines);
  const auto own = read_evidence(words);
  const bool is_own = own && !may_be_secondary(own->cause);
  const std::string why = is_own ? std::string(trim(own->line)) : error_of_stop(words);
  if (why.empty()) return;
  outcome.detail += fmt::format("; rank {}: {}", *outcome.unsaved_rank, why);
  if (is_own) outcome.detail_if_saved.clear();
}

// `outcome` of a rank that may be the victim of another one, or of its node, as theirs. `words`:
// the rank's last lines.
Outcome outcome_of_culprit(Outcome outcome,
                           const std::vector<std::string>& words,
                           const RunDirectory& run,
                           unsigned attempt,
                           unsigned world_size) {
  if (is_full(run.path)) {
    outcome.cause = Cause::disk_full;
    outcome.detail += "; no space is left at " + run.path;
    return outcome;
  }
  const bool has_own_error =
      outcome.cause == Cause::user_exit && std::any_of(words.begin(), words.end(), is_own_error);
  if (const auto other = culprit(run, attempt, world_size, *outcome.rank, !has_own_error)) {
    outcome.cause = other->second.cause;
    outcome.detail += fmt::format("; rank {} before it: {}", other->first, other->second.line);
    outcome.rank = other->first;
    outcome.node.clear();  // no longer this rank's
  } else if (outcome.cause == Cause::user_exit && outcome.exit_code == k_lost_server) {
    outcome.cause = Cause::launcher_died;
    outcome.detail += ", as Open MPI does when the launcher's daemon on its node is gone";
  }
  return outcome;
}

// True for an end of the first rank that an error of another, or of its own before it, may explain.
bool may_follow_an_error(const Outcome& outcome) {
  const bool aborted = outcome.cause == Cause::rank_killed && outcome.exit_code == 128 + SIGABRT;
  return outcome.cause == Cause::comm_timeout || outcome.cause == Cause::hang || aborted ||
         (outcome.cause == Cause::rendezvous && !says_port_is_taken(outcome.detail));
}

// `outcome` as that of the rank that raised an error, if one did. `how`: how the first rank ended.
// A hang stays one: the error is only likely to be its reason.
Outcome outcome_of_raised(Outcome outcome,
                          const std::string& how,
                          const RunDirectory& run,
                          unsigned attempt,
                          unsigned world_size) {
  const unsigned first = outcome.rank.value_or(0);
  const auto raised = rank_that_raised(run, attempt, world_size, first);
  if (!raised) return outcome;
  const auto& [rank, error] = *raised;
  if (rank != first) outcome.node.clear();  // no longer this rank's
  outcome.rank = rank;
  if (outcome.cause == Cause::hang) {
    outcome.detail = fmt::format("rank {} had raised {}; {}", rank, error, outcome.detail);
    return outcome;
  }
  outcome.detail =
      rank == first ? how + ": " + error : fmt::format("rank {}: {}; then {}", rank, error, how);
  outcome.cause = Cause::user_exit;
  outcome.exit_code = 1;  // Python's for an uncaught error
  return outcome;
}

// The last words of the rank or, if it wrote nothing, of the launcher.
LastWords words_of(const RunDirectory& run,
                   unsigned attempt,
                   std::optional<unsigned> rank,
                   Cause cause,
                   std::size_t lines) {
  LastWords words;
  if (rank) words = {fmt::format("rank {}", *rank), run.rank_log(attempt, *rank)};
  if (rank) words.lines = rank_words(run, attempt, *rank, lines);
  if (!words.lines.empty() || !launcher_may_say(cause)) return words;
  return {"the launcher", run.agent_log(attempt), launcher_lines(run, attempt, lines)};
}

// Those of the first rank that wrote anything. Ranks that agree on an error leave it to one of them
// to print it, and any of them may end first.
std::optional<LastWords> words_of_any(const RunDirectory& run,
                                      unsigned attempt,
                                      std::size_t lines) {
  for (unsigned rank = 0; rank < k_most_logs; ++rank) {
    LastWords words{fmt::format("rank {}", rank), run.rank_log(attempt, rank)};
    if (!exists(words.path)) return std::nullopt;
    words.lines = rank_words(run, attempt, rank, lines);
    if (!words.lines.empty()) return words;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Evidence> evidence_of_rank(const RunDirectory& run, unsigned attempt, unsigned rank) {
  return read_evidence(rank_words(run, attempt, rank, k_lines));
}

LastWords last_words(const RunDirectory& run,
                     unsigned attempt,
                     std::optional<unsigned> rank,
                     Cause cause,
                     std::size_t lines) {
  LastWords words = words_of(run, attempt, rank, cause, lines);
  const bool is_ranks = rank && words.path == run.rank_log(attempt, *rank);
  if (!rank || cause != Cause::user_exit || (is_ranks && !words.lines.empty())) return words;
  auto others = words_of_any(run, attempt, lines);
  return others ? *std::move(others) : words;
}

std::optional<LastError> find_last_error(const RunDirectory& run, unsigned attempt) {
  for (const PartDirectory& part : parts_of(run)) {
    const auto events = read_ledger(part.run.ledger());
    const auto open = events ? unfinished_attempt(*events) : std::nullopt;
    auto error = open ? find_last_error(part.run, *open) : std::nullopt;
    if (!error) continue;
    error->part = part.name;
    return error;
  }
  for (unsigned rank = 0; rank < k_most_logs; ++rank) {
    struct stat found {};

    const std::string log = run.rank_log(attempt, rank);
    if (::stat(log.c_str(), &found) != 0) return std::nullopt;
    const auto last = shown_lines(last_lines(log, k_lines));
    if (!last.empty() && is_error(last.back()))
      return LastError{"", rank, printable(trim(last.back()), k_longest_error), found.st_mtime};
    if (auto raised = raised_error(last))
      return LastError{"", rank, std::move(raised->line), found.st_mtime};
  }
  return std::nullopt;
}

Outcome explain(Outcome outcome,
                const RunDirectory& run,
                unsigned attempt,
                unsigned world_size,
                const std::vector<std::string>& runtimes) {
  if (may_be_an_abort(outcome.cause))
    if (auto aborted = abort_outcome(run, attempt, world_size)) return *std::move(aborted);
  const auto words = words_of(run, attempt, outcome.rank, outcome.cause, k_lines).lines;
  const auto own = read_evidence(words);
  if (!outcome.rank && is_launchers(outcome.cause) && own)
    outcome.detail += ": " + std::string(trim(own->line));
  add_why_unsaved(outcome, run, attempt);
  if (outcome.cause == Cause::hang)
    return outcome_of_raised(std::move(outcome), {}, run, attempt, world_size);
  if (!outcome.rank || !may_be_explained(outcome.cause)) return outcome;
  const std::string how = outcome.detail;
  if (outcome.cause == Cause::user_exit && (!own || own->cause == Cause::storage_error))
    if (const auto line = runtime_failure(words, outcome.exit_code, runtimes)) {
      outcome.cause = Cause::no_program;
      outcome.detail += fmt::format(": {}: {}", k_runtime_failed, *line);
      return outcome;
    }
  if (own) {
    outcome.cause = own->cause;
    outcome.detail += ": " + std::string(trim(own->line));
  }
  if (may_be_secondary(outcome.cause))
    outcome = outcome_of_culprit(std::move(outcome), words, run, attempt, world_size);
  if (!may_follow_an_error(outcome)) return outcome;
  return outcome_of_raised(std::move(outcome), how, run, attempt, world_size);
}

Outcome settle_completion(Outcome outcome, const std::string& metrics, unsigned attempt) {
  if (!outcome.may_be_done) return outcome;
  const RunSummary summary = summarise({}, metrics);
  const auto own = std::find_if(summary.attempts.begin(),
                                summary.attempts.end(),
                                [&](const AttemptSummary& one) { return one.number == attempt; });
  const bool told = own != summary.attempts.end();
  const bool knows_total = told && own->first_step >= 0 && summary.total_steps > 0;
  if (told && own->said_done && outcome.unsaved)
    return {Cause::completed, 0, "the stop ended a program that was done, as metrics.jsonl says"};
  if (outcome.unsaved) return outcome;  // there may have been something to save after its last step
  if (told && own->said_done)
    return {Cause::completed, 0, "every rank exited 0, and metrics.jsonl says that it is done"};
  if (knows_total && own->last_step >= summary.total_steps)
    return {Cause::completed,
            0,
            fmt::format("every rank exited 0 after the last of {}",
                        counted(static_cast<std::uint64_t>(summary.total_steps), "step"))};
  outcome.detail +=
      knows_total
          ? fmt::format(" at step {} of {}: saved, not done", own->last_step, summary.total_steps)
          : ", and nothing says that the program is done: counted as saved (exit code 85 is "
            "explicit)";
  return outcome;
}

}  // namespace dts::run
