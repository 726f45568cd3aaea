// SPDX-License-Identifier: Apache-2.0
// Errors of programs that had not ended when their peers failed.
#include "core/run/summary/raised_error.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/run/summary/explain.hpp"
#include "core/run/summary/shown_lines.hpp"
#include "core/run/summary/telling_lines.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::run;

const std::string k_own_traceback =
    "step 4 [4 5]\nTraceback (most recent call last):\n  File \"jx.py\", line 33, in <module>\n"
    "    raise ValueError(\"shapes (3,) and (4,) not aligned\")\n"
    "ValueError: shapes (3,) and (4,) not aligned\n";

// JAX 0.10, five minutes after the error: its exit handler waited for the other process.
const std::string k_jax_of_leader =
    "E1129 01:11:26.620296   23413 coordination_service.cc:1520] [11525007720003059550] Shutdown "
    "barrier in coordination service has failed:\n"
    "DEADLINE_EXCEEDED: Barrier timed out. Id: Shutdown::11525007720003059550::0.\n"
    "# of tasks that reached the barrier: 1/2.\n";
const std::string k_jax_of_all =
    "E1129 01:11:26.621520   23446 coordination_service_agent.cc:289] Polled an error from "
    "coordination service (this can be an error from this or another task).\n"
    "F1129 01:11:26.621672   23446 client.h:80] Terminating process because the JAX distributed "
    "service detected fatal errors. This most likely indicates that another task died\n"
    "*** Check failure stack trace: ***\n    @     0x7f1960240634  (unknown)\n";

const Outcome k_aborted{Cause::rank_killed, 134, "rank 1 on n1 was killed by SIGABRT", 1U, "n1"};

Outcome explained(Outcome outcome, const std::vector<std::string>& logs) {
  const tests::TemporaryFolder folder;
  const RunDirectory run{folder.path};
  REQUIRE(make_folders(run.attempt(1)));
  for (unsigned rank = 0; rank < logs.size(); ++rank)
    REQUIRE(write_file(run.rank_log(1, rank), logs[rank]));
  return explain(std::move(outcome), run, 1, static_cast<unsigned>(logs.size()), {});
}

}  // namespace

TEST_CASE("the error that a program of JAX raised is the cause, not the echo five minutes later") {
  const std::string error = "ValueError: shapes (3,) and (4,) not aligned";

  const Outcome other = explained(k_aborted, {k_own_traceback + k_jax_of_leader, k_jax_of_all});
  CHECK(other.cause == Cause::user_exit);
  CHECK(other.rank == 0U);
  CHECK(other.node.empty());
  CHECK(other.exit_code == 1);
  CHECK(other.detail == "rank 0: " + error + "; then " + k_aborted.detail);

  const Outcome own = explained(k_aborted, {k_jax_of_leader, k_own_traceback + k_jax_of_all});
  CHECK(own.cause == Cause::user_exit);
  CHECK(own.rank == 1U);
  CHECK(own.node == "n1");
  CHECK(own.detail == k_aborted.detail + ": " + error);

  const Outcome lost = explained(k_aborted, {"step 4\n" + k_jax_of_leader, k_jax_of_all});
  CHECK(lost.cause == Cause::comm_timeout);  // a process was lost: another attempt
  CHECK(lost.rank == 1U);
  const std::string disk = "OSError: [Errno 28] No space left on device\n";
  CHECK(explained(k_aborted, {disk, k_jax_of_all}).cause == Cause::disk_full);
  CHECK(explained(k_aborted, {"step 4\n", "step 4\n"}).cause == Cause::rank_killed);
}

TEST_CASE("the lines that are shown of such a program end with its error") {
  const auto lines = telling_lines(split(k_own_traceback + k_jax_of_all, '\n'), 3);
  REQUIRE(lines.size() == 3);
  CHECK(lines.back() == "ValueError: shapes (3,) and (4,) not aligned");
}

TEST_CASE(
    "a traceback behind a progress bar is found, and shown without the bar's earlier states") {
  const std::string bar = "\r 70%|#######   | 70/100 [00:01<00:00, 48.8it/s]";
  const std::string before = "\r  0%|          | 0/100 [00:00<?, ?it/s]" + bar;
  const std::string after = "\n\r100%|#######   | 71/100 [00:01<00:00, 48.0it/s]\n";
  for (const char* const rank : {"", "[rank1]: "}) {
    const std::string traceback = std::string(rank) + "Traceback (most recent call last):\n" +
                                  rank + "  File \"a.py\", line 3, in <module>\n" + rank +
                                  "ValueError: batch 70";
    const Outcome outcome = explained(k_aborted, {k_jax_of_all, before + traceback + after});
    CHECK(outcome.cause == Cause::user_exit);
    CHECK(tests::contains(outcome.detail, "ValueError: batch 70"));
    CHECK(join(shown_lines(split(before + traceback, '\n')), "\n") ==
          bar.substr(1) + "\n" + traceback);
  }
  CHECK(shown_lines({"KeyError: 'a'\r 1%|\r 2%|", "plain\r", "", "\r", "end"}) ==
        std::vector<std::string>{"KeyError: 'a'", " 2%|", "plain", "", "", "end"});
  CHECK(shown_lines({bar + "RuntimeError: batch 70 is bad" + bar + "  "}) ==
        std::vector<std::string>{"RuntimeError: batch 70 is bad", bar.substr(1)});
}

