// SPDX-License-Identifier: Apache-2.0
// Outcomes and the logs that tell more of them.
#include "core/run/summary/explain.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/run/summary/telling_lines.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::run;

class AttemptLogs {
 public:
  AttemptLogs& says(unsigned rank, const std::string& text) {
    REQUIRE(make_folders(run_.attempt(1)));
    REQUIRE(write_file(run_.rank_log(1, rank), text));
    return *this;
  }

  AttemptLogs& launcher_says(const std::string& text) {
    REQUIRE(make_folders(run_.attempt(1)));
    REQUIRE(write_file(run_.agent_log(1),
                       "2026-11-28T10:42:30Z attempt 1\n" + text +
                           "2026-11-28T10:42:31Z No space left on device\n"));
    return *this;
  }

  [[nodiscard]] std::optional<LastError> last_error() const { return find_last_error(run_, 1); }

  [[nodiscard]] std::string whose_words(const Outcome& end) const {
    const LastWords words = last_words(run_, 1, end.rank, end.cause, 20);
    return words.whose + ": " + join(words.lines, "|");
  }

  [[nodiscard]] Outcome explained(Outcome outcome,
                                  const std::vector<std::string>& runtimes = {}) const {
    return explain(std::move(outcome), run_, 1, 4, runtimes);
  }

 private:
  tests::TemporaryFolder folder_;
  RunDirectory run_{folder_.path};
};

const Outcome k_exited{Cause::user_exit, 1, "rank 2 on n1 exited 1", 2U, "n1"};

}  // namespace

TEST_CASE("what a container's runtime reports is its failure, not the program's") {
  struct Case {
    const char* runtime;
    int code;
    const char* log;
    bool is_runtimes;
  };

  for (const Case& c : {
           Case{"podman", 125, "Error: unknown flag: --nosuch\nSee 'podman run --help'\n", true},
           {"podman", 126, "Error: OCI runtime error: crun: cgroups in hybrid mode\n", true},
           {"docker", 127, "docker: Error response from daemon: exec: \"x\"\n\n", true},
           {"ch-run", 1, "ch-run[25]: error: can't execve(2): /x (c.c:4 2)\n", true},
           {"charliecloud", 1, "ch-run[25]: error: can't execve(2): /x (c.c:4 2)\n", true},
           {"apptainer", 255, "INFO:    Converting\nFATAL:   could not open image /a.sif\n", true},
           {"bwrap", 1, "bwrap: execvp /bin/nothing: No such file or directory\n", true},
           {"podman", 1, "Error: no such file\n", false},
           {"podman", 127, "sh: nothing: not found\n", false},
           {"ch-run", 1, "ch-run[25]: warning: x\nValueError: y\n", false},
           {"bwrap", 1, "bwrap: loading\none\ntwo\nValueError: y\n", false},
           {"apptainer", 3, "FATAL: loss is NaN\n", false},
           {"podman", 255, "FATAL: loss is NaN\n", false},
           {"", 255, "FATAL: loss is NaN\n", false},
           {"", 126, "Error: cannot read the list of shards\n", false},
       }) {
    CAPTURE(c.log);
    const Outcome end = AttemptLogs().says(2, c.log).explained(
        {Cause::user_exit, c.code, "rank 2 on n1 exited", 2U, "n1"}, {c.runtime});
    CHECK(end.cause == (c.is_runtimes ? Cause::no_program : Cause::user_exit));
    CHECK((end.detail.find(k_runtime_failed) != std::string::npos) == c.is_runtimes);
  }
}

TEST_CASE("if the failed rank wrote nothing, the words of one that did are shown") {
  AttemptLogs logs;
  logs.launcher_says("a process returned a non-zero exit code\n").says(0, "").says(2, "");
  CHECK(logs.whose_words(k_exited) == "the launcher: a process returned a non-zero exit code");
  logs.says(1, "x\ncannot open a.toml\n");
  CHECK(logs.whose_words(k_exited) == "rank 1: x|cannot open a.toml");
  CHECK(logs.whose_words({Cause::launcher_died, 1, "", 2U}).starts_with("the launcher: "));
  logs.says(2, "mine\n");
  CHECK(logs.whose_words(k_exited) == "rank 2: mine");
}

