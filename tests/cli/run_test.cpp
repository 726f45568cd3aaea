// SPDX-License-Identifier: Apache-2.0
// dtsubmit run with a real mpirun: what ranks are given, what is returned, and what is left behind.
#include "core/base/text/text.hpp"
#include "tests/cli/session.hpp"
#include "tests/support/small_disk.hpp"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <regex>
#include <set>

namespace {

using namespace dts;
using namespace dts::tests;
using nlohmann::json;

// Prints its arguments and variables as one line of JSON.
const char* const k_tell =
    "import json, os, sys; print(json.dumps({'argv': sys.argv[1:], 'env': dict(os.environ)}))";

Words python(const char* script, const Words& words = {}) {
  Words all{"--", "python3", "-c", script};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

Words run_of(unsigned ranks, const Words& program) {
  Words all{"run", "--job-name", "t", "--ntasks-per-node", std::to_string(ranks)};
  all.insert(all.end(), program.begin(), program.end());
  return all;
}

std::string log_of(const Session& session, unsigned attempt, unsigned rank) {
  return read_file(session.newest_run().rank_log(attempt, rank)).value_or("");
}

// Shows the first line of the error, which explains failures on a busy machine.
void check_exit(const Output& output, int expected) {
  CAPTURE(output.err);
  CHECK(output.exit_code == expected);
}

}  // namespace

TEST_CASE("a program gets its arguments byte for byte, also those that are not UTF-8") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Output output = session.dtsubmit(
      run_of(1, {"--", "printf", "%s|", "r\xe9sum\xe9", "\xff\x01\xfe", "caf\xc3\xa9"}));
  check_exit(output, 0);
  CHECK(output.out == "r\xe9sum\xe9|\xff\x01\xfe|caf\xc3\xa9|");
}

TEST_CASE("the last words of the first rank that failed come with the reason, if it is not shown") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Words program = python(
      "import os, sys, time\n"
      "rank = os.environ['RANK']\n"
      "print('fine', rank, flush=True)\n"
      "said = os.environ['DTSUBMIT_RUN_DIR'] + '/said'\n"
      "if rank == '1':\n"
      "  while not os.path.exists(said): time.sleep(0.01)\n"
      "  sys.exit('out of luck')\n"
      "open(said, 'w')\n"
      "time.sleep(300)\n");
  const Output output = session.dtsubmit(run_of(2, program));
  check_exit(output, 1);
  CHECK(contains(output.err, "rank 1 on "));
  CHECK(contains(output.err, "  fine 1\n  out of luck\n"));
  CHECK(output.out == "fine 0\n");
  Words shown = run_of(2, program);
  shown.insert(shown.begin() + 1, {"--ranks", "all"});
  const Output all = session.dtsubmit(shown);
  CHECK(contains(all.out, "[1] out of luck\n"));
  CHECK_FALSE(contains(all.err, "  out of luck"));
}

TEST_CASE(
    "with --log-timestamps each line shown and kept begins with its time, and the rest is the "
    "same") {
  if (!Session::has_mpirun()) return;
  const Session session;
  Words words = run_of(2, {"--", "sh", "-c", "printf 'half '; echo whole >&2; printf last"});
  words.insert(words.begin() + 1, {"--log-timestamps", "--ranks", "all"});
  const Output output = session.dtsubmit(words);
  check_exit(output, 0);
  const std::regex time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z )");
  for (unsigned rank = 0; rank < 2; ++rank) {
    const std::string log = log_of(session, 1, rank);
    CHECK(std::regex_replace(log, time, "T ") == "T half whole\nT last");
    CHECK(contains(output.out, "[" + std::to_string(rank) + "] " + log.substr(0, log.find('\n'))));
  }
  const Output logs = session.dtsubmit({"logs", "last"});
  CHECK(logs.out == log_of(session, 1, 0));
}

TEST_CASE("-c limits the cores of a rank, and one that has no room for them does not start") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const auto of = [&](const Words& options) {
    Words words = run_of(1, {"--", "sh", "-c", "echo $OMP_NUM_THREADS; nproc"});
    words.insert(words.begin() + 1, options.begin(), options.end());
    return session.dtsubmit(words);
  };
  const Output one = of({"-c", "1"});
  check_exit(one, 0);
  CHECK(one.out.substr(0, 2) == "1\n");
  CHECK(one.out == of({"--cores-per-rank", "1"}).out);
  CHECK(one.out == of({"-c", "9999", "--cores-per-rank", "1"}).out);
  const Output many = of({"-c", "9999"});
  check_exit(many, 3);
  CHECK(contains(many.err, "9999 requested"));
}

