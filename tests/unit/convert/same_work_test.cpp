// SPDX-License-Identifier: Apache-2.0
// The job does what its script does, or the account says what it does not: reductions of scripts
// that people wrote.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("only what is made of the names of hosts counts as the ranks' rendezvous") {
  const Reduced debug = of_nodes(
      "if [ \"$DEBUG\" = true ]; then\n  echo \"$SLURM_JOB_NODELIST\"\n"
      "  export DATA_ROOT=/data/debug\nfi\nexport DATA_ROOT=/data/full\nsrun python a.py\n");
  CHECK(debug.job_has("export DATA_ROOT=/data/full\n"));
  CHECK(debug.became("export DATA_ROOT=/data/full") == Became::set_up);
}

TEST_CASE("lists of hosts that are exported stay, since programs may read them") {
  const Reduced lists = of_nodes(
      "nodes=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n"
      "export COUNT_NODE=$(echo \"$nodes\" | wc -l)\n"
      "export HEAD=$(echo \"$nodes\" | head -n 1)\nexport RAY_ADDRESS=$HEAD:6379\n"
      "export MASTER_ADDR=$HEAD\nexport MASTER_PORT=29500\nsrun ./accelerate.sh\n");
  CHECK(lists.job_has("\nexport COUNT_NODE="));
  CHECK(lists.job_has(
      "\nexport HEAD=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)"));
  CHECK(lists.says("export HEAD", "the name of the first node"));
  CHECK(lists.job_has("\nexport RAY_ADDRESS=$HEAD:6379"));  // with its port
  CHECK_FALSE(lists.job_has("MASTER"));
  // A step within the step that runs the set-up would never start.
  const Reduced step = of_nodes("export LIST=$(srun hostname -I)\nsrun ./accelerate.sh\n");
  CHECK(step.became("export LIST") == Became::lost);
}

TEST_CASE("a command in a variable that conditions change is a program") {
  const std::string command =
      "CMD=\"python train.py\"\nif [ -n \"$RESUME\" ]; then CMD=\"$CMD --resume $RESUME\"; fi\n"
      "eval $CMD\n";
  const Reduced alone = of_one_node(command);
  CHECK(alone.job_has("command = [\"bash\", \"-c\", \"eval $CMD\"]"));
  CHECK(alone.job_has("export CMD\n"));
  const Reduced behind = of_one_node("python prepare.py\n" + command);
  CHECK(behind.made.is_lossless());
  CHECK(behind.job_has("[[steps]]"));
  CHECK(behind.became("if [ -n") == Became::set_up);
  CHECK(behind.became("eval") == Became::program);
  CHECK_FALSE(behind.job_has("teardown"));
  const Reduced launched = of_one_node(
      "CMD=\"srun python train.py\"\nif [ -f x ]; then CMD=\"$CMD -x\"; fi\neval $CMD\n");
  CHECK(launched.became("eval") == Became::lost);
  // What prepares the shell is no program.
  CHECK(of_one_node("eval \"$(conda shell.bash hook)\"\npython a.py\n").became("eval") ==
        Became::set_up);
}

TEST_CASE("programs behind the first one are no tear-down, which is killed after 30 s") {
  const Reduced steps = of_one_node("python train.py\n./evaluate --ckpt out\nrsync -a out host:\n");
  CHECK(steps.job_has("command = [\"./evaluate\", \"--ckpt\", \"out\"]"));
  CHECK(steps.job_has("[[steps]]"));
  CHECK(steps.became("rsync") == Became::tear_down);
  CHECK(steps.says("rsync", "killed after 30 s"));
  for (const std::string server : {"vllm serve model", "./serve"}) {
    CAPTURE(server);
    const Reduced beside =
        of_one_node("srun -N1 -n1 ray start --head --block &\nsleep 5\n" + server + "\nray stop\n");
    CHECK(beside.job_has("ray start --head --block &\nsleep 5\n" + server));
    CHECK(beside.became(server) == Became::program);
  }
  const Reduced sets = of_one_node("python train.py\nif [ -f a ]; then D=x; fi\ncp -r out $D\n");
  CHECK(sets.became("if [ -f a ]") == Became::tear_down);
}

