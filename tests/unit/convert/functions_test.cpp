// SPDX-License-Identifier: Apache-2.0
// Commands that may be functions of files that a script reads, and edits of files in place.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("a program that may be a function of a file is run by a shell that has the functions") {
  for (const std::string begin : {"source lib.sh\n", ". ./lib.sh\n", "eval \"$(tool hook)\"\n"}) {
    CAPTURE(begin);
    const Reduced made = of_one_node(begin + "run_training x\n");
    CHECK(made.made.is_lossless());
    CHECK(made.says("run_training", "run_training may be of a file that the script reads"));
    CHECK(made.job_has("if [ -n \"$(declare -F run_training)\" ]; then\nexport SCRIPT_STATE="));
    CHECK(made.job_has("eval \"$SCRIPT_STATE\"\nrun_training x"));
    // Of several nodes, each.
    CHECK(of_nodes(begin + "prepare x\nsrun ./a\n").job_has("\nprepare x || true\n"));
  }
  for (const std::string body :
       {"source lib.sh\npython t.py\n",
        "source lib.sh\n./a\n",
        "source lib.sh\ntorchrun t.py\n",
        "source env/bin/activate\nrun_training x\n",
        "eval \"$(conda shell.bash hook)\"\nrun_training x\n",
        "eval \"$(/opt/micromamba shell hook -s posix)\"\nrun_training x\n"}) {
    CAPTURE(body);
    CHECK_FALSE(of_one_node(body).job_has("SCRIPT_STATE"));
  }
}

TEST_CASE("an alias of the script is no program") {
  const std::string aliases = "shopt -s expand_aliases\nalias run='python -u' go=./go\n";
  for (const std::string line : {"run t.py\n", "go fast\n"}) {
    CAPTURE(line);
    CHECK(of_one_node(aliases + line).says(line, "is an alias of the script"));
  }
  CHECK(of_one_node(aliases + "python t.py\n").made.is_lossless());
}