TEST_CASE("four ranks are told their places, rank 0 is shown, every rank has its log") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Output output = session.dtsubmit(run_of(4, python(k_tell)));
  check_exit(output, 0);
  CHECK(output.out == log_of(session, 1, 0));
  std::set<std::string> addresses, ports;
  for (unsigned rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    const json told = json::parse(log_of(session, 1, rank), nullptr, false);
    REQUIRE(told.is_object());
    const auto variable = [&](const char* name) { return told["env"].value(name, "(none)"); };
    CHECK(variable("RANK") == std::to_string(rank));
    CHECK(variable("LOCAL_RANK") == std::to_string(rank));
    CHECK(variable("WORLD_SIZE") == "4");
    CHECK(variable("LOCAL_WORLD_SIZE") == "4");
    CHECK(variable("NODE_RANK") == "0");
    CHECK(variable("GROUP_RANK") == "0");
    CHECK(variable("OMP_NUM_THREADS") != "(none)");
    CHECK(variable("DTSUBMIT_RUN_DIR") == session.newest_run().path);
    CHECK(variable("DTSUBMIT_ATTEMPT") == "1");
    CHECK(variable("DTSUBMIT_CHECKPOINT_DIR") == session.newest_run().checkpoints());
    addresses.insert(variable("MASTER_ADDR"));
    ports.insert(variable("MASTER_PORT"));
  }
  CHECK(addresses.size() == 1);
  REQUIRE(ports.size() == 1);
  const auto port = parse_number(*ports.begin());
  REQUIRE(port);
  CHECK((*port < 32768 || *port > 60999));  // the kernel's default range; test machines use it
  CHECK(session.story() == Words{"created",
                                 "attempt_started",
                                 "ranks_started",
                                 "attempt_ended:completed",
                                 "decided:done"});
  CHECK(session.survivors().empty());
}

TEST_CASE("words with blanks, quotes, newlines and other alphabets arrive unchanged") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Words words{"a b",
                    "it's",
                    "\"q\"",
                    "$(touch hacked)",
                    "`x`",
                    "a\nb",
                    "\xc3\xa9\xe2\x82\xac",
                    "",
                    "-x",
                    "--np",
                    "*",
                    "\\",
                    "%j",
                    "--"};
  check_exit(session.dtsubmit(run_of(1, python(k_tell, words))), 0);
  const json told = json::parse(log_of(session, 1, 0), nullptr, false);
  REQUIRE(told.is_object());
  CHECK(told["argv"] == words);
}

TEST_CASE("variables of a job around us do not reach the ranks, others do") {
  if (!Session::has_mpirun()) return;
  Session session;
  session.environment["RANK"] = "7";
  session.environment["SLURM_JOB_ID"] = "4711";
  session.environment["SLURM_NODELIST"] = "elsewhere";
  session.environment["OMPI_COMM_WORLD_RANK"] = "9";
  session.environment["MASTER_PORT"] = "1";
  session.environment["MY_OWN"] = "kept";
  check_exit(session.dtsubmit(run_of(1, python(k_tell))), 0);
  const json told = json::parse(log_of(session, 1, 0), nullptr, false);
  CHECK(told["env"].value("RANK", "") == "0");
  CHECK(told["env"].value("MY_OWN", "") == "kept");
  CHECK_FALSE(told["env"].contains("SLURM_JOB_ID"));
  CHECK_FALSE(told["env"].contains("SLURM_NODELIST"));
}

TEST_CASE(
    "the program's own exit code is passed on, and a program that fails by itself is not retried") {
  if (!Session::has_mpirun()) return;
  for (const int code : {1, 42, 93}) {
    CAPTURE(code);
    const Session session;
    check_exit(
        session.dtsubmit(run_of(
            2,
            python(
                ("import os, sys, time; time.sleep(30 * (os.environ['RANK'] == '0')); sys.exit(" +
                 std::to_string(code) + ")")
                    .c_str()))),
        code);
    CHECK(session.story().back() == "decided:stop");
    CHECK(latest_attempt(session.newest_run()) == 1);
    CHECK(session.survivors().empty());
  }
}

