// SPDX-License-Identifier: Apache-2.0
// Lines behind the programs run once, after all of them, with the values that they have in the
// script; what a tear-down cannot do so is lost.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("a tear-down runs once, after the last of several programs") {
  const Reduced steps = of_one_node("mkdir -p data\nbash first.sh\nbash second.sh\nrm -rf data\n");
  CHECK(steps.made.is_lossless());
  const std::string& file = steps.made.job_file;
  const std::size_t at = file.find("teardown = ");
  REQUIRE(at != std::string::npos);
  CHECK(at > file.find("second.sh"));
  CHECK(file.find("teardown = ", at + 1) == std::string::npos);
}

TEST_CASE("a tear-down has the variables and functions of files that the set-up reads") {
  const std::string script = "source settings.sh\nsrun ./a\n";
  const Reduced made = of_nodes(script + "cp a $RESULTS\nstop_server -f\n");
  CHECK(
      made.job_has("source settings.sh\nexport RESULTS\nif [ -n \"$(declare -F stop_server)\" ]"));
  CHECK(made.job_has("teardown = ['''\neval \"$SCRIPT_STATE\"\n"));
  // A program of the script's folder is no function, and without a file there is none.
  CHECK_FALSE(of_nodes(script + "./stop_server\ncp a b\n").job_has("declare -F"));
  CHECK_FALSE(of_nodes("srun ./a\nstop_server\n").job_has("declare -F"));
  // Of several steps, the last.
  const Reduced steps = of_nodes("source settings.sh\nsrun ./a\nsrun ./b\ncp a $RESULTS\n");
  const std::string& file = steps.made.job_file;
  CHECK(file.find("export RESULTS") > file.find("./a"));
  CHECK(file.find("export RESULTS") == file.rfind("export RESULTS"));
}

TEST_CASE("behind roles only lines without an effect can go") {
  const std::string roles =
      "#SBATCH -N 3 --ntasks-per-node=2\nN=($(scontrol show hostnames $SLURM_JOB_NODELIST))\n"
      "srun -N1 -n1 -w ${N[2]} serve &\nSERVER=$!\n"
      "srun -N2 -n4 -w \"$(IFS=,; echo \"${N[*]:0:2}\")\" train &\nTRAIN=$!\nwait $TRAIN\n";
  for (const std::string line : {"rm -rf data\n", "cp a b\n", "touch done\n", "echo x > done\n"}) {
    CAPTURE(line);
    const Reduced made("#!/bin/bash\n" + roles + line);
    CHECK(made.says(line, "for each role"));
    CHECK(made.became(line) == Became::lost);
    CHECK_FALSE(made.job_has("teardown"));
  }
  for (const std::string line :
       {"kill $SERVER\n", "module purge\n", "ls -l out\n", "cd ..\n", "ray stop\n"}) {
    CAPTURE(line);
    const Reduced made("#!/bin/bash\n" + roles + line);
    CHECK(made.made.is_lossless());
    CHECK_FALSE(made.job_has("teardown"));
  }
}

TEST_CASE("a tear-down has the script's arguments, or is lost") {
  const Reduced open = of_one_node("srun ./a \"$1\"\nrm -rf /scratch/$1\n");
  CHECK(open.became("rm -rf") == Became::lost);
  CHECK_FALSE(open.job_has("teardown"));
  CHECK(Reduced(open.text, {"x y"}).job_has("teardown = ['''\nset -- 'x y'\nrm -rf /scratch/$1\n"));
  const Reduced shifted("#!/bin/bash\nshift\nsrun ./a\nrm -rf /scratch/$1\n", {"a", "b"});
  CHECK(shifted.says("rm -rf", "changes its arguments"));
}

TEST_CASE("processes of the script's shell are none of the tear-down's") {
  const std::string begin = "#!/bin/bash\n#SBATCH -N 1 -n 1\n./srv &\nS=$!\nsrun ./a\n";
  CHECK(Reduced(begin + "kill $S\nwait $S && touch a.ok\n").says("wait", "what `wait` returns"));
  CHECK(Reduced(begin + "kill $S\nif wait $S; then touch a.ok; fi\n")
            .says("if", "what `wait` returns"));
  CHECK(Reduced(begin + "kill $S\nwait $S || true\n").made.is_lossless());
  const Reduced number = of_one_node("./a &\nA=$!\necho $A > ended\n");
  CHECK(number.says("echo", "uses $!"));
  CHECK(number.became("A=$!") == Became::unnecessary);
  CHECK_FALSE(number.job_has("teardown"));
  // It waits for its own.
  CHECK(of_one_node("srun ./a\ncp x y &\nP=$!\nwait $P\nrm x\n")
            .job_has("teardown = ['''\ncp x y &\nwait\nrm x\n"));
}

