// SPDX-License-Identifier: Apache-2.0
// Set-up, each program and tear-down have shells of their own, where a script has one.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("the number of the script's shell is another in each shell of the job") {
  const std::string why = "write $SLURM_JOB_ID instead";
  const Reduced all = of_one_node("mkdir /tmp/x-$$\n./a --out /tmp/x-$$\ncp -r /tmp/x-$$ .\n");
  CHECK(all.says("./a", why));
  CHECK(all.became("cp -r") == Became::lost);
  CHECK(of_one_node("mkdir x-$$\n./a\nrm -r x-$$\n").became("rm -r") == Became::lost);
  for (const std::string body : {"O=/tmp/x-$$\nmkdir $O\n./a --out $O\ncp -r $O .\n",
                                 "./a --out /tmp/x-$$\n",
                                 "mkdir '/tmp/x-$$'\n./a '/tmp/x-$$'\n",
                                 "[ -f x ] || kill $$\n./a x-$$\n"}) {
    CAPTURE(body);
    CHECK(of_one_node(body).made.is_lossless());
  }
}

TEST_CASE("what only the statement of a program sets is not there behind it") {
  const std::string why = ", which the statement of a program sets: its shell ends with it";
  const Reduced step = of_one_node(
      "for i in $(cat l); do srun -n 1 ./a $i; done\nif [ -f x ]; then\n  srun -n 1 ./b $i\nfi\n");
  CHECK(step.says("if [ -f x ]", "uses i" + why));
  const Reduced behind = of_one_node(
      "if [ -f x ]; then\n  n=2\n  srun -n 1 ./a\nelse\n  n=1\n  srun -n 1 ./b\nfi\n"
      "cp log log.$n\necho $((n + 1)) > next\n");
  CHECK(behind.became("cp log") == Became::lost);
  CHECK(behind.says("cp log", "uses n" + why));
  CHECK(behind.became("echo $((n") == Became::lost);
  CHECK(of_one_node("srun ./a ${C:=3}\nsrun ./b $C\n").says("srun ./b", "uses C" + why));
  for (const std::string body :
       {"N=4\nsrun ./a $N\ncp log log.$N\n",
        "for i in $(cat l); do srun -n 1 ./a $i; done\nfor i in 1 2; do cp l l.$i; done\n",
        "for i in $(cat l); do srun -n 1 ./a $i; done\ni=3\ncp l l.$i\n",
        "if [ -f x ]; then\n  n=2\n  srun -n 1 ./a $n\nfi\ncp log out\n"}) {
    CAPTURE(body);
    CHECK(of_one_node(body).made.is_lossless());
  }
}

TEST_CASE("lines that make files run once, before the step that follows them") {
  struct Row {
    std::string line;
    std::size_t count;  // of the set-ups that have it
  };

  for (const Row& row : {Row{"echo size,time > table.csv", 1},
                         {"gmx grompp -f a.mdp", 1},
                         {"rm -rf old", 1},
                         {"mkdir -p out", 2},
                         {"source env.sh", 2},
                         {"cp data.tar /tmp", 2},
                         {"gmx grompp -f $TMPDIR/a.mdp", 2},
                         {"echo $SLURM_JOB_ID > id", 2},
                         {"nvidia-cuda-mps-control -d", 2},
                         {"scontrol show hostnames > hostfile", 2}}) {
    CAPTURE(row.line);
    const Reduced made =
        of_one_node(row.line + "\nexport A=$(cat hostfile)\nsrun ./a $A\nsrun ./b\n");
    std::size_t count = 0;
    const std::string& job = made.made.job_file;
    for (std::size_t at = job.find(row.line); at != std::string::npos;
         at = job.find(row.line, at + 1))
      ++count;
    CHECK(count == row.count);
  }
}