TEST_CASE(
    "a killed rank ends the rest within seconds; it is tried again, then not, and the ledger tells "
    "why") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const auto before = std::chrono::steady_clock::now();
  // Not before the other rank runs, too: otherwise the ledger would differ.
  const Output output = session.dtsubmit(
      run_of(2,
             python("import os, signal, time\nledger = os.environ['DTSUBMIT_RUN_DIR'] + "
                    "'/ledger.jsonl'\nif os.environ['RANK'] == '1':\n while "
                    "open(ledger).read().count('ranks_started') < "
                    "int(os.environ['DTSUBMIT_ATTEMPT']): time.sleep(0.05)\n "
                    "os.kill(os.getpid(), signal.SIGKILL)\ntime.sleep(300)")));
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(60));
  check_exit(output, 137);
  CHECK(session.story() == Words{"created",
                                 "attempt_started",
                                 "ranks_started",
                                 "attempt_ended:rank_killed",
                                 "decided:restart",
                                 "attempt_started",
                                 "ranks_started",
                                 "attempt_ended:rank_killed",
                                 "decided:stop"});
  const auto events = run::read_ledger(session.newest_run().ledger());
  CHECK(contains(run::detail_of(events->at(3)), "rank 1"));
  CHECK(contains(run::detail_of(events->at(3)), "SIGKILL"));
  CHECK(contains(run::detail_of(events->back()), "2 crashes in a row without a new checkpoint"));
  CHECK(contains(output.err, "rank 1"));
  CHECK(session.survivors().empty());
}

TEST_CASE("a program that asks to be run again is, in the same run directory") {
  if (!Session::has_mpirun()) return;
  const Session session;
  check_exit(
      session.dtsubmit(run_of(
          2,
          python("import os, sys; sys.exit(85 if os.environ['DTSUBMIT_ATTEMPT'] < '3' else 0)"))),
      0);
  CHECK(latest_attempt(session.newest_run()) == 3);
  CHECK(read_file(session.newest_run().checkpoints() + "/fence").value() == "3\n");
}

TEST_CASE("a program is run again if it asks for that in another way than by its exit code") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Words pipeline{"--",
                       "sh",
                       "-c",
                       "test $DTSUBMIT_ATTEMPT = 1 && \"$0\" beat --again | cat\n"
                       "test $DTSUBMIT_ATTEMPT = 2 && \"$0\" beat --again && exit 123\n"
                       "exit 0",
                       Session::program()};
  check_exit(session.dtsubmit(run_of(1, pipeline)), 0);
  CHECK(latest_attempt(session.newest_run()) == 3);
}

TEST_CASE("a finished or stopped run goes on with --continue, as the next attempt") {
  if (!Session::has_mpirun()) return;
  const Session session;
  check_exit(session.dtsubmit(
                 run_of(1,
                        python("import os, sys; print('attempt', os.environ['DTSUBMIT_ATTEMPT']); "
                               "sys.exit(1 if os.environ['DTSUBMIT_ATTEMPT'] == '1' else 0)"))),
             1);
  const Output again = session.dtsubmit({"run", "--continue", "last"});
  check_exit(again, 0);
  CHECK(again.out == "attempt 2\n");
}

TEST_CASE("a run continues with other options, and keeps its program and what is fixed") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Output first = session.dtsubmit(
      run_of(1,
             python("import os, sys; print('world', os.environ['WORLD_SIZE']); "
                    "sys.exit(93 if os.environ['DTSUBMIT_ATTEMPT'] == '1' else 0)")));
  CHECK(first.out == "world 1\n");
  const run::RunDirectory run = session.newest_run();
  const std::string spec = read_file(run.spec()).value();
  const Output refused =
      session.dtsubmit({"run", "--continue", "last", "--snapshot", "--cpus-per-task", "-1"});
  check_exit(refused, 3);
  CHECK(contains(refused.err, "--snapshot: fixed once a run exists"));
  CHECK(contains(refused.err, "--cpus-per-task"));
  const Output program = session.dtsubmit({"run", "--continue", "last", "--", "true"});
  check_exit(program, 2);
  CHECK(contains(program.err, "a run keeps the program that it began with"));
  CHECK(read_file(run.spec()).value() == spec);
  CHECK(latest_attempt(run) == 1);
  const Output again = session.dtsubmit({"run", "--continue", "last", "--ntasks-per-node", "2"});
  check_exit(again, 0);
  CHECK(again.out == "world 2\n");
  const std::string done = read_file(run.spec()).value();
  check_exit(session.dtsubmit({"run", "--continue", "last", "--ntasks-per-node", "1"}), 0);
  CHECK(read_file(run.spec()).value() == done);  // of a complete run nothing changes
}

