// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/semantics.hpp"

#include <doctest/doctest.h>

using namespace slurm_plugin;

TEST_CASE("what Slurm does depends on its release") {
  CHECK_FALSE(holds_for(Fact::restarts_ended_jobs, "22.05.8"));
  CHECK_FALSE(holds_for(Fact::restarts_ended_jobs, "23.11.10"));
  CHECK(holds_for(Fact::restarts_ended_jobs, "24.05.0"));
  CHECK(holds_for(Fact::restarts_ended_jobs, "24.11.5"));
  CHECK(holds_for(Fact::restarts_ended_jobs, "26.05.0-0rc1"));
  CHECK_FALSE(holds_for(Fact::expedited_requeue, "25.05.3"));
  CHECK(holds_for(Fact::expedited_requeue, "25.11.0"));
}

TEST_CASE("a release that cannot be read has no facts") {
  for (const char* release : {"", "24", "24.", "x.y", ".11", "99999999999.1"})
    CHECK_FALSE(holds_for(Fact::restarts_ended_jobs, release));
}
