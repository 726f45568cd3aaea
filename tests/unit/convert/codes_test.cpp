// SPDX-License-Identifier: Apache-2.0
// Lines that read exit codes: they are not the program, and the line before them keeps its code.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("a line that checks an exit code is not the program") {
  for (const std::string check : {"if [ $? -ne 0 ]; then echo bad; exit 1; fi",
                                  "if [[ \"${?}\" -ne 0 ]]; then\n  printf bad\n  exit 1\nfi"}) {
    CAPTURE(check);
    const Reduced made = of_one_node("./prepare a\n" + check + "\n");
    CHECK(made.job_has("command = [\"./prepare\", \"a\"]"));
    CHECK(made.became("if [") == Became::unnecessary);
  }
  const Reduced acts =
      of_one_node("java -jar a.jar\nif [ $? -eq 0 ]; then mv a b; else mv a c; fi\n");
  CHECK(acts.job_has("'''\njava -jar a.jar\nif [ $? -eq 0 ]; then mv a b; else mv a c; fi'''"));
}

TEST_CASE("a line of the set-up whose exit code is read keeps it") {
  const std::string check = "if [ $? -ne 0 ]; then exit 3; fi\n";
  const Reduced one = of_one_node("make b\n" + check + "srun ./a\n");
  CHECK(one.job_has("make b && true\nif [ $? -ne 0 ]"));
  CHECK(of_one_node("make b\nCODE=$?\nif [ $CODE = 2 ]; then exit 3; fi\nsrun ./a\n")
            .job_has("make b && true\nCODE=$?\n"));
  CHECK(of_one_node("make b\necho made\nsrun ./a\n").job_has("make b || true\n"));
  const Reduced two = of_nodes("make b\n" + check + "srun ./a\n");
  CHECK(
      two.job_has("if on_first_node; then\nmake b && true\nfirst_node_did 0 && true\nelse\n"
                  "await_first_node 0 && true\nfi\nif [ $? -ne 0 ]"));
  const Reduced acts = of_nodes("make b\nif [ $? -ne 0 ]; then cp c d; fi\nsrun ./a\n");
  CHECK(
      acts.job_has("fi\nSCRIPT_CODE=$?\nif on_first_node; then\n(exit \"$SCRIPT_CODE\") && true\n"
                   "if [ $? -ne 0 ]; then cp c d; fi || true\nfirst_node_did 1 || true\n"));
  const Reduced open = of_nodes("source env.sh\nmesh a\nprep $?\nsrun ./a\n");
  CHECK(open.job_has("on_first_node; then\n(exit \"$SCRIPT_CODE\") && true\nprep $?"));
}

TEST_CASE("the exit codes of a pipeline in the set-up are kept where the next line reads them") {
  const std::string read = "CODE=${PIPESTATUS[0]}\n";
  const Reduced one = of_one_node("make | tee log\n" + read + "srun ./a $CODE\n");
  CHECK(one.job_has("! make | tee log\n" + read + "export CODE\n"));
  CHECK(one.job_has("exec ./a $CODE"));
  CHECK(of_one_node("cd b && make | tee log\n" + read + "srun ./a $CODE\n")
            .job_has("cd b && ! make | tee log\n"));
  CHECK(of_one_node("set -e\nmake | tee log\n" + read + "srun ./a $CODE\n")
            .job_has("\nmake | tee log\n" + read));
  const Reduced two = of_nodes("make | tee log\n" + read + "srun ./a $CODE\n");
  CHECK(two.became(read) == Became::lost);
  CHECK(two.job_has("make | tee log || true\n"));  // nothing that stays reads its code
  for (const std::string name : {"BASH_REMATCH[1]", "MAPFILE[0]", "REPLY", "OPTARG"}) {
    CAPTURE(name);
    const Reduced made = of_one_node("read_it\nA=${" + name + "}\nsrun ./a $A\n");
    CHECK(made.job_has("A=${" + name + "}\nexport A\n"));
  }
}