TEST_CASE("an error behind a bar ends the program, unless the bar goes on") {
  const auto bar = [](int at) {
    return "\r " + std::to_string(at) + "%|###  | " + std::to_string(at) + "/100 [00:01<00:00]";
  };
  const std::string caught =
      "Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: sample 10\n";
  const std::string lost = "RuntimeError: [gloo] Connection closed by peer\n";
  const auto cause_of = [&](const std::string& log) {
    return explained(k_aborted, {k_jax_of_all, log}).cause;
  };
  CHECK(cause_of(bar(10) + caught + bar(10) + "\n" + lost) == Cause::user_exit);
  CHECK(cause_of(bar(10) + caught + bar(11) + "\n" + lost) == Cause::user_exit);
  CHECK(cause_of(bar(10) + caught + bar(11) + bar(90) + "\n" + lost) != Cause::user_exit);
  CHECK(cause_of(caught + bar(90) + "\n" + lost) != Cause::user_exit);
  // As tqdm draws them: ten times a second, with brackets in what the program adds, with units, and
  // without a total.
  const std::string fast = "\r 15%|#   | 150/1000 [00:00<00:04, 183.40it/s, lr=[0.001]]";
  const std::string at_end = "\r 16%|#   | 157/1000 [00:00<00:04, 179.55it/s, lr=[0.001]]\n";
  CHECK(cause_of(fast + caught + "\n" + at_end) == Cause::user_exit);
  CHECK(cause_of(fast + "\na warning\n" + caught + "\n" + at_end) == Cause::user_exit);
  CHECK(cause_of("\r 24%|##| 1.20k/5.00k [00:01<00:03, 1.1kit/s]" + caught +
                 "\r 26%|##| 1.31k/5.00k [00:01<00:03, 1.1kit/s]\n") == Cause::user_exit);
  CHECK(cause_of("\r157it [00:00, 180it/s]" + caught + lost) == Cause::user_exit);
  const Outcome plain = explained({Cause::user_exit, 1, "rank 1 on n1 exited 1", 1U, "n1"},
                                  {"torch.distributed.DistNetworkError: failed to recv\n",
                                   bar(70) + "train.py: error: shapes differ\n"});
  CHECK(plain.cause == Cause::user_exit);
}

TEST_CASE("a rank that lost the store of one that failed is its victim, unless a port was taken") {
  const auto cause_of = [](const std::string& words) {
    return explained({Cause::user_exit, 1, "rank 1 on n1 exited 1", 1U, "n1"},
                     {k_own_traceback, words})
        .cause;
  };
  CHECK(cause_of("torch.distributed.DistNetworkError: failed to recv, got 0 bytes\n") ==
        Cause::user_exit);
  CHECK(cause_of("OSError: [Errno 98] Address already in use\n") == Cause::rendezvous);
  CHECK(cause_of("UnknownError: Could not start gRPC server\n") == Cause::rendezvous);
  CHECK(cause_of("Failed to add port to server: No address added\n") == Cause::rendezvous);
}

TEST_CASE("a hang names the rank that had raised an error, and stays a hang") {
  const Outcome hang{Cause::hang, 1, "no progress for 21 s", 1U, "n1"};
  const Outcome raised = explained(hang, {k_own_traceback, "step 4\n"});
  CHECK(raised.cause == Cause::hang);
  CHECK(raised.rank == 0U);
  CHECK(raised.detail ==
        "rank 0 had raised ValueError: shapes (3,) and (4,) not aligned; no progress for 21 s");
  CHECK(explained(hang, {"step 4\n", "step 4\n"}).rank == 1U);
}