TEST_CASE("a program that cannot be run is refused before anything is written, with what helps") {
  const Session session;
  REQUIRE(write_file(session.file("plain.py"), "print(1)\n"));
  REQUIRE(::chmod(session.file("plain.py").c_str(), 0644) == 0);
  REQUIRE(write_file(session.file("bare"), "echo hello\n"));
  REQUIRE(::chmod(session.file("bare").c_str(), 0755) == 0);
  REQUIRE(write_file(session.file("job.sbatch"), "#!/bin/bash\n#SBATCH -N 2\nsrun ./a\n"));
  const std::string convert = "batch script: `dtsubmit convert ";
  for (const auto& row : std::vector<std::pair<std::string, std::string>>{
           {"pyhton3", "did you mean `python3"},
           {"./plain.py", "is not executable"},
           {"plain.py", "or name what runs it: python3"},
           {"./job.sbatch", convert + "./job.sbatch -o"},
           {"job.sbatch", convert + "job.sbatch -o"},
           {"./none.py", "no program `./none.py`"},
           {"./bare", "does not name its interpreter"},
           {session.path, "is a folder"}}) {
    const auto& [program, words] = row;
    CAPTURE(row.first);
    const Output output = session.dtsubmit(run_of(2, {"--", program}));
    check_exit(output, 3);
    CHECK(contains(output.err, words));
    CHECK(run::list_runs(session.file("runs")).empty());
    const Output plan = session.dtsubmit({"--dry-run", "--", program});
    CHECK(plan.exit_code == 0);
    CHECK(contains(plan.err, "dtsubmit: warning: "));
    CHECK(contains(plan.err, words));
  }
}

TEST_CASE("a program that is gone when it is to start is tried once, with the shell's exit code") {
  if (!Session::has_mpirun()) return;
  const Session session;
  REQUIRE(write_file(session.file("once"),
                     "#!/bin/sh\nrm -f \"$0\"; touch \"$DTSUBMIT_CHECKPOINT_DIR\"/a\nexit 85\n"));
  REQUIRE(::chmod(session.file("once").c_str(), 0755) == 0);
  const Output output = session.dtsubmit(run_of(1, {"--", "./once"}));
  check_exit(output, 127);
  CHECK(contains(output.err, "no_program (rank 0 on "));
  CHECK(contains(output.err, "no program `./once`"));
  CHECK(session.story().back() == "decided:stop");
}

TEST_CASE("a program that only asks to be run again is stopped after three attempts") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Output output = session.dtsubmit(run_of(1, {"--", "sh", "-c", "exit 85"}));
  check_exit(output, 85);
  CHECK(contains(output.err, "3 attempts asked to be run again (exit code 85) without a new"));
  CHECK(contains(output.err, "1 of 3 such attempts"));
  Words more = run_of(1, {"--", "sh", "-c", "exit 85"});
  more.insert(more.begin() + 1, {"--on", "checkpointed=restart:3"});
  CHECK(contains(session.dtsubmit(more).err, "checkpointed 4, over the budget of 3"));
}

TEST_CASE("the time at which a run began is the same for all ranks, attempts and steps") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const std::string times = session.file("times");
  const std::string say = "echo $DTSUBMIT_RUN_BEGAN >> " + times + "; sleep 1.1";
  REQUIRE(write_file(session.file("job.toml"),
                     "[[steps]]\nname = 'a'\nntasks = 2\ncommand = ['sh', '-c', '" + say +
                         "; test $DTSUBMIT_ATTEMPT != 1']\n"
                         "[[steps]]\nname = 'b'\nsetup = ['" +
                         say + "']\ncommand = ['sh', '-c', '" + say + "']\n"));
  check_exit(session.dtsubmit({"run", "job.toml"}), 1);
  check_exit(session.dtsubmit({"run", "--continue", "last"}), 0);
  const Words lines = split(std::string(trim(read_file(times).value())), '\n');
  CHECK(lines.size() == 6);
  CHECK(std::set<std::string>(lines.begin(), lines.end()).size() == 1);
  const auto began = parse_number(lines[0]);
  REQUIRE(began);
  const auto now = static_cast<std::uint64_t>(std::time(nullptr));
  CHECK(*began < now);
  CHECK(*began + 3600 > now);
}

