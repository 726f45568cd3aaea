// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/audit.hpp"

#include "core/base/random.hpp"
#include "core/train/comm/tree.hpp"

#include <fmt/format.h>

#include <set>

namespace dts::train {
std::optional<Audit> audit_of(
    double rate, std::uint64_t seed, std::uint64_t step, int shards, int ranks) {
  Random random(seed, step);
  if (random.uniform() >= rate) return std::nullopt;
  const auto draw = [&](int below) {
    return static_cast<int>(random.uniform() * static_cast<double>(below));
  };
  Audit made;
  made.shard = draw(shards);
  made.owner = owner_in({0, shards}, ranks, made.shard);
  if (ranks > 1) made.auditor = (made.owner + 1 + draw(ranks - 1)) % ranks;
  return made;
}

std::vector<Blame> judge(const Audit& audit, const Ballots& ballots) {
  std::vector<int> voters{audit.owner, audit.auditor};
  std::vector<std::uint64_t> votes{ballots.owner, ballots.auditor};
  for (std::size_t rank = 0; rank < ballots.referees.size(); ++rank) {
    voters.push_back(static_cast<int>(rank));
    votes.push_back(ballots.referees[rank]);
  }
  std::set<int> odd;
  for (const int vote : odd_ones(votes)) odd.insert(voters[static_cast<std::size_t>(vote)]);
  const std::size_t ranks = ballots.referees.size();
  if (ranks > 1 && odd.size() == ranks)
    return {{-1,
             fmt::format("ranks {} and {} compute different sums of shard {}, and no majority of "
                         "recomputations says which of the two is wrong",
                         audit.owner,
                         audit.auditor,
                         audit.shard)}};
  std::vector<Blame> all;
  for (const int rank : odd)
    all.push_back(
        {rank,
         fmt::format("the sums of shard {} are not what a recomputation gives", audit.shard)});
  return all;
}

}  // namespace dts::train