TEST_CASE("a set-up treats failures in pipelines, functions and subshells as the script does") {
  const Reduced pipe = of_one_node("set -euo pipefail\nmake | tee log\nsrun ./a\n");
  CHECK(pipe.job_has("setup = ['''\nset -o pipefail\nmake | tee log\n'''"));
  const Reduced later =
      of_one_node("set -o pipefail\nmake | tee log\nset +o pipefail\nmake b | tee log\nsrun ./a\n");
  CHECK(later.job_has("\nset -o pipefail\nmake | tee log || true\nset +o pipefail\nmake b"));
  CHECK_FALSE(of_one_node("set -euo pipefail\nmake || exit 1\nsrun ./a\n").job_has("set -"));
  const std::string function = "prepare() { ./x; ./y; }\n";
  const Reduced calls = of_one_node("set -e\n" + function + "prepare\nsrun ./a\n");
  CHECK(calls.job_has("set -e\n" + function + "prepare\n"));
  CHECK(of_one_node("set -e\n(./x; ./y)\nsrun ./a\n").job_has("set -e\n(./x; ./y)\n"));
  CHECK_FALSE(of_one_node(function + "prepare\nsrun ./a\n").job_has("set -"));
  CHECK(of_one_node("set -e\nsource env.sh\nprepare\nsrun ./a\n").job_has("set -e\nsource env.sh"));
  const Reduced nodes = of_nodes("set -e\n" + function + "prepare\nsrun ./a\n");
  CHECK_FALSE(nodes.job_has("set -e"));
  CHECK(nodes.says("prepare\n", "a failure within the function does not end it"));
  const Reduced both = of_nodes("set -e\n" + function + "(./x; ./y)\nprepare\nsrun ./a\n");
  CHECK(both.job_has("fi\nset +e\nprepare\n"));
  CHECK(of_one_node("set -e\n" + function + "srun ./a\nprepare\n")
            .job_has("eval \"$SCRIPT_STATE\"\nset -e\nprepare"));
}

TEST_CASE("a loop that prints and copies is not the program") {
  const Reduced made = of_one_node(
      "C=\"prog exec\n  a $b\"\n$C\nfor i in a b; do echo $i; cp -r $i /archive; done\n");
  CHECK(made.became("$C\n") == Became::program);
  CHECK(made.became("for i") == Became::tear_down);
}

TEST_CASE("time takes an option") {
  CHECK(of_one_node("time -p ./prepare -p a\n").job_has("[\"./prepare\", \"-p\", \"a\"]"));
}

TEST_CASE("a line that fails where it has run before may fail in later attempts and steps") {
  const std::string script = "set -e\ngit clone $URL\nmkdir -p a\nmkdir b\nln -sf c d\n";
  const Reduced one = of_one_node(script + "python a.py\n");
  CHECK(one.job_has("git clone $URL || [ \"$DTSUBMIT_ATTEMPT\" -gt 1 ]\nmkdir -p a\n"));
  CHECK(one.job_has("mkdir b || [ \"$DTSUBMIT_ATTEMPT\" -gt 1 ]\nln -sf c d\n"));
  const Reduced two = of_one_node(script + "python a.py\npython b.py\n");
  CHECK(two.job_has("git clone $URL || true\nmkdir -p a\nmkdir b || true\nln -sf c d\n"));
  const Reduced beside = of_one_node("set -e\ngit clone $URL &\nmkdir b\necho $?\npython a.py\n");
  CHECK(beside.job_has("git clone $URL &\nmkdir b || [ \"$DTSUBMIT_ATTEMPT\" -gt 1 ]\n"));
  const Reduced forms = of_one_node("set -e\n! mkdir b\n/usr/bin/git clone $URL\npython a.py\n");
  CHECK(forms.job_has("! mkdir b\n/usr/bin/git clone $URL || ["));
  const Reduced nodes = of_nodes("set -e\nmkdir b\ngit clone $URL\nsrun python a.py\n");
  CHECK(nodes.job_has("mkdir b || true\n"));  // on each node
  CHECK(nodes.job_has("then\ngit clone $URL || [ \"$DTSUBMIT_ATTEMPT\" -gt 1 ]\nfirst_node_did "));
}

TEST_CASE("lines of commands that a file may have defined run on the first node") {
  const Reduced made = of_nodes(
      "source env.sh\nmesh || exit 1\nsplit-it && sort-it || { echo no; exit 1; }\nsrun ./a\n");
  CHECK(made.job_has(
      "if [[ $(type -t mesh) == *function* ]] || on_first_node; then\nmesh || exit 1\n"));
  CHECK(made.job_has("if [[ $(type -t sort-it split-it) == *function* ]] || on_first_node; then"));
  CHECK(made.job_has("first-node-$1\"; local new=\"$file.$SLURMD_NODENAME.$$\""));  // each its own
  CHECK(
      of_nodes("cp a b && echo copied\nsrun ./a\n").job_has("copied\nfirst_node_did 0 || true\n"));
  CHECK(of_nodes("source env.sh\nmesh && export A=1\nsrun ./a $A\n").job_has("\nmesh && export"));
}