TEST_CASE("an error counts as raised if only what ends a program follows its traceback") {
  const std::string at = "Traceback (most recent call last):\n  File \"a.py\", line 3\n";
  const std::string error = "KeyError: 'x'\n";

  struct Row {
    std::string log;
    bool counts;
  };

  const std::vector<Row> rows{
      {at + error, true},
      {"[rank1]: Traceback (most recent call last):\n[rank1]:   File \"a.py\"\n[rank1]: KeyError: "
       "'x'\n",
       true},
      {at + error + "--------------------\nFor simplicity, JAX has removed its internal frames\n",
       true},
      {at + error + "wandb: \nwandb: Find logs at: wandb/run-1/logs\n", true},
      {at + error + "\tsize mismatch for fc.weight\n", true},
      {at + error + "RuntimeError: Connection closed by peer\n", true},
      {at +
           "OSError: x\n\nDuring handling of the above exception, another exception occurred:\n\n" +
           at + error,
       true},
      {at + "ImportError: no wandb\nstep 1\n" + at + error, true},  // another one was caught
      {at + "KeyError: 'y'\nstep 1\n" + at + error, false},         // so was this, it seems
      {at + error + at + error, true},                              // logged, and raised again
      {"bad sample: KeyError: 'y'\n" + at + error, true},
      {error, false},  // a line of a log
      {at + error + "trying again\n", false},
      {"ERROR:root:bad batch\n" + at + error, false},
      {"Exception ignored in: <function Iter.__del__ at 0x7f>\n" + at + error, false},
      {"Exception in thread Thread-3 (run):\n" + at + error, false},
      {"Exception in thread Thread-3 (run):\n" + at +
           "OSError: x\n\nThe above exception was the direct cause of the following "
           "exception:\n\n" +
           at + error,
       false},
      {at +
           "RuntimeError: NCCL error\n\nDuring handling of the above exception, another exception "
           "occurred:\n\n" +
           at + error,
       false},
      {"Process SpawnProcess-1:\n" + at + error, false},
      {"Traceback (most recent call last):\n  File "
       "\"/usr/lib/python3.11/multiprocessing/queues.py\", "
       "line 244, in _feed\n    obj = _ForkingPickler.dumps(obj)\n" +
           error,
       false},  // of a queue's thread, which goes on
      {at + "RuntimeError: Connection closed by peer\n", false},
      {at + "EOFError\n", false},  // of a process that it read from
      {at + "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: x\n", false},
      {at + "RuntimeError: Rank 1 is gone\n", false},
      {at + "horovod.common.exceptions.HorovodInternalError: x\n", false},
      {at + "tensorflow.python.framework.errors_impl.UnavailableError: x\n", false},
      {at + "MemoryError\n", false},  // known evidence
      {at + "KeyboardInterrupt\n", false},
      {at, false},
      {"", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.log);
    CHECK(raised_error(split(row.log, '\n')).has_value() == row.counts);
  }
}

TEST_CASE("after a stop, the error of the main thread is quoted, a broken pipe included") {
  const std::string at = "Traceback (most recent call last):\n  File \"a.py\", line 3\n";
  const std::string own = at + "KeyError: 'optimizer'\n";
  const std::string pipe = at + "BrokenPipeError: [Errno 32] Broken pipe\n";
  const std::string ranks =
      "[rank2]: Traceback (most recent call last):\n[rank2]:   File \"a.py\"\n"
      "[rank2]: BrokenPipeError: [Errno 32] Broken pipe\n";
  const std::string of_wandb = "Exception in thread ChkStopThr:\n" + pipe;
  const std::string of_deleted =
      "Exception ignored in: <function _ConnectionBase.__del__ at 0x7f>\n" + pipe;
  const std::string of_process = "Process QueueFeeder-1:\n" + pipe;
  const std::string of_output =
      "Exception ignored in: <_io.TextIOWrapper name='<stdout>'>\n"
      "BrokenPipeError: [Errno 32] Broken pipe\n";
  const std::string joint =
      "\nDuring handling of the above exception, another exception occurred:\n\n";
  const std::string key = "KeyError: 'optimizer'";
  const std::string broken = "BrokenPipeError: [Errno 32] Broken pipe";

  struct Row {
    std::string log, quoted;
  };

  const std::vector<Row> rows{
      {pipe, broken},
      {ranks, "[rank2]: " + broken},
      {pipe + "wandb: Find logs at: wandb/run-1/logs\n\n", broken},
      {own + joint + pipe, broken},
      {own, key},
      {own + of_wandb, key},
      {own + of_deleted, key},
      {own + of_process + "\n", key},
      {own + of_output, key},
      {own + of_wandb + of_wandb + "wandb: \n" + of_deleted, key},
      {own + "Exception in thread ChkStopThr:\n" + own + joint + pipe, key},
      {of_wandb + own, key},
      {of_wandb + pipe, broken},
      {"Exception in thread ChkStopThr:\n" + own, ""},
      {of_wandb, ""},
      {of_deleted, ""},
      {of_process, ""},
      {of_output, ""},
      {own + "step 5\n" + of_wandb, ""},  // caught
      {own + of_wandb + "step 5\n", ""},
      {"ERROR:root:not sent\n" + pipe, ""},
      {at + "RuntimeError: NCCL error\n" + joint + pipe, ""},
      {broken + "\n", ""},  // a line of a log
      {at + "subprocess.CalledProcessError: Command 'a' returned non-zero exit status 143.\n", ""},
      {at + "RuntimeError: worker ended with exit status -15\n", ""},
      {at + "subprocess.CalledProcessError: Command 'a' returned non-zero exit status 1.\n",
       "subprocess.CalledProcessError: Command 'a' returned non-zero exit status 1."},
      {"", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.log);
    CHECK(error_of_stop(split(row.log, '\n')) == row.quoted);
  }
  CHECK_FALSE(raised_error(split(pipe, '\n')));  // without a stop, it may be a peer's

  const std::string words = at + "BrokenPipeError: \x1b[1m" + std::string(500, 'x') + "  \n";
  const std::string quoted = error_of_stop(split(words, '\n'));
  CHECK(quoted.starts_with("BrokenPipeError: \\x1b[1mxxx"));
  CHECK(quoted.ends_with("x ..."));
  CHECK(quoted.size() <= k_longest_error + 4);
}