TEST_CASE("the failed rank's own words make the cause, and are quoted") {
  const Outcome outcome = AttemptLogs().says(2, "x\nMemoryError\n").explained(k_exited);
  CHECK(outcome.cause == Cause::out_of_memory);
  CHECK(outcome.detail == "rank 2 on n1 exited 1: MemoryError");
  CHECK(outcome.node == "n1");
}

namespace {

// The end of a log of torchrun with `workers` workers; the one of rank `first` failed first.
std::string torchrun_report(unsigned workers, unsigned first, const std::string& end) {
  const auto entry = [](unsigned number, unsigned rank, const std::string& how) {
    return "[" + std::to_string(number) +
           "]:\n  time      : 2026-11-28_18:42:54\n  host      : n0\n" +
           "  rank      : " + std::to_string(rank) +
           " (local_rank: 1)\n  exitcode  : 1 (pid: 71)\n" +
           "  error_file: <N/A>\n  traceback : " + how + "\n";
  };
  std::string text = "Traceback (most recent call last):\n";
  for (int line = 0; line < 20; ++line) text += "  File \"run.py\", line 8, in main\n";
  text += "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n=====\nFailures:\n";
  for (unsigned rank = 0; rank < workers; ++rank)
    if (rank != first) text += entry(rank, rank, "Signal 9 (SIGKILL) received by PID 72");
  return text + "-----\nRoot Cause (first observed failure):\n" + entry(0, first, end) + "=====\n";
}

}  // namespace

TEST_CASE("torchrun's report does not hide what its workers said, and names the one that failed") {
  const std::string peers = "[rank12]: RuntimeError: Connection closed by peer\n";
  const std::string see = "To enable traceback see: https://pytorch.org/docs";
  const auto explained = [&](const std::string& words, unsigned first, const std::string& end) {
    return AttemptLogs()
        .says(2, words + peers + torchrun_report(8, first, end))
        .explained(k_exited);
  };
  const Outcome memory = explained("[rank1]: MemoryError\n[rank3]: Broken pipe\n", 1, see);
  CHECK(memory.cause == Cause::out_of_memory);
  CHECK(memory.detail == k_exited.detail + ": [rank1]: MemoryError");
  CHECK(explained("[rank1]: ValueError: x\n", 1, see).cause == Cause::user_exit);
  CHECK(explained("MemoryError\n", 1, see).cause == Cause::out_of_memory);  // no prefixes
  const Outcome killed = explained("x\n", 1, "Signal 9 (SIGKILL) received by PID 71");
  CHECK(killed.cause == Cause::rank_killed);
  CHECK(killed.detail.ends_with("1: traceback : Signal 9 (SIGKILL) received by PID 71"));
  const Outcome lost = explained("x\n", 12, see);
  CHECK(lost.cause == Cause::comm_timeout);
}

TEST_CASE("a program that fails after torchrun's report is quoted, too") {
  const std::string report =
      torchrun_report(2, 1, "To enable traceback see: https://pytorch.org/docs");
  const auto lines_after = [&](const std::string& words) {
    return telling_lines(split("[rank1]: ValueError: x\n" + report + words, '\n'), 6);
  };
  const std::string later = "trying the evaluation\nTraceback:\n  File \"a.py\"\nKeyError: 'loss'";
  CHECK(join(lines_after(later), "\n") ==
        "[rank1]: ValueError: x\nTraceback:\n  File \"a.py\"\nKeyError: 'loss'");
  for (const char* of_torchrun :
       {"",
        "finished at 12:00",
        "Traceback:\n  File \"x.py\"\nsubprocess.CalledProcessError: Command 'torchrun' died",
        "make: *** train: Error: returned non-zero exit status 1"})
    CHECK(join(lines_after(of_torchrun), "\n") == "[rank1]: ValueError: x");
}