TEST_CASE("a job that a script submits is lost, wherever it does so") {
  for (const std::string line :
       {"if [ -f next.sh ]; then sbatch next.sh; fi",
        "if [ -f a ]; then echo \"$(sbatch --dependency=singleton $0)\"; fi",
        "echo \"$(sbatch $0)\"",
        "sbatch next.sh || echo failed",
        "NEXT=$(sbatch --parsable next.sh)",
        "again now"}) {
    CAPTURE(line);
    const Reduced made = of_nodes("again() { sbatch $0; }\n" + line + "\nsrun python a.py\n");
    CHECK(made.became(line) == Became::lost);
    CHECK(made.says(line, "submits another job"));
    CHECK_FALSE(made.job_has("\n" + line));
  }
  // Beside a program, too.
  const Reduced chain = of_one_node("if [ ! -f done ]; then\n  ./a\n  sbatch $0\nfi\n");
  CHECK(chain.says("if [", "submits another job"));
  const Reduced called =
      of_one_node("run() {\n  srun ./a\n  sbatch $0\n}\nif [ -f x ]; then run; fi\n");
  CHECK_FALSE(called.made.is_lossless());
}

TEST_CASE("what a line does besides setting a variable is done once, as the script does") {
  const Reduced made = of_nodes(
      "RESULT=$(python prepare_data.py --out data)\nNODES=$(scontrol show job x | wc -l)\n"
      "echo x >> runs.log\nfor f in a b; do cat $f >> all; done\nID=$(./new_id)\n"
      "srun python a.py --id $ID\n");
  CHECK(made.made.is_lossless());
  for (const std::string line : {"RESULT=", "echo x >> runs.log", "for f in a b"}) {
    CAPTURE(line);
    CHECK(made.job_has("if on_first_node; then\n" + line));
    CHECK(made.says(line, "on the first node only"));
  }
  CHECK(made.became("NODES=") == Became::unnecessary);
  // Each node's program needs the value.
  CHECK_FALSE(made.job_has("if on_first_node; then\nID="));
  CHECK(made.says("ID=", "on each node; the script runs it on the first only"));
  const Reduced prints = of_nodes("echo \"$(./prepare)\"\necho \"$(module list)\"\nsrun a.py\n");
  CHECK(prints.became("echo \"$(./prepare)") == Became::set_up);
  CHECK(prints.became("echo \"$(module") == Became::unnecessary);
}

TEST_CASE("one training that is started node by node is one program of all nodes") {
  const std::string nodes = "nodes=($(scontrol show hostnames $SLURM_JOB_NODELIST))\n";
  const auto torchrun = [](const std::string& node, const std::string& rank) {
    return "srun -N1 -n1 -w ${nodes[" + node + "]} torchrun --nnodes 2 --node_rank " + rank +
           " --nproc_per_node 4 --master_addr ${nodes[0]} --master_port 29500 train.py";
  };
  const std::string loop = nodes + "for i in 0 1; do " + torchrun("$i", "$i") + " & done\nwait\n";
  const std::string lines = nodes + torchrun("0", "0") + " &\n" + torchrun("1", "1") + " &\nwait\n";
  for (const std::string& body : {loop, lines}) {
    CAPTURE(body);
    const Reduced made = of_nodes(body);
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("command = [\"torchrun\", \"train.py\"]"));
    CHECK(made.job_has("nodes = 2\n"));
    CHECK_FALSE(made.job_has("\nper_node"));
    CHECK_FALSE(made.job_has("roles"));
  }
  const std::string unlike =
      nodes + torchrun("0", "0") + " --log &\n" + torchrun("1", "1") + " &\nwait\n";
  CHECK(of_nodes(unlike).says("srun", "one node's part of a training on several"));
  const std::string swapped =
      nodes + torchrun("0", "1") + " &\n" + torchrun("1", "0") + " &\nwait\n";
  CHECK(of_nodes(swapped).became("srun") == Became::lost);
}

