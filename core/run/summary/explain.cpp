// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/explain.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/run/directory/rank_logs.hpp"
#include "core/run/summary/evidence.hpp"
#include "core/run/summary/summary.hpp"
#include "core/run/summary/telling_lines.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

namespace dts::run {
namespace {

constexpr std::size_t k_lines = 40;
constexpr unsigned k_most_logs = 256;
constexpr std::size_t k_longest_error = 400;
// The exit code of a program that Open MPI ends because it has lost its server, the launcher's
// daemon or slurmstepd: PMIX_ERR_LOST_CONNECTION, -61, truncated as by exit(3).
constexpr int k_lost_server = 195;

// The last lines of the rank's log that show why it failed, at most `lines`.
std::vector<std::string> rank_words(const RunDirectory& run,
                                    unsigned attempt,
                                    unsigned rank,
                                    std::size_t lines) {
  constexpr std::size_t k_all = SIZE_MAX;
  return telling_lines(last_lines(run.rank_log(attempt, rank), k_all), lines);
}

std::optional<Evidence> evidence_of(const RunDirectory& run, unsigned attempt, unsigned rank) {
  return read_evidence(rank_words(run, attempt, rank, k_lines));
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
    auto found = evidence_of(run, attempt, rank);
    if (found && !may_be_secondary(found->cause) &&
        (may_be_store || found->cause != Cause::rendezvous || says_port_is_taken(found->line)))
      return std::pair{rank, *std::move(found)};
  }
  return std::nullopt;
}

// True for the line of an error that is not about other ranks or their store.
bool is_own_error(const std::string& line) {
  constexpr std::string_view k_of_peers[] = {"torch.distributed.Dist",
                                             "c10d",
                                             "process group",
                                             "store->",
                                             "store based barrier",
                                             "imed out",
                                             "imeout"};
  return is_error(line) &&
         std::none_of(std::begin(k_of_peers), std::end(k_of_peers), [&](std::string_view words) {
           return line.find(words) != std::string::npos;
         });
}

// True if the disk is full: a program that cannot save its state for lack of space cannot write its
// last messages either.
bool is_full(const std::string& folder) {
  constexpr std::uintmax_t k_least = 4096;
  std::error_code failed;
  const auto space = std::filesystem::space(folder, failed);
  return !failed && space.available < k_least;
}

}  // namespace

namespace {

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

// What the first rank that did not save said about a failure of its own, such as a full disk.
std::string why_unsaved(const Outcome& outcome, const RunDirectory& run, unsigned attempt) {
  if (!outcome.unsaved_rank) return {};
  const auto own = evidence_of(run, attempt, *outcome.unsaved_rank);
  if (!own || may_be_secondary(own->cause)) return {};
  return fmt::format("; rank {}: {}", *outcome.unsaved_rank, trim(own->line));
}

}  // namespace

LastWords last_words(const RunDirectory& run,
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

std::optional<LastError> find_last_error(const RunDirectory& run, unsigned attempt) {
  for (unsigned rank = 0; rank < k_most_logs; ++rank) {
    struct stat found {};

    const std::string log = run.rank_log(attempt, rank);
    if (::stat(log.c_str(), &found) != 0) return std::nullopt;
    const auto last = last_lines(log, 1);
    if (!last.empty() && is_error(last[0]))
      return LastError{rank, printable(trim(last[0]), k_longest_error), found.st_mtime};
  }
  return std::nullopt;
}

Outcome explain(Outcome outcome, const RunDirectory& run, unsigned attempt, unsigned world_size) {
  if (may_be_an_abort(outcome.cause))
    if (auto aborted = abort_outcome(run, attempt, world_size)) return *std::move(aborted);
  const auto words = last_words(run, attempt, outcome.rank, outcome.cause, k_lines).lines;
  const auto own = read_evidence(words);
  if (!outcome.rank && is_launchers(outcome.cause) && own)
    outcome.detail += ": " + std::string(trim(own->line));
  if (const std::string why = why_unsaved(outcome, run, attempt); !why.empty()) {
    outcome.detail += why;
    outcome.detail_if_saved.clear();
  }
  if (!outcome.rank || !may_be_explained(outcome.cause)) return outcome;
  if (own) {
    outcome.cause = own->cause;
    outcome.detail += ": " + std::string(trim(own->line));
  }
  if (!may_be_secondary(outcome.cause)) return outcome;
  if (is_full(run.path)) {
    outcome.cause = Cause::disk_full;
    outcome.detail += "; no space is left at " + run.path;
    return outcome;
  }
  const bool has_own_error = !own && std::any_of(words.begin(), words.end(), is_own_error);
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