TEST_CASE("functions of a file that words of a program call are there") {
  const Reduced made =
      of_one_node("source lib.sh\nsrun ./a \"$(folder_of data)\" $(tail -n 1 x)\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("$(declare -F folder_of)"));
  CHECK(made.job_has("eval \"$SCRIPT_STATE\"\nexec ./a \"$(folder_of data)\""));
  CHECK_FALSE(of_one_node("source lib.sh\nsrun ./a $(tail -n 1 x)\n").job_has("SCRIPT_STATE"));
  // Within a statement, too.
  CHECK(of_one_node("source lib.sh\nfor f in a b; do post_process $f; done\n")
            .job_has("$(declare -F post_process)"));
  CHECK(of_one_node("source lib.sh\npython t.py || failed\n").job_has("$(declare -F failed)"));
}

TEST_CASE("a login shell reads files that may define functions, however its option is written") {
  const std::string body = "\n#SBATCH -N 2\nprepare x\nsrun ./a\n";
  for (const std::string first : {"#!/bin/bash -l",
                                  "#!/bin/bash -xl",
                                  "#!/bin/bash -leu",
                                  "#!/bin/bash --login",
                                  "#!/bin/bash\t-l",
                                  "#!/usr/bin/env -S bash -l",
                                  "#!/bin/sh -el"}) {
    CAPTURE(first);
    CHECK(Reduced(first + body).says("prepare", "or on each if it is a function"));
  }
  for (const std::string first :
       {"#!/bin/bash", "#!/bin/bash -e", "#!/usr/local/bin/bash --noprofile"}) {
    CAPTURE(first);
    const Row row = Reduced(first + body).row("prepare");
    CHECK(row.why == "on the first node only, as in the script");
  }
}

TEST_CASE("an edit of a file in place is kept, whatever it writes into it") {
  const std::string edit = "sed -i \"s/HOST/$(hostname)/\" ";
  CHECK(of_nodes(edit + "run.xml\nsrun ./a\n").became("sed") == Became::set_up);
  CHECK(of_nodes("perl -pi -e \"s/HOST/$(hostname)/\" run.xml\nsrun ./a\n").became("perl") ==
        Became::set_up);
  CHECK(of_nodes(edit + "hostfile\nsrun ./a\n").became("sed") == Became::unnecessary);
  CHECK(of_nodes("hostname &> log\nsrun ./a\n").became("hostname") == Became::set_up);
}

TEST_CASE("a tear-down has the functions and arrays of the set-up that it uses") {
  const Reduced job = of_one_node(
      "DATA=/tmp/data\nFILES=(/tmp/a \"/tmp/b c\")\nsweep() {\n  rm -rf \"$DATA\"\n}\n"
      "srun ./a\nsweep\nrm -f \"${FILES[@]}\"\n");
  CHECK(job.made.is_lossless());
  CHECK(job.job_has("export DATA\n"));
  CHECK(job.job_has("export SCRIPT_STATE=\"$(declare -p FILES; declare -f sweep)\"\n"));
  CHECK(job.job_has("teardown = ['''\neval \"$SCRIPT_STATE\"\nsweep\nrm -f"));
  // Also the folder: cp * copies what the program has written there.
  const Reduced moved =
      of_one_node("cd $SCRATCH\nsrun ./a\ncp * $SLURM_SUBMIT_DIR\nrm -rf $SCRATCH\n");
  CHECK(moved.job_has("export SCRIPT_FOLDER=$PWD\n"));
  CHECK(moved.job_has(
      "teardown = ['''\ncd \"${SCRIPT_FOLDER:?}\" || exit\ncp * $SLURM_SUBMIT_DIR\nrm -rf"));
  // The program's shell has no need of them.
  CHECK(job.job_has("command = [\"./a\"]"));
  CHECK_FALSE(of_one_node("srun ./a\nrm -f x\n").job_has("SCRIPT_STATE"));
}

TEST_CASE("what a trap does at the script's end is a tear-down") {
  for (const std::string trap : {"trap 'rm -rf $DATA' EXIT",
                                 "trap \"rm -rf $DATA\" EXIT",
                                 "trap 'kill $ID; rm -rf $DATA; exit' EXIT TERM",
                                 "trap -- 'rm -rf $DATA' 0"}) {
    CAPTURE(trap);
    const Reduced job = of_one_node("DATA=/tmp/data\n" + trap + "\nsrun ./a $DATA\nexit $?\n");
    CHECK(job.made.is_lossless());
    CHECK(job.job_has("teardown = ['''\nrm -rf $DATA\n''']"));
    CHECK(job.became("rm -rf") == Became::tear_down);
    CHECK(job.says("trap", "behind the program"));
  }
  const Reduced called =
      of_one_node("DATA=/tmp/data\nclean() {\n  rm -rf $DATA\n}\ntrap clean EXIT\nsrun ./a\n");
  CHECK(called.made.is_lossless());
  CHECK(called.job_has("eval \"$SCRIPT_STATE\"\nclean\n"));
  CHECK(of_one_node("begin() {\n  mkdir x\n  trap 'rm -rf x' EXIT\n}\nbegin\nsrun ./a\n")
            .job_has("teardown = ['''\nrm -rf x\n"));
  const Reduced open = of_one_node("if [ -d x ]; then\n  trap 'rm -rf x' EXIT\nfi\nsrun ./a\n");
  CHECK(open.says("if", "a trap in it runs `rm` at the end"));
  CHECK(open.job_has("if [ -d x ]"));
  // A trap of a shell of its own runs there.
  const std::string token = "token() {\n  trap 'rm -f y' EXIT\n  cat x\n}\n";
  CHECK(of_one_node(token + "T=$(token)\nsrun ./a $T\n").made.is_lossless());
  CHECK(of_one_node(token + "token\nsrun ./a\n").job_has("teardown = ['''\nrm -f y\n"));
  // What starts a program is none.
  CHECK(of_nodes("end() {\n  bash end.sh\n}\ntrap end EXIT\nbash work.sh\n").became("trap") ==
        Became::lost);
  // Not under a condition, before `exec`, or with another trap; nor where it hides an exit code.
  for (const std::string lines :
       {"[ -d x ] && trap 'rm -rf x' EXIT\nsrun ./a\n",
        "trap 'rm -rf x' EXIT\nexec srun ./a\n",
        "trap 'rm -rf x' EXIT\ntrap - EXIT\nsrun ./a\n",
        "trap \"rm -rf \\$X\" EXIT\nsrun ./a\n",
        "python serve.py &\nID=$!\ntrap 'kill $ID; rm -rf x' EXIT\npython a.py\n"}) {
    CAPTURE(lines);
    CHECK(of_one_node(lines).became("trap") == Became::lost);
  }
}

TEST_CASE("patterns of the script mean the same in its program and its tear-down") {
  const Reduced job =
      of_one_node("shopt -s extglob globstar\nsrun ./a data/**/*.txt\nrm -f !(keep).txt\n");
  CHECK(job.job_has("shopt -s extglob globstar\nexec ./a data/**/*.txt''']"));
  CHECK(job.job_has("teardown = ['''\nshopt -s extglob globstar\nrm -f !(keep).txt\n''']"));
  CHECK(
      of_one_node("shopt -s extglob\nsrun ./a $HOME/x\n").job_has("[\"bash\", \"-c\", \"exec ./a"));
}

TEST_CASE("what may change the shell is run for each step, and exec starts no function") {
  const Reduced steps = of_one_node(
      "source site.env\n$ACTIVATE\nload_all\n./prepare --all\nfind /x | xargs fetch\nsrun "
      "./a\nsrun ./b\n");
  for (const std::string line : {"\n$ACTIVATE", "\nload_all"}) {
    CAPTURE(line);
    const std::size_t first = steps.made.job_file.find(line);
    REQUIRE(first != std::string::npos);
    CHECK(steps.made.job_file.find(line, first + 1) != std::string::npos);
  }
  for (const std::string line : {"\n./prepare --all", "\nfind /x"})
    CHECK(steps.made.job_file.find(line) == steps.made.job_file.rfind(line));
  const Reduced replaced = of_one_node("source site.env\nexec \"$PYTHON\" a.py\n");
  CHECK_FALSE(replaced.job_has("declare -F"));
  CHECK(replaced.job_has("exec \\\"$PYTHON\\\" a.py"));
}
