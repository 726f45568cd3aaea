// SPDX-License-Identifier: Apache-2.0
#include "core/launch/guard/guard.hpp"

#include "core/base/os/log.hpp"
#include "core/base/os/own_children.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/os/wait.hpp"
#include "core/launch/attempt/state/exit_code.hpp"
#include "core/launch/guard/guard_rules.hpp"
#include "core/launch/job/stop_way.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>
#include <vector>

namespace dts::launch {
namespace {

using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr seconds k_orphans_end{5};  // after SIGTERM, which makes srun end its step everywhere

class Guard {
 public:
  Guard(std::vector<std::string> agent, UniqueFd signals) : signals_(std::move(signals)) {
    command_.argv = std::move(agent);
    command_.blocked_signals = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
    // Without its batch process the job is over, and an agent's decisions would be wrong.
    command_.parent_death_signal = SIGKILL;
  }

  Result<int> run() {
    for (unsigned kills = 1;; ++kills) {
      DTS_ASSIGN(pid_, start_process(command_));
      for (const int number : std::exchange(kept_, {})) pass_on(number);
      while (pid_ > 0) listen(Clock::time_point::max());
      const NextStep next = after_agent(status_, kills);
      if (next == NextStep::exit) return WEXITSTATUS(status_);
      const bool is_last = next == NextStep::die;
      log("the agent {}{}",
          describe_exit(exit_code_of_wait_status(status_)),
          is_last ? ", the third one of this job: `dtsubmit requeue` continues the run"
                  : ": once its ranks have saved and ended, another one continues the run");
      end_orphans();
      if (is_last) die_as_agent();
    }
  }

 private:
  // So that Slurm records the signal rather than an exit code.
  void die_as_agent() const {
    const rlimit no_core{};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::raise(WTERMSIG(status_));
    ::_exit(exit_code_of_wait_status(status_));
  }

  void pass_on(int number) const { ::sigqueue(pid_, number, {.sival_int = k_passed_on}); }

  void reap() {
    int status = 0;
    while (const pid_t ended = std::max(::waitpid(-1, &status, WNOHANG), 0)) {
      if (ended != pid_) continue;
      pid_ = 0;
      status_ = status;
    }
  }

  // Handles the signals that arrive until `until`; while there is no agent, keeps them for the
  // next.
  void listen(Clock::time_point until) {
    if (!wait_readable(signals_.get(), until)) return;
    while (const auto number = read_signal(signals_.get())) {
      reap();  // first: a signal to a dead agent would be lost
      if (*number == SIGCHLD) continue;
      if (pid_ > 0)
        pass_on(*number);
      else
        kept_.push_back(*number);
    }
  }

  // Lets the ranks that the agent left behind save, which ends their launcher, and then ends all
  // processes that are left.
  void end_orphans() {
    const auto died = Clock::now();
    auto until = died + time_for_orphans(!kept_.empty());
    while (!own_children().empty() && Clock::now() < until) {
      listen(until);
      until = died + time_for_orphans(!kept_.empty());
    }
    signal_children(SIGTERM, {});
    until = Clock::now() + k_orphans_end;
    while (!own_children().empty() && Clock::now() < until) listen(until);
    kill_children({});
  }

  Command command_;
  UniqueFd signals_;
  pid_t pid_ = 0;  // the agent; 0: none
  int status_ = 0;
  std::vector<int> kept_;  // signals for the next agent
};

}  // namespace

Result<int> guard_agent(const std::string& dtsubmit, const std::string& run_directory) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  DTS_ASSIGN(UniqueFd signals, take_signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}));
  return Guard({dtsubmit, "agent", "--run", run_directory, "--guarded", "yes"}, std::move(signals))
      .run();
}

}  // namespace dts::launch