TEST_CASE("a set-up waits for what it starts in the background") {
  const std::string both = "pip install x & tar xf y & wait\n";
  const Reduced one = of_one_node(both + "srun ./a\nsrun ./b\n");
  CHECK(one.job_has("pip install x &\ntar xf y &\nwait || true\n"));
  CHECK(one.became("wait") == Became::set_up);
  CHECK(of_one_node("for i in a b; do cp $i /tmp & done\nwait\nsrun ./a\n").job_has("\nwait"));
  CHECK(of_nodes(both + "srun ./a\n")
            .job_has("if on_first_node; then\nwait || true\nfirst_node_did "
                     "2 || true\nelse\nwait\nawait_first_node 2 || true\nfi"));
  CHECK(of_one_node("srun ./a &\nwait\nsrun ./b\n").became("wait") == Became::unnecessary);
  const std::string step = "tar xf y &\nstep() { srun \"$@\"; }\nwait\nstep ./a\n";
  CHECK(of_one_node(step).became("wait") == Became::set_up);
  // Each node has the first of them; the number is that of the first node's rsync.
  CHECK(of_nodes("nvidia-smi dmon -f gpu.log &\nrsync -a x . &\nPID=$!\nwait $PID\nsrun ./a\n")
            .job_has("|| true\nelse\nawait_first_node "));
}

TEST_CASE("the same program before the last one is a step, not a part of its set-up") {
  const Reduced made = of_one_node("./prepare a\n./a.out 1\nprintf x\n./a.out 2\n");
  CHECK(made.became("./prepare") == Became::set_up);
  CHECK(made.became("./a.out 1") == Became::program);
  CHECK(made.became("./a.out 2") == Became::program);
  CHECK(of_one_node("./a.out serve &\nsleep 9\n./a.out 2\n").became("./a.out s") !=
        Became::program);
  CHECK(of_one_node("./a.out --version\n./a.out 2\n").became("./a.out --") == Became::set_up);
  const Reduced container =
      of_one_node("enroot create x.sqsh\nenroot start x ./a\nenroot start x ./b\n");
  CHECK(container.became("enroot create") == Became::set_up);
  CHECK(container.became("enroot start x ./a") == Became::program);
}

TEST_CASE("a ulimit that may fail is noted where the script goes on") {
  const std::string why = "hard limit is lower";
  CHECK(of_one_node("ulimit -n 65536\nsrun ./a\n").says("ulimit", why));
  CHECK_FALSE(of_one_node("ulimit -c 0\nsrun ./a\n").says("ulimit", why));
  CHECK_FALSE(of_one_node("set -e\nulimit -n 65536\nsrun ./a\n").says("ulimit", why));
}

TEST_CASE("a condition that does not hold at the end of a set-up is no failure of it") {
  for (const std::string line : {"[ -f a ] && exit 1\n",
                                 "set -e\n[ -f a ] && cp a b\n",
                                 "set -e\nif [ -n \"$A\" ]; then [ -f a ] && cp a b; fi\n"}) {
    CAPTURE(line);
    const std::string last = line.substr(line.starts_with("set -e") ? 7 : 0);
    CHECK(of_one_node(line + "srun ./a\n").job_has(last + "true\n'''"));
  }
  CHECK(of_one_node("set -e\nmake b\nsrun ./a\n").job_has("make b\n'''"));
  CHECK(of_one_node("[ -f a ] && cp a b\nsrun ./a\n").job_has("cp a b || true\n'''"));
}

TEST_CASE(
    "a line that reads $? and PIPESTATUS at once is lost, and one that is negated gets no !") {
  const std::string both = "if [ $? -ne 0 -o ${PIPESTATUS[0]} -ne 0 ]; then exit 1; fi\n";
  const std::string list = "RC=($? ${PIPESTATUS[@]})\n[ ${RC[0]} -eq 0 ] || touch failed\n";
  CHECK(of_one_node("make | tee log\n" + list + "srun ./a\n").says("RC=", "PIPESTATUS alone"));
  CHECK(of_one_node("make | tee log\n" + both + "srun ./a\n").became(both) == Became::lost);
  CHECK(of_one_node("set -e\nmake | tee log\n" + both + "srun ./a\n").became(both) ==
        Became::set_up);
  CHECK(of_one_node("! grep a b | sort\nA=${PIPESTATUS[0]}\nsrun ./a $A\n")
            .job_has("\n! grep a b | sort\nA="));
}

TEST_CASE("a change of set -e does not come between an exit code and the line that reads it") {
  const Reduced made = of_nodes(
      "set -e\ncheck() { [ -f a ]; }\n(cd q; make)\ncheck && cp a b\n"
      "if [ $? -ne 0 ]; then cp c b; fi\ncp d e\nsrun ./a\n");
  CHECK(made.job_has("set +e\nif on_first_node; then\ncheck && cp a b\n"));
  CHECK(made.job_has("&& true\nfi\nSCRIPT_CODE=$?\n"));
  CHECK(made.job_has("fi\nset -e\nif on_first_node; then\ncp d e\n"));
}