TEST_CASE("a tear-down goes back to where the script came from") {
  for (const std::string lines : {"pushd /scratch/$X\nsrun ./a\npopd\ncp x y\n",
                                  "cd /scratch/$X\nsrun ./a\ncd -\ncp x y\n",
                                  "cd /scratch\nsrun ./a\ncd - > /dev/null\ncp x y\n"}) {
    CAPTURE(lines);
    CHECK(of_one_node(lines).job_has("cd \"$SLURM_SUBMIT_DIR\"\ncp x y\n"));
  }
  for (const std::string lines : {"pushd a\npushd b\nsrun ./a\npopd\ncp x y\n",
                                  "#SBATCH --chdir /x\npushd a\nsrun ./a\npopd\ncp x y\n",
                                  "pushd a\nsrun ./a\npopd && cp x y\n"}) {
    CAPTURE(lines);
    const Reduced made = of_one_node(lines);
    CHECK(made.became("popd") == Became::lost);
    CHECK_FALSE(made.job_has("cp x y"));
  }
}

TEST_CASE("a trap in double quotes has the values of the place where it is set") {
  for (const std::string lines : {"D=/tmp/a\ntrap \"rm -rf $D\" EXIT\nD=/tmp/b\nsrun ./a $D\n",
                                  "trap \"rm -rf $(pwd)/x\" EXIT\ncd /tmp\nsrun ./a\n",
                                  "trap \"rm -rf `pwd`/x\" EXIT\ncd /tmp\nsrun ./a\n",
                                  "trap \"rm -rf $PWD/x\" EXIT\ncd /tmp\nsrun ./a\n",
                                  "D=x\ntrap \"rm -rf '$D'\" EXIT\nsrun ./a\n",
                                  "D=x\ntrap \"rm -rf $D\" EXIT\nsource settings.sh\nsrun ./a\n",
                                  "f() {\n  local D=x\n  trap \"rm -rf $D\" EXIT\n}\nf\nsrun ./a\n",
                                  "trap \"rm -rf $1\" EXIT\nsrun ./a\n"}) {
    CAPTURE(lines);
    CHECK_FALSE(of_one_node(lines).made.is_lossless());
    CHECK_FALSE(of_one_node(lines).job_has("teardown"));
  }
  CHECK(of_one_node("source settings.sh\nD=x\ntrap \"rm -rf $D\" EXIT\nE=y\nsrun ./a $E\n")
            .job_has("teardown = ['''\nrm -rf $D\n"));
  // Single quotes keep it for the end.
  CHECK(of_one_node("trap 'rm -rf $PWD/x' EXIT\nsrun ./a\n").made.is_lossless());
}

TEST_CASE("a trap behind a line that may end the script does not act then") {
  const std::string end = "touch lock\ntrap \"rm -f lock\" EXIT\nsrun ./a\n";
  for (const std::string begin : {"if [ -e lock ]; then exit 1; fi\n",
                                  "[ -e lock ] && exit 1\n",
                                  "cd /x || exit\n",
                                  "check() {\n  [ -e lock ] && exit 1\n}\ncheck\n",
                                  "set -euo pipefail\n",
                                  "set -o errexit\n",
                                  ": ${DATA:?}\n"}) {
    CAPTURE(begin);
    CHECK(of_one_node(begin + end).became("trap") == Became::lost);
    CHECK_FALSE(of_one_node(begin + end).job_has("teardown"));
  }
  CHECK(Reduced("#!/bin/bash -e\n" + end).became("trap") == Became::lost);
  for (const std::string begin : {"set -e\nset +e\n", "set -u\n", "usage() {\n  exit 1\n}\n"}) {
    CAPTURE(begin);
    CHECK(of_one_node(begin + end).job_has("teardown = ['''\nrm -f lock\n"));
  }
  CHECK(of_one_node("set -e\nD=$(mktemp -d)\nmkdir -p $D/x\ntrap 'rm -rf $D' EXIT\ncp a $D\n"
                    "srun ./a $D\n")
            .job_has("teardown = ['''\nrm -rf $D\n"));
}

TEST_CASE("the exit code that a function of the tear-down reads is not that of the program") {
  const std::string reads = "fin() {\n  code=$?\n  [ $code -ne 0 ] && touch failed\n}\n";
  CHECK(of_one_node(reads + "srun ./a\nfin\n").says("fin\n", "exit code"));
  CHECK(of_one_node(reads + "trap fin EXIT\nsrun ./a\n").became("trap") == Became::lost);
  CHECK(of_one_node("fin() { if [ $? -eq 0 ]; then touch ok; fi; }\ntrap fin EXIT\nsrun ./a\n")
            .became("trap") == Became::lost);
  CHECK(of_one_node("fin() {\n  code=$?\n  rm -rf x\n  exit $code\n}\ntrap fin EXIT\nsrun ./a\n")
            .job_has("\nfin\n"));
}

TEST_CASE("patterns are on before a shell reads the functions of the set-up") {
  const std::string begin = "shopt -s extglob\nfin() {\n  rm -f !(keep).txt\n}\n";
  CHECK(of_one_node(begin + "srun ./a\nfin\n")
            .job_has("teardown = ['''\nshopt -s extglob\neval \"$SCRIPT_STATE\"\nfin\n"));
  CHECK(of_one_node(begin + "srun ./a\nfin; rm *\n")
            .job_has("['''\nshopt -s extglob\neval \"$SCRIPT_STATE\"\nfin\nrm *"));
  CHECK(
      of_one_node(begin + "fin && ./a\n").job_has("shopt -s extglob\neval \"$SCRIPT_STATE\"\nfin"));
}
