// SPDX-License-Identifier: Apache-2.0
// What a user sees of the binding of a run whose agent is gone; tests/integration/binding.py covers
// a live agent.
#include "core/launch/binding/verify_binding.hpp"

#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::launch;

}  // namespace

TEST_CASE("without an attempt or a reading there is nothing to verify, with the reason") {
  const tests::TemporaryFolder folder;
  const run::RunDirectory run{folder.path};
  const auto before = verify_binding(run);
  REQUIRE_FALSE(before);
  CHECK(before.error().code == Errc::not_found);
  CHECK(before.error().message.find("no attempt yet") != std::string::npos);
  REQUIRE(run::take_attempt(run, "{}") == 1U);
  const auto unread = verify_binding(run);
  REQUIRE_FALSE(unread);
  CHECK(unread.error().code == Errc::not_found);
  CHECK(unread.error().message.find("attempt 1") != std::string::npos);
}

TEST_CASE("for a run that is over, the last reading is shown with its time") {
  const tests::TemporaryFolder folder;
  const run::RunDirectory run{folder.path};
  REQUIRE(run::take_attempt(run, "{}") == 1U);
  RankBound rank{0, "n0", {{0, 1}, {}, 0, 2}, {}};
  rank.found.cpus = {0, 1};
  REQUIRE(write_binding(run, {1, 4, "2026-11-21T12:00:00Z", false, group_by_binding({rank})}));
  const auto last = verify_binding(run);
  REQUIRE(last);
  CHECK_FALSE(last->fresh);
  const auto lines = in_lines(*last);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("attempt 1, read at 2026-11-21T12:00:00Z: ") == 0);
  CHECK(lines[1] == "rank 0 of n0: cores 0,1 as planned");
}