TEST_CASE("a job of steps whose second one cannot be read has not completed") {
  if (!Session::has_mpirun()) return;
  const Session session;
  REQUIRE(
      write_file(session.file("job.toml"),
                 "[[steps]]\nname = 'a'\ncommand = ['sh', '-c', 'test $DTSUBMIT_ATTEMPT != 1']\n"
                 "[[steps]]\nname = 'b'\ncommand = ['true']\n"));
  check_exit(session.dtsubmit({"run", "job.toml"}), 1);
  const std::string plan = session.newest_run().path + "/steps/2-b/plan.json";
  REQUIRE(::unlink(plan.c_str()) == 0);
  const Output again = session.dtsubmit({"run", "--continue", "last"});
  check_exit(again, 6);
  CHECK(contains(again.err, "run_damaged (cannot read " + plan));
  CHECK(session.story().back() == "decided:stop");
}

TEST_CASE("what a program wrote reaches the terminal, the ledger and the status escaped and cut") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Output output = session.dtsubmit(run_of(
      1,
      python(
          "import sys, time; o = sys.stderr.buffer\n"
          "o.write(b'\\x1b[31m' + bytes(range(256)) * 40 + b'CUDA out of memory \\x1b[0m\\xff')\n"
          "o.flush(); time.sleep(1.5); sys.exit(3)\n")));
  CHECK(output.exit_code != 0);
  const std::string status = session.dtsubmit({"status"}).out;
  const std::string json = session.dtsubmit({"status", "--json"}).out;
  const std::string why = session.dtsubmit({"why"}).out;
  const std::string ledger = read_file(session.newest_run().ledger()).value();
  for (const std::string& text : {output.err, status, json, why, ledger}) {
    CHECK_FALSE(contains(text, "\x1b"));
    CHECK_FALSE(contains(text, "\xff"));
    for (const std::string& line : split(text, '\n')) CHECK(line.size() < 4000);
  }
  CHECK(contains(status, "CUDA out of memory \\x1b[0m\\xff"));
  CHECK(contains(status, "steps lost  unknown"));
  CHECK(contains(status, "goodput     unknown"));
}

TEST_CASE(
    "without mpirun it is said which package to install, on the terminal, and the ledger has an "
    "end") {
  Session session;
  session.environment["PATH"] = session.path;
  const Output output = session.dtsubmit(run_of(1, {"--", "/bin/true"}));
  CHECK(output.exit_code == 6);
  CHECK(contains(output.err, "mpirun"));
  CHECK(contains(output.err, "openmpi-bin"));
  CHECK(session.story() ==
        Words{"created", "attempt_started", "attempt_ended:launch_failed", "decided:stop"});
}

TEST_CASE("orphans of the program that left its session are killed with it") {
  if (!Session::has_mpirun()) return;
  const Session session;
  check_exit(session.dtsubmit(
                 run_of(2, {"--", "sh", "-c", "setsid sh -c 'sleep 300 & exit' & wait; exit 0"})),
             0);
  CHECK(session.survivors().empty());
  CHECK(contains(session.dtsubmit({"why"}).out, "exited 0 and left `sleep 300` running"));
}

TEST_CASE("run is for this machine: more nodes are refused before anything is written") {
  const Session session;
  const Output output = session.dtsubmit({"run", "--nodes", "2", "--", "true"});
  CHECK(output.exit_code == 3);
  CHECK(contains(output.err, "--nodes"));
  CHECK_FALSE(exists(session.file("runs")));
}

TEST_CASE("a folder of runs that cannot be written is exit code 74, and nothing is left") {
  const Session session;
  REQUIRE(write_file(session.file("file"), ""));
  for (const char* runs : {"/dev/null/runs", "file/runs", "file", "/proc/runs"}) {
    CAPTURE(std::string(runs));
    const Output output = session.dtsubmit({"run", "--runs", runs, "--", "true"});
    CHECK((output.exit_code == 74 || output.exit_code == 6));  // /proc says ENOENT
    CHECK(contains(output.err, "folder"));
  }
  CHECK(list_folder(session.path) == Words{"file"});
}

TEST_CASE("a full disk is exit code 74 with a word on what to do, and no run directory") {
  Session session;
  REQUIRE(make_folders(session.file("disk")));
  const std::string disk = session.file("disk");
  // Only this process sees the file system, so it also has to report what is in it at the end.
  const bool possible = in_child([&] { return mount_small_disk(disk, 4) ? 0 : 1; }) == 0;
  if (!possible) {
    MESSAGE("skipped: no mount namespace for this user");
    return;
  }
  session.in_child = [&] { return mount_small_disk(disk, 4) ? 0 : 1; };
  const Output output = session.dtsubmit({"run", "--runs", "disk", "--", "true"});
  CHECK(output.exit_code == 74);
  CHECK(contains(output.err, "No space left"));
  CHECK(contains(output.err, "help:"));
}
