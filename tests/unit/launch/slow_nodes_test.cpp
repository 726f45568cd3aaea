// SPDX-License-Identifier: Apache-2.0
// Nodes of a failed launch that are asked again and again while they are only slow.
#include "core/launch/health/slow_nodes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;

namespace {

using Unable = Result<std::vector<run::UnfitNode>>;

const Unable k_slow = fail(Errc::unreachable, "nodes did not answer srun in time");
const Unable k_killed = fail(Errc::timed_out, "srun did not end within 15 s");
const Unable k_fit = std::vector<run::UnfitNode>();
const Unable k_unfit = std::vector<run::UnfitNode>{{"n1", "cannot read /runs/a"}};

}  // namespace

TEST_CASE("nodes are waited for only while srun says that they are slow") {
  struct {
    const char* what;
    bool has_given_up;
    std::chrono::seconds longest;
    std::vector<Unable> answers;  // the last one again and again
    unsigned waits;               // until the job is asked to end
    unsigned asked;
    bool tells, is_slow;
    const char* detail;
  } const table[] = {
      {"slow twice", false, 1h, {k_slow, k_slow, k_fit}, 9, 3, true, true, "PrologFlags=Alloc"},
      {"no word of why", false, 1h, {k_killed, k_fit}, 9, 1, false, false, "vanished"},
      {"no answer later", false, 1h, {k_slow, k_killed, k_fit}, 9, 3, true, true, "Prolog"},
      {"the launcher's word", true, 1h, {k_killed, k_fit}, 9, 2, true, true, "Prolog"},
      {"ready by now", true, 1h, {k_fit}, 9, 1, false, true, "Prolog"},
      {"fit", false, 1h, {k_fit}, 9, 1, false, false, "vanished"},
      {"no srun", false, 1h, {fail(Errc::not_found, "no srun")}, 9, 1, false, false, "vanished"},
      {"no time", false, 0s, {k_slow}, 9, 1, true, true, "Prolog"},
      {"asked to end", false, 1h, {k_slow}, 2, 3, true, true, "Prolog"},
      {"unfit at last", false, 1h, {k_slow, k_unfit}, 9, 2, true, true, "n1 cannot read /runs/a"},
  };

  for (const auto& row : table) {
    CAPTURE(row.what);
    unsigned asked = 0, waited = 0, told = 0;
    const auto ask = [&] {
      return row.answers[std::min<std::size_t>(asked++, row.answers.size() - 1)];
    };
    const SlowNodes slow{row.has_given_up,
                         row.longest,
                         [&](std::chrono::milliseconds) { return waited++ < row.waits; },
                         [&](const std::string&) { ++told; }};
    const run::Outcome victim{run::Cause::rank_killed, 137, "rank 0 on n0 vanished", 0, "n0"};
    const run::Outcome outcome = ask_nodes(victim, 3, ask, slow);
    CHECK(asked == row.asked);
    CHECK(told == (row.tells ? 1U : 0U));
    CHECK(outcome.cause == (row.is_slow ? run::Cause::launch_failed : run::Cause::rank_killed));
    CHECK(outcome.rank.has_value() == !row.is_slow);
    CHECK(outcome.detail.find(row.detail) != std::string::npos);
  }
}

TEST_CASE("a node that takes long to answer does not keep the job from its end") {
  const auto ask = question_of({{"n0", "n1"}, "/opt/dtsubmit", "/runs/a"},
                               [](std::chrono::milliseconds) { return false; });
  const Unable unable = ask();
  if (!unable) CHECK(unable.error().code != Errc::timed_out);
}
