// SPDX-License-Identifier: Apache-2.0
// The words for a job's states.
#include "core/sched/scheduler.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using dts::sched::is_terminal;
using dts::sched::job_state_of;
using dts::sched::JobState;
using dts::sched::to_string;

namespace {

constexpr JobState k_all[] = {JobState::pending,
                              JobState::running,
                              JobState::suspended,
                              JobState::completed,
                              JobState::cancelled,
                              JobState::failed,
                              JobState::timed_out,
                              JobState::node_failed,
                              JobState::preempted,
                              JobState::out_of_memory,
                              JobState::unknown};

}  // namespace

TEST_CASE("every state has a word of its own that reads back as the state") {
  std::set<std::string> words;
  for (const JobState state : k_all) {
    CHECK(job_state_of(to_string(state)) == state);
    words.insert(to_string(state));
  }
  CHECK(words.size() == std::size(k_all));
}

TEST_CASE("a word that names no state reads as unknown") {
  CHECK(job_state_of("") == JobState::unknown);
  CHECK(job_state_of("RUNNING") == JobState::unknown);
}

TEST_CASE("a job has ended in every state but waiting, running, suspended and unknown") {
  std::set<JobState> open;
  for (const JobState state : k_all)
    if (!is_terminal(state)) open.insert(state);
  CHECK(open ==
        std::set{JobState::pending, JobState::running, JobState::suspended, JobState::unknown});
}
