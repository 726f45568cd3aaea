// SPDX-License-Identifier: Apache-2.0
// Steps that a script starts beside its programs, which no set-up can start.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

namespace {

constexpr const char* k_names = "scontrol show hostnames \"$SLURM_JOB_NODELIST\"";

}  // namespace

TEST_CASE("each node runs the command of a step in a condition, list or function itself") {
  const Reduced made = of_nodes(
      "srun mkdir -p /tmp/x && cp a.txt b.txt\n"
      "if [ -f data.tar ]; then\n  srun --ntasks-per-node=1 tar -xf data.tar -C /tmp/x\nfi\n"
      "unpack() { srun -N2 -n2 tar -xf more.tar; }\nunpack\nsrun python train.py\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("\nmkdir -p /tmp/x && cp a.txt b.txt\n"));
  CHECK(made.job_has("\n  tar -xf data.tar -C /tmp/x\n"));
  CHECK(made.job_has("\nunpack() { tar -xf more.tar; }\n"));
  CHECK_FALSE(made.job_has("srun "));
}

TEST_CASE("mpirun beside the programs is such a step as well") {
  const Reduced made = of_nodes(
      "mpirun -N 1 bash -c 'echo $(hostname): $(cat /etc/machine-id 2>/dev/null | tr -d x)'\n"
      "mpirun -N 1 mkdir -p /tmp/x\nmpirun ./a.out\n");
  CHECK(made.became("mpirun -N 1 bash") == Became::unnecessary);
  CHECK(made.became("mpirun -N 1 mkdir") == Became::set_up);
  CHECK(made.job_has("\nmkdir -p /tmp/x"));
  // What the inner shell writes to a file is no print.
  CHECK(of_nodes("srun bash -c 'echo x > /tmp/y'\nsrun ./a.out\n").became("srun bash") ==
        Became::set_up);
}

TEST_CASE("a list of hosts is made without a step") {
  const Reduced made = of_nodes(
      "srun hostname > hosts.txt\nsrun -N2 -n2 hostname -s | sort > sorted.txt\n"
      "srun hostname > unused.txt\nALL=$(srun hostname | sort)\n"
      "srun python train.py --hosts hosts.txt sorted.txt \"$ALL\"\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has(std::string(k_names) + " > hosts.txt"));
  CHECK(made.job_has(std::string(k_names) + " | sort > sorted.txt"));
  CHECK(made.job_has(std::string("ALL=$(") + k_names + " | sort)"));
  CHECK(made.says("srun hostname > hosts.txt", "on the first node only"));
  // With several tasks a node is named as often.
  const std::string tasks = "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\n";
  const Reduced several(tasks + "srun hostname > hosts.txt\nsrun python train.py hosts.txt\n");
  CHECK(several.became("srun hostname") == Became::lost);
  const Reduced one(tasks + "srun -n1 hostname > first.txt\nsrun python train.py first.txt\n");
  CHECK(one.job_has(std::string(k_names) + " | head -n 1 > first.txt"));
}

TEST_CASE("addresses of all nodes are not that of the first one") {
  const Reduced all = of_nodes(
      "IP_LIST=$(srun hostname -i)\nIP=$(srun -n1 hostname -i)\n"
      "ALL_IP=$(srun hostname -i)\n"
      "srun python train.py $IP $ALL_IP\n");
  CHECK(all.became("ALL_IP") == Became::lost);
  CHECK(all.became("IP=") != Became::lost);
}

TEST_CASE("a line whose step no node can run for all is lost") {
  const Reduced made = of_nodes(
      "retry() { for i in 1 2; do \"$@\" && return; done; }\nretry srun -n1 ./fetch\n"
      "srun nvidia-smi > gpus.txt\nsrun python train.py\n");
  CHECK(made.became("retry srun") == Became::lost);
  CHECK(made.became("srun nvidia-smi") == Became::lost);
  CHECK(made.became("retry()") == Became::set_up);
}

TEST_CASE("a function that prints and runs its arguments goes, wherever it is called") {
  const std::string run = "run() {\n  echo \"$@\"\n  time $@\n}\n";
  const Reduced quoted =
      of_nodes(run + "run srun -N\"$SLURM_NNODES\" python \"$HOME/train.py\" \"$EXTRA\"\n");
  CHECK(quoted.made.is_lossless());
  CHECK(quoted.job_has("exec python $HOME/train.py $EXTRA"));
  CHECK(quoted.became("\" \"$EXTRA") == Became::program);
  const Reduced nested = of_nodes(run + "if [ -f a ]; then\n  run srun python train.py\nfi\n");
  CHECK(nested.became("  run srun") == Became::program);
  // $@ would split it at its blank.
  CHECK_FALSE(of_nodes(run + "run srun python train.py 'a b'\n").job_has("exec python"));
}

TEST_CASE("a job that only moves files has the last such line as its program") {
  const Reduced made = of_one_node(
      "printenv\ncd /tmp/x\ngit clone https://host/data.git\ntar -czf data.tgz data\n"
      "cp data.tgz /store/\n");
  CHECK(made.became("cp data.tgz") == Became::program);
  CHECK(made.became("git clone") == Became::set_up);
  CHECK_FALSE(made.job_has("teardown"));  // which has seconds
  CHECK(of_one_node("mamba create -n env python\n").became("mamba") == Became::program);
  // What it writes is what it is for.
  CHECK(of_one_node("cat *.jsonl > all.jsonl\n").job_has("cat *.jsonl > all.jsonl"));
}

TEST_CASE("an argument that the script cannot do without is to be filled in") {
  const std::string body = "source activate $1\nDATA=$2\npython train.py --data $DATA\n";
  const Reduced without = of_one_node(body);
  CHECK(without.became("source activate") == Became::fill_in);
  CHECK(without.became("DATA=$2") == Became::fill_in);
  CHECK(without.job_has("# arguments of the script: $1, $2\n"));
  const Reduced with(without.text, {"env", "/data"});
  CHECK(with.became("source activate") == Became::set_up);
  CHECK_FALSE(with.job_has("# arguments"));
  // It has a default, is asked for, or all are handed on.
  CHECK(of_one_node("python train.py ${1:-x} \"$@\"\n").became("python") == Became::program);
  CHECK(of_one_node("if [ -n \"$1\" ]; then SEED=$1; fi\npython train.py $SEED\n").became("if [") ==
        Became::set_up);
  CHECK(of_one_node("f() { export A=$1; }\nf x\npython train.py\n").became("f()") ==
        Became::set_up);
}

TEST_CASE("date in a tear-down is the time then") {
  const Reduced made = of_one_node(
      "start=$(date +%s)\npython train.py\nend=$(date +%s)\ncp log.txt out-$((end - start)).txt\n");
  CHECK(made.became("end=") == Became::tear_down);
  CHECK_FALSE(made.says("end=", "the run's beginning"));
}
