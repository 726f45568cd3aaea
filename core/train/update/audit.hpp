// SPDX-License-Identifier: Apache-2.0
// Audits by recomputation (--audit): in some steps another rank recomputes the sums of one shard.
// Ranks that train together compute the same bits, so any difference means that one of them is
// faulty. Pure, thread-safe.
#pragma once

#include "core/train/update/findings.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace dts::train {

// What an audited step checks.
struct Audit {
  int shard = 0;
  int owner = 0;    // the rank that computed the shard for the step
  int auditor = 0;  // the rank that recomputes it; equal to owner if there is only one rank
};

// The audit of the step after `step` completed ones, or nullopt if it has none. A share `rate` (0
// to 1) of the steps is audited; which steps and which shards depends only on `seed` and `step`.
[[nodiscard]] std::optional<Audit> audit_of(
    double rate, std::uint64_t seed, std::uint64_t step, int shards, int ranks);

// Checksums of the sums of the audited shard.
struct Ballots {
  std::uint64_t owner = 0;              // as the step used them
  std::uint64_t auditor = 0;            // as first recomputed
  std::vector<std::uint64_t> referees;  // by rank; all ranks compute it if the first two differ
};

// The ranks whose sums differ from the majority of all ballots. Without a majority, one Blame with
// rank -1 that names both.
[[nodiscard]] std::vector<Blame> judge(const Audit& audit, const Ballots& ballots);

}  // namespace dts::train
