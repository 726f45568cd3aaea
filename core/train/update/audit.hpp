// SPDX-License-Identifier: Apache-2.0
// Audits by recomputation (--audit): now and then another rank computes a shard's sums once more.
// Ranks that train together compute the same bits, so that any difference is a fault of one of
// them. Pure, thread-safe.
#pragma once

#include "core/train/update/findings.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace dts::train {

// What an audited step looks at.
struct Audit {
  int shard = 0;
  int owner = 0;    // the rank that computed it for the step
  int auditor = 0;  // another one, which computes it again; the same if there is no other
};

// The audit of the step after `step` completed ones; nullopt if that step has none, as all but a
// share `rate` (0 to 1) of them. Which steps and shards depends on `seed` and `step` alone.
[[nodiscard]] std::optional<Audit> audit_of(
    double rate, std::uint64_t seed, std::uint64_t step, int shards, int ranks);

// Checksums of the sums of the audited shard.
struct Ballots {
  std::uint64_t owner = 0;              // as the step used them
  std::uint64_t auditor = 0;            // as first recomputed
  std::vector<std::uint64_t> referees;  // by rank: every one computed them after the two disagreed
};

// Who computed other sums than the majority of all ballots did; one Blame of rank -1 that names
// both if there is no majority.
[[nodiscard]] std::vector<Blame> judge(const Audit& audit, const Ballots& ballots);

}  // namespace dts::train
