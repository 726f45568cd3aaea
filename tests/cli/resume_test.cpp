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

TEST_CASE("arguments that would not reach the program are refused") {
  const Session session;
  const Output text =
      session.dtsubmit({"run", "--resume=--load", "--", "bash", "-c", "python3 a.py"});
  CHECK(text.exit_code == 3);
  CHECK(contains(text.err, "DTSUBMIT_RESUME_FROM"));
  CHECK(
      contains(session.dtsubmit({"run", "--resume=--load"}).err, "the bundled trainer continues"));
}