TEST_CASE("a rank whose log ends with an error is found while it runs") {
  AttemptLogs logs;
  CHECK_FALSE(logs.last_error());
  logs.says(0, "KeyError: 'x'\ntrying again\n").says(1, "step 3\nValueError: bad batch\n");
  const auto found = logs.last_error();
  REQUIRE(found);
  CHECK(found->rank == 1);
  CHECK(found->line == "ValueError: bad batch");
  CHECK(found->written > 0);
  for (const char* words :
       {"step 3\n", "Validation error: 0.12\n", "Error 3.1 %\n", "ErrorRate: 0.1\n"})
    CHECK_FALSE(logs.says(1, words).last_error());
  CHECK(logs.says(1, "KeyError: 3\n").last_error());
}

TEST_CASE("the error of a rank of a part is found while the part runs") {
  const tests::TemporaryFolder folder;
  const RunDirectory run{folder.path};
  const RunDirectory done{run.path + "/steps/1-prepare"};
  const RunDirectory part{run.path + "/steps/2-train"};
  const AttemptStarted began;
  for (const RunDirectory* one : {&done, &part}) {
    REQUIRE(make_folders(one->attempt(1)));
    for (const std::string& file : {one->spec(), one->plan()}) REQUIRE(write_file(file, "{}"));
    REQUIRE(append_event(one->ledger(), {.attempt = 1, .what = began}));
    REQUIRE(write_file(one->rank_log(1, 0), "ValueError: of " + one->path));
  }
  REQUIRE(append_event(done.ledger(), {.attempt = 1, .what = AttemptEnded{}}));
  const auto found = find_last_error(run, 1);
  REQUIRE(found);
  CHECK(found->part == "train");
  CHECK(found->line == "ValueError: of " + part.path);
}

TEST_CASE("a rank with an error of its own is no victim of one that lost its store") {
  const std::string lost = "c10::DistNetworkError: failed to recv, got 0 bytes\n";
  const auto cause_of = [](const std::string& words, const std::string& others) {
    return AttemptLogs().says(2, words).says(3, others).explained(k_exited).cause;
  };
  CHECK(cause_of("[rank2]: ValueError: bad batch\n", lost) == Cause::user_exit);
  CHECK(cause_of("[rank2]: ValueError: bad batch\n", "Address already in use\n") ==
        Cause::rendezvous);
  CHECK(cause_of("step 7\n", lost) == Cause::rendezvous);
  CHECK(cause_of("RuntimeError: Timed out initializing process group in store based barrier\n",
                 lost) == Cause::rendezvous);
  CHECK(cause_of("RuntimeError: Connection reset by peer\n", lost) == Cause::rendezvous);
}

TEST_CASE("why the first rank did not save is quoted, unless it only lost its peers") {
  Outcome stopped{Cause::preempted, 85, "signal 15; not every rank saved: rank 2 exited 1"};
  stopped.unsaved = true;
  stopped.unsaved_rank = 2U;
  const std::string words = "OSError: [Errno 28] No space left on device";
  const Outcome outcome = AttemptLogs().says(2, "  " + words + "\n").explained(stopped);
  CHECK(outcome.cause == Cause::preempted);
  CHECK(outcome.detail == stopped.detail + "; rank 2: " + words);
  CHECK(AttemptLogs().says(2, "Broken pipe\n").explained(stopped).detail == stopped.detail);
  CHECK(AttemptLogs().says(1, words + "\n").explained(stopped).detail == stopped.detail);
}

TEST_CASE(
    "the error that a rank raised instead of saving is quoted, unless it is the stop itself") {
  Outcome stopped{Cause::preempted, 85, "signal 15; not every rank saved: rank 2 exited 1"};
  stopped.unsaved = true;
  stopped.unsaved_rank = 2U;
  stopped.detail_if_saved = "its workers wrote a checkpoint";
  const auto raises = [&](const std::string& error) {
    return AttemptLogs()
        .says(2, "Traceback (most recent call last):\n  File \"train.py\", line 7\n" + error + "\n")
        .explained(stopped);
  };
  const auto is_quoted = [&](const std::string& error) {
    return raises(error).detail == stopped.detail + "; rank 2: " + error;
  };
  CHECK(is_quoted("BrokenPipeError: [Errno 32] Broken pipe"));  // tee(1) got the signal, too
  CHECK(is_quoted("RuntimeError: DataLoader worker (pid 7) is killed by signal: Terminated."));
  CHECK(is_quoted("KeyError: 'optimizer'"));
  CHECK(raises("KeyError: 'optimizer'").detail_if_saved == stopped.detail_if_saved);
  CHECK_FALSE(is_quoted("RuntimeError: Connection closed by peer"));
  CHECK_FALSE(
      is_quoted("torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 "
                "got signal: 15"));
  CHECK_FALSE(is_quoted("lightning.pytorch.utilities.exceptions.SIGTERMException"));
  const std::string command = "subprocess.CalledProcessError: Command '['" + std::string(500, 'x');
  CHECK_FALSE(is_quoted(command + "']' returned non-zero exit status 143."));
  CHECK(raises(command + "']' returned non-zero exit status 143.").detail == stopped.detail);
}

