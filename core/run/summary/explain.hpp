// SPDX-License-Identifier: Apache-2.0
// Explains an outcome by the content of the ranks' logs.
#pragma once

#include "core/run/directory/run_directory.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/run/summary/evidence.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::run {

// What the last lines of a rank's log show, see read_evidence().
[[nodiscard]] std::optional<Evidence> evidence_of_rank(const RunDirectory& run,
                                                       unsigned attempt,
                                                       unsigned rank);

struct LastWords {
  std::string whose{};  // "rank 3", "the launcher", "the batch script"
  std::string path{};
  std::vector<std::string> lines{};  // empty: nothing was said
};

// The last words of an attempt with that end: those of its first failed rank, or if there is none
// or it wrote nothing, those of the launcher, as far as they can explain `cause`. If the program of
// a rank that wrote nothing has failed, those of the first rank that wrote anything come before the
// launcher's.
[[nodiscard]] LastWords last_words(const RunDirectory& run,
                                   unsigned attempt,
                                   std::optional<unsigned> rank,
                                   Cause cause,
                                   std::size_t lines);

// A rank that may have failed without ending, for example because MPI_Finalize waits for its peers.
struct LastError {
  std::string part{};  // of a composed run: whose rank it is
  unsigned rank = 0;
  std::string line{};
  std::int64_t written = 0;  // Unix seconds, by the clock of the file system
};

// The first rank of an attempt whose log ends with an error; for a composed run, in the attempts of
// its parts that have no end yet. Reads the ends of at most 256 logs of each.
[[nodiscard]] std::optional<LastError> find_last_error(const RunDirectory& run, unsigned attempt);

// `outcome` with the cause that the failed rank's last lines show, if any. If that rank may be the
// victim of another, the rank whose lines show a cause of its own is used instead. Reads the ends
// of at most 256 logs. `runtimes`: the container runtimes that ran the program, as far as it may
// not have started; see runtime_failure(). Thread-safe.
[[nodiscard]] Outcome explain(Outcome outcome,
                              const RunDirectory& run,
                              unsigned attempt,
                              unsigned world_size,
                              const std::vector<std::string>& runtimes);

// Settles an outcome that may be "done" as well as "saved" or "stopped" (Outcome::may_be_done) by
// what the program wrote to metrics.jsonl (`metrics`) in this attempt. It is done if there is the
// event "done" or, if every rank exited 0, the last step of a known total. Without such evidence
// the run continues: a finished program then ends at once, whereas an unfinished one would
// otherwise be lost. Pure.
[[nodiscard]] Outcome settle_completion(Outcome outcome,
                                        const std::string& metrics,
                                        unsigned attempt);

}  // namespace dts::run
