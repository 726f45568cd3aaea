// SPDX-License-Identifier: Apache-2.0
// A run that is done in a job that Slurm calls something else, and the exit code of waiting.
#include "cli/output/end_words.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace dts;
using sched::JobState;

sched::JobInfo ended(JobState state, int exit_code = 0, int exit_signal = 0) {
  sched::JobInfo job;
  job.id = JobId(41);
  job.state = state;
  job.exit_code = exit_code;
  job.exit_signal = exit_signal;
  job.files_unusable = exit_signal == 53;  // as the plug-in judges it
  return job;
}

std::vector<run::Event> decided(const char* what) {
  return {
      {.attempt = 1, .what = run::Decided{.decision = run::Recorded<run::Action>::named(what)}}};
}

}  // namespace

TEST_CASE("a caller that waited for a job gets the run's exit code if the run has ended") {
  struct Row {
    const char* what;
    sched::JobInfo job;
    std::optional<int> decided;
    int code;
  };

  for (const Row& row : {
           Row{"done", ended(JobState::completed), 0, 0},
           {"done after an attempt without memory", ended(JobState::out_of_memory, 0, 125), 0, 0},
           {"given up without memory", ended(JobState::out_of_memory, 0, 125), 137, 137},
           {"killed without a word", ended(JobState::out_of_memory, 0, 125), {}, 253},
           {"without a folder for its log", ended(JobState::failed, 0, 53), {}, 74},
           {"killed by a signal", ended(JobState::failed, 0, 9), {}, 137},
           {"cancelled", ended(JobState::cancelled), {}, 143},
           {"cancelled, and the agent said so", ended(JobState::cancelled), 85, 143},
           {"failed", ended(JobState::failed, 7), 7, 7},
           {"failed before the agent began", ended(JobState::failed, 127), {}, 127},
       }) {
    CAPTURE(row.what);
    CHECK(cli::exit_code_of_end(row.job, row.decided) == row.code);
  }
}

TEST_CASE("a state of Slurm's that differs from the run's is reported") {
  const std::string words =
      cli::words_of_other_state(decided("done"), ended(JobState::out_of_memory, 0, 125), "Slurm");
  CHECK(words.find("Slurm's state of job 41 is out_of_memory, which it keeps from an earlier") !=
        std::string::npos);
  CHECK(words.find("afterok never starts; use afterany") != std::string::npos);
  CHECK(cli::words_of_other_state(decided("done"), ended(JobState::failed, 1), "Slurm")
            .find("is failed:") != std::string::npos);
  CHECK(cli::words_of_other_state(decided("done"), ended(JobState::completed), "Slurm").empty());
  CHECK(cli::words_of_other_state(decided("done"), ended(JobState::running), "Slurm").empty());
  CHECK(
      cli::words_of_other_state(decided("stop"), ended(JobState::out_of_memory), "Slurm").empty());
  CHECK(cli::words_of_other_state({}, ended(JobState::out_of_memory), "Slurm").empty());
}