TEST_CASE("a rank that only lost its peers points at the one that failed by itself") {
  const Outcome outcome = AttemptLogs()
                              .says(2, "Connection reset by peer\n")
                              .says(3, "step 1\nCUDA error: uncorrectable ECC error encountered\n")
                              .explained(k_exited);
  CHECK(outcome.cause == Cause::gpu_error);
  CHECK(outcome.rank == 3U);
  CHECK(outcome.node.empty());
  CHECK(outcome.detail.find("rank 3 before it: CUDA error") != std::string::npos);
}

TEST_CASE("without a culprit it stays the lost communicator; without words, the exit") {
  CHECK(AttemptLogs()
            .says(2, "Connection reset by peer\n")
            .says(1, "Broken pipe\n")
            .explained(k_exited)
            .cause == Cause::comm_timeout);
  CHECK(AttemptLogs().says(2, "bye\n").explained(k_exited).detail == k_exited.detail);
  CHECK(AttemptLogs().explained(k_exited).cause == Cause::user_exit);
}

TEST_CASE("what the launcher says is evidence where the failed rank says nothing") {
  const std::string words = "[n0:32102] *** An error occurred in MPI_Init";
  const Outcome silent = AttemptLogs().launcher_says(words + "\n").explained(k_exited);
  CHECK(silent.cause == Cause::rendezvous);
  CHECK(silent.detail == "rank 2 on n1 exited 1: " + words);
  CHECK(AttemptLogs().says(2, "bye\n").launcher_says(words + "\n").explained(k_exited).cause ==
        Cause::user_exit);

  const Outcome failed{Cause::launch_failed, 1, "the launcher ended with code 1"};
  const Outcome told =
      AttemptLogs().launcher_says("  Error:     No space left on device\n").explained(failed);
  CHECK(told.cause == Cause::launch_failed);
  CHECK(told.detail == "the launcher ended with code 1: Error:     No space left on device");
  // The agent's own lines are no evidence.
  CHECK(AttemptLogs().launcher_says("").explained(failed).detail == failed.detail);
}

TEST_CASE("the exit code of a program whose launcher's daemon is gone is not the program's own") {
  const Outcome lost{Cause::user_exit, 195, "rank 2 on n1 exited 195", 2U, "n1"};
  const Outcome outcome = AttemptLogs().says(2, "step 7\n").explained(lost);
  CHECK(outcome.cause == Cause::launcher_died);
  CHECK(outcome.detail ==
        "rank 2 on n1 exited 195, as Open MPI does when the launcher's daemon on its node is gone");
  CHECK(AttemptLogs().says(1, "MemoryError\n").explained(lost).cause == Cause::out_of_memory);
}

TEST_CASE("a cause from the kernel or the scheduler is not replaced") {
  for (const Cause cause : {Cause::completed,
                            Cause::preempted,
                            Cause::out_of_memory,
                            Cause::fenced,
                            Cause::no_restart}) {
    Outcome outcome = k_exited;
    outcome.cause = cause;
    CHECK(AttemptLogs().says(2, "No space left on device\n").explained(outcome).cause == cause);
  }
}

