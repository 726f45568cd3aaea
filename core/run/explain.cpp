// SPDX-License-Identifier: Apache-2.0
#include "core/run/explain.hpp"

#include "core/run/evidence.hpp"
#include "core/run/rank_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace dts::run {
namespace {

constexpr std::size_t k_lines = 40;
constexpr unsigned k_most_logs = 256;

std::optional<Evidence> evidence_of(const RunDirectory& run, unsigned attempt, unsigned rank) {
  return read_evidence(last_lines(run.rank_log(attempt, rank), k_lines));
}

// Another rank that failed by itself, not for want of its peers.
std::optional<std::pair<unsigned, Evidence>> culprit(const RunDirectory& run,
                                                     unsigned attempt,
                                                     unsigned world_size,
                                                     unsigned victim) {
  for (unsigned rank = 0; rank < std::min(world_size, k_most_logs); ++rank) {
    if (rank == victim) continue;
    auto found = evidence_of(run, attempt, rank);
    if (found && !may_be_a_victim(found->cause)) return std::pair{rank, *std::move(found)};
  }
  return std::nullopt;
}

// A program that finds no room for its state finds none for its last words either.
bool is_full(const std::string& folder) {
  constexpr std::uintmax_t k_least = 4096;
  std::error_code failed;
  const auto space = std::filesystem::space(folder, failed);
  return !failed && space.available < k_least;
}

}  // namespace

Outcome explain(Outcome outcome, const RunDirectory& run, unsigned attempt, unsigned world_size) {
  if (!outcome.rank || !may_be_explained(outcome.cause)) return outcome;
  if (const auto own = evidence_of(run, attempt, *outcome.rank)) {
    outcome.cause = own->cause;
    outcome.detail += ": " + own->line;
  }
  if (!may_be_a_victim(outcome.cause)) return outcome;
  if (is_full(run.path)) {
    outcome.cause = Cause::disk_full;
    outcome.detail += "; no space is left at " + run.path;
    return outcome;
  }
  if (const auto other = culprit(run, attempt, world_size, *outcome.rank)) {
    outcome.cause = other->second.cause;
    outcome.detail += fmt::format("; rank {} before it: {}", other->first, other->second.line);
    outcome.rank = other->first;
    outcome.node.clear();  // not of this rank
  }
  return outcome;
}

}  // namespace dts::run
