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
    CHECK(Reduced(first + body).says("prepare", "on each node; the script runs it on the first"));
  }
  for (const std::string first :
       {"#!/bin/bash", "#!/bin/bash -e", "#!/usr/local/bin/bash --noprofile"}) {
    CAPTURE(first);
    CHECK(Reduced(first + body).says("prepare", "on the first node only, as in the script"));
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