TEST_CASE("exit code 0 after a stop is done only where the program told so") {
  struct Row {
    const char* what;
    const char* metrics;
    Cause cause;
    const char* words;
  };

  for (const Row& row : {
           Row{"nothing told", "", Cause::preempted, "nothing says that the program is done"},
           {"steps without a total",
            R"({"attempt":2,"step":7,"event":"step"})",
            Cause::preempted,
            "nothing says that the program is done"},
           {"before the last step",
            R"({"attempt":2,"step":0,"event":"start","total":9}
{"attempt":2,"step":7,"event":"step"})",
            Cause::preempted,
            "at step 7 of 9: saved, not done"},
           {"the last step",
            R"({"attempt":2,"step":0,"event":"start","total":9}
{"attempt":2,"step":9,"event":"step"})",
            Cause::completed,
            "after the last of 9 steps"},
           {"the word itself",
            R"({"attempt":2,"step":7,"event":"done"})",
            Cause::completed,
            "metrics.jsonl says that it is done"},
           {"the word of another attempt",
            R"({"attempt":1,"step":7,"event":"done"})",
            Cause::preempted,
            "nothing says that the program is done"},
       }) {
    CAPTURE(row.what);
    Outcome stopped{Cause::preempted, 85, "preempted; every rank exited 0"};
    stopped.may_be_done = true;
    const Outcome settled = settle_completion(stopped, row.metrics, 2);
    CHECK(settled.cause == row.cause);
    CHECK(settled.exit_code == (row.cause == Cause::completed ? 0 : 85));
    CAPTURE(settled.detail);
    CHECK(settled.detail.find(row.words) != std::string::npos);
  }
  CHECK(settle_completion(k_exited, "", 1).detail == k_exited.detail);
}

TEST_CASE("a program that said it is done before the stop ended it is complete") {
  Outcome stopped{Cause::preempted, 85, "preempted; not every rank saved"};
  stopped.unsaved = stopped.may_be_done = true;
  const Outcome done = settle_completion(stopped, R"({"attempt":2,"step":7,"event":"done"})", 2);
  CHECK(done.cause == Cause::completed);
  CHECK(done.exit_code == 0);
  CHECK_FALSE(done.unsaved);
  for (const char* metrics : {"",
                              R"({"attempt":1,"step":7,"event":"done"})",
                              R"({"attempt":2,"step":0,"event":"start","total":9}
{"attempt":2,"step":9,"event":"step"})"}) {
    CAPTURE(metrics);
    const Outcome other = settle_completion(stopped, metrics, 2);
    CHECK(other.cause == Cause::preempted);
    CHECK(other.detail == stopped.detail);
  }
}

TEST_CASE("MPI_Abort is the program's own failure, of the rank that called it, with its code") {
  const char* const open_mpi =
      "rank 2 up\n----------\nMPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\n"
      "with errorcode 17.\n\nNOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n";
  const char* const mpich =
      "Abort(17) on node 2 (rank 2 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 17) - "
      "process 2\n";
  for (const char* words : {open_mpi, mpich})
    for (const Cause cause : {Cause::rank_killed, Cause::launcher_died, Cause::stopped}) {
      const Outcome outcome = AttemptLogs()
                                  .says(0, "rank 0 up\n")
                                  .says(2, words)
                                  .explained({cause, 137, "vanished", 0U, "n0"});
      CHECK(outcome.cause == Cause::user_exit);
      CHECK(outcome.exit_code == 17);
      CHECK(outcome.rank == 2U);
      CHECK(outcome.node.empty());  // it is looked up
      CHECK(outcome.detail == "rank 2 called MPI_Abort with code 17");
    }
}

TEST_CASE("the code of an MPI_Abort is an exit code, never 0, and 93 keeps its meaning") {
  const auto code_of = [](const std::string& code) {
    return AttemptLogs()
        .says(1,
              "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode " +
                  code + ".\n")
        .explained({Cause::rank_killed, 137, "vanished", 0U, "n0"});
  };
  CHECK(code_of("0").exit_code == 1);
  CHECK(code_of("-1").exit_code == 255);
  CHECK(code_of("256").exit_code == 1);
  CHECK(code_of("93").cause == Cause::no_restart);
  CHECK(code_of("x").cause == Cause::rank_killed);
  CHECK(code_of("99999999999999999999999").cause == Cause::rank_killed);
}
