// SPDX-License-Identifier: Apache-2.0
#include "cli/output/cause_words.hpp"

#include "core/run/ledger/decision.hpp"
#include "core/run/summary/evidence.hpp"

namespace dts::cli {

CauseWords words_of_cause(run::Cause cause, std::string_view detail) {
  constexpr const char* k_agent_log = "dtsubmit logs {job} --agent --attempt {attempt}";
  constexpr const char* k_all_logs = "dtsubmit logs {job} --ranks all --attempt {attempt}";
  switch (cause) {
    case run::Cause::completed:
      return {"every rank's program exited 0", ""};
    case run::Cause::preempted:
      return {"another job got its nodes", ""};
    case run::Cause::time_limit:
      return {"the job's time limit was reached", ""};
    case run::Cause::cancelled:
      return {"somebody cancelled the job", ""};
    case run::Cause::requeued:
      return {"the job was requeued", ""};
    case run::Cause::node_failed:
      return {"it lost one of its nodes", ""};
    case run::Cause::stopped:
      return {"it was asked to stop", ""};
    case run::Cause::signalled:
      return {"an unexplained signal ended it", ""};
    case run::Cause::checkpointed:
      return {"the program asked to be run again (exit code 85)", ""};
    case run::Cause::no_restart:
      return {"the program asked not to be run again (exit code 93)", ""};
    case run::Cause::rank_killed:
      return {"a rank was killed, or its process vanished", k_all_logs};
    case run::Cause::out_of_memory:
      return {"it ran out of memory",
              "make it use less, or submit it again with a larger --mem or more nodes"};
    case run::Cause::gpu_error:
      return {"a GPU failed under it", "report the node to the administrators"};
    case run::Cause::gpu_unseen:
      return {"the program asked for a GPU that its rank did not see",
              "--gpu-view node shows each rank all GPUs of its node from the first attempt on"};
    case run::Cause::storage_error:
      return {"a file system failed under it",
              "report the file system that its last lines name; if only one node has lost it, "
              "`dtsubmit requeue {job} --exclude NODE` goes on without that node"};
    case run::Cause::comm_timeout:
      return {"its ranks lost contact with each other", k_all_logs};
    case run::Cause::rendezvous:
      return {"its ranks did not find each other", k_all_logs};
    case run::Cause::hang:
      return {"it made no progress for too long", k_all_logs};
    case run::Cause::corruption:
      return {
          "the bits of a rank were not what they should be",
          "report the node to the administrators; `dtsubmit requeue` continues elsewhere from the "
          "last good checkpoint"};
    case run::Cause::damaged:
      return {
          "every checkpoint is damaged, and it would have started over at step 0",
          "look at {run}/checkpoints; to start over, submit it again with --on damaged=restart"};
    case run::Cause::disk_full:
      return {"no disk space or quota was left",
              "free some space on the disk that is full; that of the run directory: df -h {run}"};
    case run::Cause::no_program:
      if (detail.find(run::k_runtime_failed) != detail.npos)
        return {run::k_runtime_failed,
                "do what the runtime's message above asks for, and submit it again"};
      return {"the program does not exist or cannot be executed",
              "correct the path, or its permissions, and submit it again"};
    case run::Cause::set_up_failed:
      return {"the set-up of a node failed",
              "correct --stage, --setup, --module, --conda or --venv, and submit it again"};
    case run::Cause::user_exit:
      if (detail.find(run::k_foreign_launcher) != detail.npos)
        return {"its Open MPI cannot work with the launcher",
                "submit it again with --launcher mpirun, Open MPI's own"};
      if (run::asks_for_unseen_gpu(detail))
        return {"the program asked for a GPU that its rank does not see",
                "each rank sees its own GPUs, numbered from 0: take LOCAL_RANK % "
                "torch.cuda.device_count(), or submit it again with --gpu-view node, which shows "
                "all GPUs of the node (CUDA_VISIBLE_DEVICES in dtsubmit-environment(7))"};
      if (run::misses_a_gpu(detail))
        return {
            "the program found no GPU",
            "ask for GPUs, for example with --gpus-per-node, and see with `dtsubmit plan` which "
            "of them each rank gets"};
      return {"the program failed", "fix the program"};
    case run::Cause::launcher_died:
      return {"the launcher ended before its ranks", k_agent_log};
    case run::Cause::launch_failed:
      return {"not every rank could be started", k_agent_log};
    case run::Cause::wrong_ranks:
      return {"the ranks that started were not those of the plan", k_agent_log};
    case run::Cause::second_launcher:
      return {
          "launchers in the program started the same ranks more than once",
          "submit it again with the program itself in place of its launcher, or with one launcher "
          "on each node that knows the other nodes"};
    case run::Cause::wrong_binding:
      return {"a rank was not bound as planned, which --strict-binding does not allow",
              k_agent_log};
    case run::Cause::fenced:
      return {"a newer attempt owns the run", "dtsubmit status {job}"};
    case run::Cause::run_vanished:
      return {"its run directory was removed, moved or unmounted while it ran", "ls -ld {run}"};
    case run::Cause::run_damaged:
      return {"a file of its run directory is gone or cannot be read", "ls -l {run}"};
    case run::Cause::agent_lost:
      return {"its agent vanished without recording an end", ""};
  }
  return {"", ""};
}

bool is_stop_asked_for(const run::AttemptSummary& attempt) {
  return attempt.cause == run::Cause::stopped && attempt.detail.starts_with(run::k_asked_by_user);
}

}  // namespace dts::cli
