// SPDX-License-Identifier: Apache-2.0
// Programs that have to be told to continue, with a real mpirun: --resume and --checkpoints.
#include "core/base/files/files.hpp"
#include "tests/cli/session.hpp"

namespace {

using namespace dts::tests;

// Saves out/step-N, N the attempt, next to one of an earlier experiment and one that is cut short,
// and is killed until attempt `last`.
Words crashing(const std::string& last, const Words& options) {
  Words all{"run", "-J", "t", "--ntasks-per-node", "2"};
  all.insert(all.end(), options.begin(), options.end());
  const std::string text =
      "echo \"rank $RANK: $* from ${DTSUBMIT_RESUME_FROM-nothing}\"\n"
      "[ $DTSUBMIT_ATTEMPT -lt " +
      last +
      " ] || exit 0\n"
      "sleep 0.1; [ $RANK = 0 ] || sleep 30; mkdir -p out/old; echo a > "
      "out/step-$DTSUBMIT_ATTEMPT\n"
      "printf 'PK\\003\\004cut' > out/step-cut; kill -9 $$\n";
  const Words program{"--", "sh", "-c", text, "train", "--lr", "1"};
  all.insert(all.end(), program.begin(), program.end());
  return all;
}

std::string own_log(const Session& session, unsigned attempt, unsigned rank) {
  return dts::read_file(session.newest_run().rank_log(attempt, rank)).value_or("");
}

}  // namespace

TEST_CASE("a program that has to be told continues from the newest of its own checkpoints") {
  if (!Session::has_mpirun()) return;
  const Session session;
  REQUIRE(
      session.shell("mkdir out; echo > out/step-7; touch -d '1 hour ago' out/step-7").exit_code ==
      0);
  const Output output = session.dtsubmit(crashing("4",
                                                  {"--checkpoints",
                                                   "out/step-*",
                                                   "--resume=--load {} --dir {dir}",
                                                   "--on",
                                                   "crash=restart:9"}));
  CHECK(output.exit_code == 0);
  for (const unsigned rank : {0U, 1U}) {
    const std::string who = "rank " + std::to_string(rank) + ": --lr 1";
    CHECK(own_log(session, 1, rank) == who + " from nothing\n");
    CHECK(own_log(session, 2, rank) == who + " --load out/step-1 --dir out from out/step-1\n");
    CHECK(own_log(session, 4, rank) == who + " --load out/step-3 --dir out from out/step-3\n");
  }
  const std::string ledger = dts::read_file(session.newest_run().ledger()).value_or("");
  CHECK(contains(ledger, "\"checkpoint\":\"out/step-3\""));
}

TEST_CASE(
    "without a pattern it is the newest in the run directory, and a crash that saved none ends") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const Output output = session.dtsubmit(
      {"run",
       "-J",
       "t",
       "--resume",
       "--load {}",
       "--",
       "sh",
       "-c",
       "[ $# = 0 ] || exec echo $*; cd $DTSUBMIT_CHECKPOINT_DIR; echo > last.pt; kill -9 $$",
       "train"});
  CHECK(output.exit_code == 0);
  CHECK(own_log(session, 2, 0) == "--load " + session.newest_run().checkpoints() + "/last.pt\n");
  CHECK(session.dtsubmit(crashing("9", {"--checkpoints", "none-*"})).exit_code != 0);
  CHECK(own_log(session, 3, 0).empty());  // two crashes without a checkpoint
}

TEST_CASE(
    "arguments that would not reach the program are refused, and patterns that match nothing") {
  const Session session;
  const auto refused = [&](const Words& options, const Words& program) {
    Words all{"run"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), program.begin(), program.end());
    const Output output = session.dtsubmit(all);
    CHECK(output.exit_code == 3);
    return output.err;
  };
  const Words load{"--resume", "--load {}"};
  for (const Words& program : {Words{"--", "bash", "-c", "python3 a.py"},
                               Words{"--", "/bin/sh", "-e", "-o", "pipefail", "-lc", "a \"$@\""},
                               Words{"--", "env", "A=1", "zsh", "-ec", "python3 a.py", "name"}})
    CHECK(contains(refused(load, program), "DTSUBMIT_RESUME_FROM"));
  CHECK(contains(refused(load, {}), "the bundled trainer continues"));
  CHECK(contains(refused({"--checkpoints", "x/*"}, {}), "the bundled trainer continues"));
  const Words program{"--", "true"};
  CHECK(contains(refused({"--resume", "--load '{}'"}, program), "quotes would reach the program"));
  CHECK(contains(refused({"--resume", "--load {ckpt}"}, program), "{ckpt} has no meaning here"));
  CHECK(contains(refused({"--checkpoints", "$OUT/*"}, program), "variables are not expanded"));
  CHECK(contains(refused({"--checkpoints", "out/**/x"}, program), "** matches no more than *"));
  if (!Session::has_mpirun()) return;
  CHECK(session.dtsubmit({"run", "--resume=--load {}", "--", "bash", "-c", "$0 \"$@\"", "true"})
            .exit_code == 0);
  REQUIRE(session.shell("echo exit 0 > a.sh").exit_code == 0);
  CHECK(
      session.dtsubmit({"run", "--resume=--load {}", "--", "bash", "a.sh", "-c", "b"}).exit_code ==
      0);
}

TEST_CASE("the checkpoint is not that of another run, and steps in the run directory count, too") {
  if (!Session::has_mpirun()) return;
  Session session;
  session.environment["DTSUBMIT_RESUME_FROM"] = "/old";
  const Output output = session.dtsubmit(
      {"run",
       "-J",
       "t",
       "--checkpoints",
       "none/*",
       "--on",
       "crash=restart:9",
       "--",
       "sh",
       "-c",
       "sleep 0.1; echo ${DTSUBMIT_RESUME_FROM-none}; echo x > "
       "$DTSUBMIT_CHECKPOINT_DIR/step-$DTSUBMIT_ATTEMPT; [ $DTSUBMIT_ATTEMPT = 4 ] || kill -9 $$"});
  CHECK(output.exit_code == 0);
  CHECK(own_log(session, 4, 0) == "none\n");
}

TEST_CASE("why says from where a program would continue, asked in another folder") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const std::string text = "[ -z \"$NOTHING\" ] && mkdir -p out && echo > out/a; exit 3";
  CHECK(session.dtsubmit({"run", "-J", "t", "--checkpoints", "out/*", "--", "sh", "-c", text})
            .exit_code == 3);
  const std::string run = session.newest_run().path;
  CHECK(contains(session.shell("cd / && \"$DTSUBMIT\" why " + run).out,
                 "continues from " + session.path + "/out/a"));
  REQUIRE(session.shell("rm out/a").exit_code == 0);
  CHECK(
      contains(session.dtsubmit({"why", run}).out, "nothing that it wrote matches --checkpoints"));
}