TEST_CASE("the account says what the set-up does again before later steps") {
  const std::string why = "runs again before each later step";
  const std::string set_up =
      "module load cuda\nmkdir -p out\nexport A=1\nrm -rf old\npip install -r needs\n"
      "cp data.tar /tmp\n";
  const Reduced steps = of_one_node(set_up + "srun ./a\ncp more.tar /tmp\nsrun ./b\n");
  for (const std::string line : {"pip install", "cp data.tar"}) CHECK(steps.says(line, why));
  for (const std::string line : {"mkdir", "export A", "rm -rf", "cp more.tar"})
    CHECK_FALSE(steps.says(line, why));
  const Reduced loop = of_nodes(set_up + "for i in 1 2; do\n  srun ./a $i\ndone\n");
  CHECK(loop.says("pip install", why));
  CHECK_FALSE(of_one_node(set_up + "srun ./a\n").says("pip install", why));
}

TEST_CASE("a statement that waits for its own programs in the background is kept") {
  const Reduced loop = of_one_node(
      "for i in 1 2; do\n  for m in a b c; do\n    python t.py $m $i &\n  done\n  wait\ndone\n");
  CHECK(loop.made.is_lossless());
  CHECK(loop.job_has("python t.py $m $i &"));
  CHECK(loop.job_has("  wait\ndone\nwait"));
}

TEST_CASE("no launcher is left in a program or a set-up without a loss") {
  for (const std::string line :
       {"eval srun -n $(nproc) ./a @x\n",
        "eval mpirun -np \\$[$N*2] ./a\n",
        "ls -d */ | xargs -l -P 4 bash -c 'cd $0; pwd; srun -n 4 ./a'\n",
        "for i in $(cat l); do\n  cd $i\n  A=1 ibrun -np 1 gmx x\ndone\n"}) {
    CAPTURE(line);
    CHECK_FALSE(of_one_node(line).made.is_lossless());
    CHECK_FALSE(of_one_node(line + "srun ./b\n").made.is_lossless());
  }
  for (const std::string line :
       {"./run --launcher=srun --np 2\n",
        "if [ -f x ]; then\n  # srun ./b\n  ./a\n  echo srun -n 1 ./b\nfi\n",
        "./a <<E\nsrun ./b\nE\n",
        "which mpirun ; ./a\n"}) {
    CAPTURE(line);
    CHECK(of_one_node(line).made.is_lossless());
  }
}

TEST_CASE("messages name what is in the script, once, and nothing else") {
  const Reduced loop = of_one_node(
      "n=0\nfor ((i = 1; i <= n; i++)); do\n  echo $x STARTING\n  srun -n 2 ./a $i\ndone\nsrun "
      "./b\n");
  CHECK(loop.row("for ((").why == "not run: the loop has no iterations, n is 0");
  const Reduced beside =
      of_nodes("for i in $(cat l); do\n  $CHECK $i\n  $CHECK\n  srun ./a $i\ndone\n");
  CHECK(beside.says("for i", "`$CHECK` alongside the program: every rank would run it"));
  const std::string& why = beside.row("for i").why;
  CHECK(why.find("$CHECK") == why.rfind("$CHECK"));
}

TEST_CASE("what to do about programs side by side depends on their nodes") {
  CHECK(
      of_one_node("srun -n 1 ./a &\nsrun -n 2 ./b &\nwait\n")
          .says("srun -n 2", "programs side by side on one node: let one program start them all"));
  CHECK(of_nodes("for f in $(cat l); do srun -n 1 ./a $f & done\nwait\n")
            .says("for f", "a loop that starts programs in the background: write a sweep"));
}

TEST_CASE("a line that writes over files is said to run again") {
  const std::string steps = "srun ./a\nsrun ./b\n";
  const std::string why = "runs again before each later step, also over what a step has written";
  CHECK(of_one_node("cd case && cp ../begin .\n" + steps).says("cd case", why));
  CHECK(of_one_node("cp begin case\n" + steps).says("cp begin", why));
  CHECK_FALSE(of_one_node("cat a > b\n" + steps).says("cat a", "runs again"));
  CHECK_FALSE(of_one_node("cd case\n" + steps).says("cd case", "runs again"));
}

TEST_CASE("nvidia-smi that watches GPUs is unnecessary") {
  CHECK(of_one_node("nvidia-smi dmon -c 3\nsrun ./a\n").became("nvidia-smi") ==
        Became::unnecessary);
  CHECK(of_one_node("nvidia-smi -c 3\nsrun ./a\n").became("nvidia-smi") == Became::set_up);
}
