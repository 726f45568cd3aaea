// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/state/ended_ranks.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <vector>

namespace dts::launch {
namespace {

RankTable ranks_with_codes(const std::vector<int>& codes) {
  const Time now;
  RankTable ranks(static_cast<unsigned>(codes.size()), now);
  for (unsigned rank = 0; rank < codes.size(); ++rank) {
    Hello hello;
    hello.rank.rank = rank;
    hello.rank.node = "n" + std::to_string(rank);
    ranks.add(static_cast<Peer>(100 + rank), std::move(hello), "10.0.0.1", now);
    ranks.at(rank).exit_code = codes[rank];
  }
  return ranks;
}

run::Outcome outcome_of(const RankTable& ranks, const std::optional<AskedStop>& stop) {
  return EndedRanks(ranks, SIGTERM, false).outcome(stop, std::nullopt);
}

const AskedStop k_stop_of_preemption{run::Cause::preempted, "preempted", true};

TEST_CASE("ranks that were not asked to stop are complete, or want to be run again") {
  CHECK(outcome_of(ranks_with_codes({0, 0}), std::nullopt).cause == run::Cause::completed);
  CHECK(outcome_of(ranks_with_codes({85, 0}), std::nullopt).cause == run::Cause::checkpointed);
}

TEST_CASE("after a stop it matters whether every rank saved, and one that did not is named") {
  CHECK_FALSE(outcome_of(ranks_with_codes({85, 85}), k_stop_of_preemption).unsaved);
  const run::Outcome lost =
      outcome_of(ranks_with_codes({85, 128 + SIGTERM, 1}), k_stop_of_preemption);
  CHECK(lost.unsaved);
  CHECK(lost.detail ==
        "preempted; not every rank saved: rank 1 on n1 was killed by SIGTERM, which its program "
        "does not handle; and 1 more rank");
}

TEST_CASE("a torchrun that exits 1 after a stop may have saved, which the checkpoints show") {
  const auto if_saved = [](const std::vector<int>& codes, bool torchrun) {
    return EndedRanks(ranks_with_codes(codes), SIGTERM, torchrun)
        .outcome(k_stop_of_preemption, std::nullopt)
        .detail_if_saved;
  };
  CHECK(if_saved({1, 1}, true) ==
        "preempted; torchrun exited 1, as after every stop, and its workers wrote a checkpoint");
  CHECK_FALSE(if_saved({1, 85}, true).empty());
  for (const auto& codes : std::vector<std::vector<int>>{{1, 143}, {1, 137}, {1, 2}, {85, 85}})
    CHECK(if_saved(codes, true).empty());
  CHECK(if_saved({1, 1}, false).empty());
  RankTable scripts = ranks_with_codes({1, 1});  // `bash train.sh`, which starts torchrun
  for (auto& [rank, state] : scripts) state.has_torchrun = true;
  CHECK_FALSE(EndedRanks(scripts, SIGTERM, false)
                  .outcome(k_stop_of_preemption, std::nullopt)
                  .detail_if_saved.empty());
}

TEST_CASE("a rank that trains on after the stop may have saved, which the checkpoints show") {
  RankTable ranks = ranks_with_codes({85, 137});
  ranks.at(1).kill_sent = true;
  const run::Outcome overdue = outcome_of(ranks, k_stop_of_preemption);
  CHECK(overdue.detail_if_saved ==
        "preempted; a checkpoint was written after that, and not every rank ended in time: rank 1 "
        "on n1 had not ended when its time was up");
  CHECK(overdue.goes_on);
  CHECK(outcome_of(ranks_with_codes({85, 137}), k_stop_of_preemption).detail_if_saved.empty());
  ranks.at(0).exit_code = 128 + SIGTERM;
  CHECK(outcome_of(ranks, k_stop_of_preemption).detail_if_saved.empty());
}

TEST_CASE("a program that exits 0 after a stop is done if a rank says so") {
  RankTable ranks = ranks_with_codes({0, 0});
  CHECK(outcome_of(ranks, k_stop_of_preemption).may_be_done);
  ranks.at(1).done = true;
  CHECK(outcome_of(ranks, k_stop_of_preemption).cause == run::Cause::completed);
}

TEST_CASE("the failure that ended the others is the outcome, unless a stop preceded it") {
  const RankTable ranks = ranks_with_codes({1, 137});
  const run::Outcome failed{run::Cause::user_exit, 1, "rank 0 on n0 exited 1"};
  const EndedRanks both(ranks, SIGTERM, false);
  CHECK(both.outcome(std::nullopt, failed).cause == run::Cause::user_exit);
  CHECK(both.outcome(k_stop_of_preemption, failed).cause == run::Cause::preempted);
  CHECK(both.outcome(k_stop_of_preemption, failed).detail ==
        "preempted; not every rank saved: rank 0 on n0 exited 1");
}

}  // namespace
}  // namespace dts::launch
