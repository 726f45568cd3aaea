// SPDX-License-Identifier: Apache-2.0
#include "core/launch/guard/guard_rules.hpp"

#include "core/launch/launcher/revival/revival.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <map>
#include <optional>
#include <string>

namespace dts::launch {
namespace {

constexpr int k_exited = 256;  // wait(2): the exit code times 256, or the number of a signal

TEST_CASE("the guard exits with its agent's code; it restarts an agent that a signal ended") {
  struct Row {
    int status;
    unsigned kills;
    NextStep next;
  };

  for (const Row& row : {Row{0, 1, NextStep::exit},
                         {1 * k_exited, 1, NextStep::exit},
                         {85 * k_exited, 3, NextStep::exit},
                         {(128 + SIGKILL) * k_exited, 1, NextStep::exit},
                         {SIGKILL, 1, NextStep::start_agent},
                         {SIGSEGV, 2, NextStep::start_agent},
                         {SIGKILL, 3, NextStep::die},
                         {SIGABRT | 128, 3, NextStep::die},  // with a core
                         {SIGKILL, 4, NextStep::die}}) {
    CAPTURE(row.status);
    CAPTURE(row.kills);
    CHECK(after_agent(row.status, row.kills) == row.next);
  }
}

TEST_CASE("ranks without an agent get less time to save if the scheduler wants the job to end") {
  CHECK(time_for_orphans(false) == std::chrono::seconds(30));
  CHECK(time_for_orphans(true) == std::chrono::seconds(10));
}

TEST_CASE("one process of a step brings the job back, the last, and none outside of steps") {
  using Variables = std::map<std::string, std::string>;
  const auto is_last = [](const Variables& variables) {
    return is_last_of_step([&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
  };
  Variables task{{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}};
  CHECK(is_last(task));
  task["SLURM_PROCID"] = "2";
  CHECK_FALSE(is_last(task));
  CHECK_FALSE(is_last({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}));  // the batch script
  CHECK_FALSE(is_last({}));
}

}  // namespace
}  // namespace dts::launch