TEST_CASE("of functions that start programs, those that are called say the layout") {
  const std::string functions =
      "one() { srun --ntasks-per-node=1 ./a; }\n"
      "four() { srun --ntasks-per-node=4 --cpus-per-task=2 ./b; }\n";
  const std::string choice = "if [ -f ddp ]; then one; else four; fi\n";
  const Reduced both = of_nodes(functions + choice);
  CHECK(both.became("if [ -f ddp") == Became::lost);
  CHECK(both.says("if [ -f ddp",
                  "--ntasks-per-node: programs of different layouts in one statement"));
  const Reduced only = of_one_node(functions + "if [ -f ddp ]; then one; fi\n");
  CHECK(only.made.is_lossless());
  CHECK(only.job_has("ntasks_per_node = 1\n"));
  CHECK_FALSE(only.job_has("./b"));
  // What one of them leaves out is the job's.
  CHECK(of_one_node("one() { srun --ntasks-per-node=1 ./a; }\nplain() { srun ./b; }\n"
                    "if [ -f ddp ]; then one; else plain; fi\n")
            .made.is_lossless());
}

TEST_CASE("a script in another language is run from its file unless it starts ranks itself") {
  const std::string begin = "#SBATCH --nodes=1 --cpus-per-task=8\n";
  CHECK(Reduced("#!/bin/tcsh\n" + begin + "# srun is not used\nsetenv A 1\npython train.py\n")
            .made.is_lossless());
  for (const std::string launcher : {"srun", "mpirun"}) {
    CAPTURE(launcher);
    const Reduced made("#!/bin/tcsh\n" + begin + launcher + " python train.py\n");
    CHECK(made.says(launcher, "it starts ranks with srun or mpirun itself"));
  }
  const Reduced nodes("#!/usr/bin/env python3\n#SBATCH --nodes=2 --cpus-per-task=8\nprint(1)\n");
  CHECK(nodes.says("print", "the program runs on the first of 2 nodes only"));
}

TEST_CASE("a pause stays behind a line that starts something") {
  const Reduced server =
      of_one_node("sleep 5\n./server.sh &\nsleep 30\nsrun python client.py\nsleep 9\n");
  CHECK(server.became("sleep 5") == Became::unnecessary);
  CHECK(server.job_has("./server.sh &\nsleep 30"));
  CHECK(server.became("sleep 9") == Became::unnecessary);
}

TEST_CASE("a command that env starts does more than print") {
  CHECK(of_one_node("env\nsrun prog\n").became("env") == Became::unnecessary);
  CHECK(of_one_node("env -u A rm x\nsrun prog\n").became("env") == Became::set_up);
}

TEST_CASE("a program that is lost leaves no command, wherever it would have run") {
  const Reduced made = of_one_node("cd work\nsrun \"$@\"\n");
  CHECK(made.became("srun \"$@\"") == Became::lost);
  CHECK(made.made.job_file.empty());
}

TEST_CASE("an end with success before the program is lost, since a set-up cannot end the run") {
  const Reduced made = of_one_node(
      "usage() { echo usage; exit 0; }\nif [ -f done ]; then\n  echo finished\n  exit 0\nfi\n"
      "[ -f conf.yaml ] || exit 1\nif [ \"$*\" = --help ]; then exit 0; fi\npython train.py\n");
  CHECK(made.became("if [ -f done ]") == Became::lost);
  CHECK(made.says("if [ -f done ]", "a set-up cannot"));
  CHECK_FALSE(made.job_has("finished"));
  CHECK(made.became("[ -f conf.yaml ]") == Became::set_up);
  CHECK(made.became("if [ \"$*\"") != Became::lost);
}

TEST_CASE("a trap that does more than dtsubmit does at a signal is lost") {
  const std::string functions =
      "stop() { echo stop; kill -TERM $PID; scontrol requeue $SLURM_JOB_ID; exit 0; }\n"
      "note() { touch $OUT/SHUTDOWN; }\n";
  const auto trap = [&](const std::string& handler) {
    return of_nodes(functions + "trap " + handler + " USR1\nsrun python a.py\n")
        .row("trap " + handler);
  };
  for (const std::string handler :
       {"'echo stop; exit 1'", "stop", "''", "-", "'kill -USR1 $!; wait'"}) {
    CAPTURE(handler);
    CHECK(trap(handler).became == Became::unnecessary);
  }
  for (const std::string handler : {"'touch $OUT/SHUTDOWN'", "note", "'echo a; touch b'"}) {
    CAPTURE(handler);
    CHECK(trap(handler).became == Became::lost);
    CHECK(trap(handler).why.starts_with("runs `touch` at a signal"));
  }
}

TEST_CASE("failures are passed over as far as the script does so") {
  const Reduced made = of_one_node(
      "./a\nset -euo pipefail\n./b\nset +e\n./c\nset -o errexit\n./d\nsrun python a.py\n");
  CHECK(made.job_has("\n./a || true\n./b\n./c || true\n./d\n"));
  CHECK(Reduced("#!/bin/bash -e\n./a\nset -x\n./b\nsrun python a.py\n").job_has("\n./a\n./b\n"));
}

TEST_CASE("a container that an earlier step changes is lost, since programs begin with its image") {
  const auto second = [](const std::string& first) {
    return of_nodes("srun --container-image=/i.sqsh --container-name=c " + first +
                    "\nsrun --container-name=c python a.py\n")
        .row("srun --container-name=c python a.py");
  };
  CHECK(second("bash -c \"apt-get install -y x\"").became == Became::lost);
  CHECK(second("bash -c \"apt-get install -y x\"").why.starts_with("--container-name: an earlier"));
  CHECK(second("true").became == Became::program);
  CHECK(second("python prepare.py").became == Became::program);
}

TEST_CASE("pyxis enters a container that exists, also where a later step names an image") {
  const std::string step = "srun --container-image=/i.sqsh --container-name=c bash -c ";
  const Reduced made = of_nodes(step + "\"pip install x\"\n" + step + "\"python a.py; date\"\n");
  CHECK(made.row(step + "\"python").became == Became::lost);
  CHECK(of_nodes(step + "\"python b.py; date\"\n" + step + "\"python a.py; date\"\n")
            .made.is_lossless());
}

TEST_CASE("only variables are handed to a container") {
  const Reduced made = of_nodes(
      "export A=1\nN=$(./count)\n"
      "srun --container-image=/i.sqsh bash -c \"python a.py --n $((N * 2)) --data words; date\"\n");
  CHECK(made.job_has("container_env = [\"A\", \"N\"]"));
}

TEST_CASE("mpirun's program may be a variable before options that are its own") {
  const Reduced made = of_nodes(
      "BIN=${1:-/opt/perf}\nmpirun -np 2 -N 1 -x LD_LIBRARY_PATH=/opt/lib:$LD_LIBRARY_PATH "
      "--mca pml ^ucx --bind-to none ${BIN} -b 8 -e 16G\n");
  CHECK(made.made.is_lossless());
  CHECK(made.became("mpirun") == Became::program);
  CHECK(made.job_has("exec env LD_LIBRARY_PATH=/opt/lib:\\\"$LD_LIBRARY_PATH\\\" /opt/perf -b 8"));
  CHECK(of_nodes("mpirun -genv PIN=omp:compact ./a.out\n").job_has("\"./a.out\""));
  // Without that they are the launcher's.
  CHECK(of_nodes("mpirun $OPTIONS -np 2 ./a.out\n").job_has("\"./a.out\""));
}

TEST_CASE("indices of an array may be in brackets, as sbatch takes them") {
  const Reduced made("#!/bin/bash\n#SBATCH --array=[0-4,7]%2\npython train.py\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("array = \"0-4,7%2\"\n"));
}

TEST_CASE("a backslash at the end of the file is nothing") {
  const Reduced made = of_one_node("srun python train.py --seed 1 \\");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("command = [\"python\", \"train.py\", \"--seed\", \"1\"]"));
  CHECK(of_one_node("srun python train.py a\\\\").job_has("\"a\\\\\"]"));
}
