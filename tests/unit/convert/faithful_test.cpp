// SPDX-License-Identifier: Apache-2.0
// Failures, folders, functions and sizes are those of the script: reductions of scripts that people
// wrote.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

namespace {

Reduced of_options(const std::string& options, const std::string& body) {
  return Reduced("#!/bin/bash\n#SBATCH " + options + "\n" + body);
}

std::size_t count_of(const Reduced& made, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = made.made.job_file.find(part); at != std::string::npos;
       at = made.made.job_file.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("a program of several commands ends at the first that fails, as the script does") {
  const std::string program = "if [ -f x ]; then\n  python a.py\n  python b.py | grep x\nfi\n";

  struct Row {
    const char* before;
    const char* line;
  };

  for (const Row& row : {Row{"", "'''\nif"},
                         {"set -e\n", "'''\nset -e\nif"},
                         {"set -euo pipefail\n", "'''\nset -eo pipefail\nif"},
                         {"set -o pipefail\n", "'''\nset -o pipefail\nif"},
                         {"set -e\nset +e\n", "'''\nif"}}) {
    CAPTURE(row.before);
    CHECK(of_one_node(row.before + program).job_has(row.line));
  }
  CHECK(Reduced("#!/bin/bash -e\n" + program).job_has("'''\nset -e\nif"));
  // A single command ends the shell anyway.
  CHECK_FALSE(of_one_node("set -e\nPYTHONPATH=. python a.py > out\ncat out\n").job_has("set -e"));
  const Reduced head = of_nodes(
      "set -e\nnodes=($(scontrol show hostnames $SLURM_JOB_NODELIST))\n"
      "srun -N1 -n1 -w ${nodes[0]} ray start --head --block &\nsleep 9\n"
      "srun -N1 -n1 -w ${nodes[1]} ray start --address ${nodes[0]}:6379 --block &\n"
      "python a.py\npython b.py\n");
  CHECK(head.job_has("set -e\nray start --head"));
}

TEST_CASE("cd to the folder of the submission is kept where the script has gone elsewhere") {
  const std::string back = "cd $SLURM_SUBMIT_DIR\n";
  CHECK(of_one_node(back + "srun ./a\n").became("cd $SLURM") == Became::unnecessary);
  for (const std::string before : {"cd /data\n", "cd work\n", "pushd $X\n"}) {
    CAPTURE(before);
    const Reduced made = of_one_node(before + "export A=$(./count)\n" + back + "srun ./a\n");
    CHECK(made.became("cd $SLURM") == Became::set_up);
    CHECK(made.job_has("\ncd $SLURM_SUBMIT_DIR\n"));
  }
  CHECK(of_options("--chdir=/data", back + "srun ./a\n").became("cd $SLURM") == Became::set_up);
}

TEST_CASE("one program's size leaves that of the others as the script has it") {
  const Reduced ranks = of_options("-N1 -n8", "python a.py\nsrun ./b\nmpirun ./c\npython d.py\n");
  CHECK(ranks.made.is_lossless());
  CHECK(count_of(ranks, "ntasks = \"8\"") == 2);
  CHECK(count_of(ranks, "cpus_per_task = \"8\"") == 2);
  CHECK(ranks.became("-n8") == Became::option);
  const Reduced each = of_options("-N2 --ntasks-per-node=4 --gpus-per-task=1",
                                  "srun torchrun --nnodes=2 x.py\nsrun ./b\n");
  CHECK(each.made.is_lossless());
  CHECK(count_of(each, "ntasks_per_node = \"4\"") == 1);
  CHECK(count_of(each, "gpus_per_task = \"1\"") == 1);
  CHECK(count_of(each, "gpus_per_node = \"4\"") == 1);
  // Without --nodes, their number follows from the ranks on each.
  const Reduced many = of_options("-n 40 --ntasks-per-node=20", "srun -n $SLURM_NTASKS ./a\n");
  CHECK(many.made.is_lossless());
  CHECK(many.job_has("\nntasks = 40\n"));
  CHECK(many.job_has("ntasks_per_node = 20\n"));
  // A step's own number of ranks replaces the job's.
  const Reduced own =
      of_options("-N1 --ntasks-per-node=8", "python a.py\nsrun -N1 -n1 ./b\nsrun ./c\n");
  CHECK(own.made.is_lossless());
  CHECK(count_of(own, "ntasks_per_node = \"8\"") == 1);
}

TEST_CASE("torchrun has the nodes on which the script starts it") {
  const std::string one = "without srun or mpirun the program runs on the first of 2 nodes only";
  const std::string alone = "each of 2 nodes works by itself";

  struct Row {
    const char* line;
    Became became;
    std::string why;
  };

  for (const Row& row : {
           Row{"torchrun --nproc_per_node=4 train.py", Became::lost, one},
           {"torchrun --standalone train.py", Became::lost, one},
           {"python -m torch.distributed.launch --nnodes=1 train.py", Became::lost, one},
           {"accelerate launch --num_machines 1 train.py", Became::lost, one},
           {"deepspeed --num_nodes=1 train.py", Became::lost, one},
           {"torchrun --nnodes=2 train.py", Became::program, "on the first node only, the job"},
           {"torchrun --rdzv_endpoint=$(hostname):29500 train.py", Became::program, "the job"},
           {"deepspeed --hostfile hosts train.py", Became::program, "the job on each"},
           {"srun torchrun --nproc_per_node=4 train.py", Became::program, "without --nnodes"},
           {"srun torchrun --standalone train.py", Became::lost, alone},
           {"srun torchrun --nnodes 1 --nproc_per_node 4 train.py", Became::lost, alone},
           {"srun -N1 -n1 torchrun --standalone train.py", Became::program, ""},
           {"srun python -u -m submitit.core._submit /logs/%j",
            Became::lost,
            "would not find it in this one"},
       }) {
    CAPTURE(row.line);
    const Reduced made = of_nodes(std::string(row.line) + "\n");
    CHECK(made.became(row.line) == row.became);
    CHECK(made.says(row.line, row.why));
  }
  const Reduced beside = of_nodes("torchrun --nnodes=1 a.py\nsrun torchrun --nnodes=2 b.py\n");
  CHECK(beside.made.is_lossless());
  CHECK(count_of(beside, "\nnodes = \"1\"") == 1);
  // Slurm's tasks are no nodes of a launcher that is started once.
  const Reduced tasks = of_options("-n8 --gpus=8", "torchrun --nproc_per_node=8 x.py\n");
  CHECK(tasks.made.is_lossless());
  CHECK_FALSE(tasks.job_has("nodes ="));
  CHECK(tasks.job_has("cpus_per_task = 8\n"));
}

TEST_CASE("what a function uses is there where it is called, by name or in a variable") {
  const Reduced made = of_one_node(
      "log() { echo \"$1\" >> $FILE; }\nevaluate() { log start; ./evaluate --n $N \"${A[@]}\"; }\n"
      "FILE=log.txt\nN=4\nA=(1 2)\nRUN=evaluate\npython a.py\n$RUN x\n");
  CHECK(made.made.is_lossless());
  CHECK(made.became("$RUN x") == Became::program);
  CHECK(made.job_has("declare -p A; declare -f evaluate log"));
  CHECK(made.job_has("\nFILE=log.txt\n"));
  CHECK(made.job_has("export FILE N RUN"));
  // A line of the set-up, too.
  CHECK(of_one_node("log() { echo \"$1\" >> $FILE; }\nFILE=log.txt\nlog start\nsrun ./a\n")
            .job_has("\nFILE=log.txt\n"));
  // Handed to another function, which runs it.
  const Reduced handed = of_nodes(
      "launch() { srun -n $1 ./a; }\nsweep() { for i in 1 2; do $1 $i; done; }\nsweep launch\n");
  CHECK(handed.became("sweep launch") == Became::lost);
}

TEST_CASE("work behind the first program is a program in whatever form it is called") {
  for (const std::string line : {"./evaluate || exit 1",
                                 "if ! ./evaluate; then echo failed; fi",
                                 "env A=1 ./evaluate",
                                 "command ./evaluate",
                                 "/usr/bin/time -v ./evaluate",
                                 "conda run -n x ./evaluate",
                                 "env -u A ./evaluate",
                                 "cat list | xargs -n 1 ./evaluate",
                                 "evaluate #",
                                 "all #"}) {
    CAPTURE(line);
    const Reduced made = of_one_node(
        "evaluate() { docker run --rm image; }\nall() { echo all; evaluate; }\npython a.py\n" +
        line + "\n");
    CHECK(made.became(line) == Became::program);
    CHECK(made.job_has("[[steps]]"));
  }
  for (const std::string line : {"command -v nvcc || exit 1",
                                 "if pgrep -u $USER x; then echo y; fi",
                                 "env | sort",
                                 "find . -name core | xargs -d '\\n' rm",
                                 "env -u A rm x",
                                 "tidy #"}) {
    CAPTURE(line);
    const Reduced made = of_one_node("tidy() { rm -rf tmp; }\npython a.py\n" + line + "\n");
    CHECK_FALSE(made.job_has("[[steps]]"));
  }
}

TEST_CASE("a function that starts no ranks is called as it is") {
  const Reduced made = of_one_node("cd work\nmain() { ./run.sh & wait; }\nmain \"$@\"\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("main \"$@\"''', \"job.sh\"]"));
  CHECK(made.job_has("declare -f main"));
}

TEST_CASE("what is run once in all may run beside a program and in loops") {
  const Reduced loop =
      of_one_node("for f in *.yaml; do\n  cp $f conf\n  srun -n 1 python a.py conf/$f\ndone\n");
  CHECK(loop.made.is_lossless());
  CHECK(loop.job_has("  cp $f conf\n  python a.py conf/$f\ndone"));
  // srun would read the list itself.
  CHECK(of_one_node("while read f; do srun -n 1 python a.py $f; done < list\n").became("while") ==
        Became::lost);
  CHECK(of_nodes("for f in *.yaml; do srun python a.py $f; done\n").became("for f") ==
        Became::lost);
  const Reduced background =
      of_one_node("for f in *.yaml; do python a.py $f & done\necho started\nwait\n");
  CHECK(background.made.is_lossless());
  CHECK(background.job_has("python a.py $f & done\nwait"));
  CHECK(of_one_node("for f in *.yaml; do python a.py $f & done\n").became("for f") == Became::lost);
  for (const std::string line : {"if [ -f x ]; then srun hostname; python a.py; fi",
                                 "if [ -f x ]; then CMD=\"srun -n 1 ./a\"; $CMD; fi"}) {
    CAPTURE(line);
    CHECK(of_one_node(line + "\n").became("if") == Became::lost);
  }
}

TEST_CASE("programs of an array that run one after another on one node are one program") {
  const Reduced made = of_options("--array=0-3 -n1 -c4",
                                  "set -e\nOUT=out/$SLURM_ARRAY_TASK_ID\nmkdir -p $OUT\n"
                                  "python a.py --out $OUT\nFILES=($(ls $OUT))\ncp cfg $OUT\n"
                                  "srun python b.py \"${FILES[@]}\"\nrm -r $OUT\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("array = \"0-3\""));
  CHECK(
      made.job_has("'''\nset -e\npython a.py --out out/$SLURM_ARRAY_TASK_ID\n"
                   "FILES=($(ls $OUT))\ncp cfg $OUT\npython b.py \"${FILES[@]}\"'''"));
  CHECK(made.became("mkdir") == Became::set_up);
  CHECK(made.became("rm -r") == Became::tear_down);
  const Reduced ranks = of_options("--array=0-3 -n4", "python a.py\nsrun python b.py\n");
  CHECK(ranks.says("--array", "cannot be an array"));
}

TEST_CASE("a program is not a function that only prints, nor a line that tidies up") {
  const std::string begin =
      "log() { echo \"# $1\"; }\nlog begin\n./simulate\nseff $SLURM_JOB_ID\nlog end\n";
  for (const std::string end : {"", "exit 0\n"}) {
    CAPTURE(end);
    const Reduced made = of_one_node(begin + end);
    CHECK(made.job_has("command = [\"./simulate\"]"));
    CHECK(made.became("seff") == Became::tear_down);
  }
  // What runs its arguments may start anything.
  const Reduced wrapped = of_nodes(
      "cmd() { echo \"$@\"; eval \"$@\"; }\ncmd \"module load x\"\n"
      "python prepare.py\ncmd \"srun ./simulate\"\n");
  CHECK_FALSE(wrapped.made.is_lossless());
}

TEST_CASE("what goes on in the background of one node and is waited for is a program") {
  const Reduced made = of_one_node("./simulate &\nPID=$!\npython watch.py $PID\nwait $PID\n");
  CHECK(made.became("./simulate") == Became::program);
  const Reduced both = of_one_node("./simulate a &\npython b.py\nwait\n");
  CHECK(both.made.is_lossless());
  CHECK(both.job_has("./simulate a &\npython b.py\nwait"));
  // A service that the script ends is none.
  const Reduced service = of_one_node("./serve &\nPID=$!\npython b.py\nkill $PID\nwait $PID\n");
  CHECK(service.became("./serve") == Became::set_up);
}

TEST_CASE("programs side by side on one node have the cores of the job, and GPUs of their own") {
  const std::string two = "srun -n1 ./a &\nsrun -n1 ./b &\nwait\n";
  for (const std::string options : {"-N1 -n2 -c3", "-n2 -c3", "-N1 -n2 --gpus-per-task=1"}) {
    const Reduced made = of_options(options, two);
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("beside = \"a\"\ncommand = [\"./b\"]\n"));
  }
  // One of them would wait for the other, or it is not known what they need.
  CHECK_FALSE(of_options("-N1 -n1 --gres=gpu:1",
                         "srun -n1 --gres=gpu:1 ./a &\n"
                         "srun -n1 --gres=gpu:1 ./b &\nwait\n")
                  .made.is_lossless());
  CHECK_FALSE(of_options("-N1 -n2 --gres=gpu:2", two).job_has("beside"));
  // On one node together while there is room.
  const std::string loop =
      "for i in 1 2 3 4; do\n  srun -N1 -n1 --gres=gpu:1 ./train $i &\ndone\nwait\n";
  const Reduced packed = of_options("-N2 --ntasks-per-node=2 --gres=gpu:2", loop);
  CHECK(packed.made.is_lossless());
  CHECK(count_of(packed, "[[roles]]") == 4);
  CHECK(count_of(packed, "beside = \"train\"") == 1);
  CHECK(count_of(packed, "beside = \"train-3\"") == 1);
  CHECK(count_of(packed, "on_failure = \"none\"") == 4);
  CHECK_FALSE(of_options("-N1 --ntasks-per-node=2 --gres=gpu:2", loop).made.is_lossless());
  const Reduced steps =
      of_options("-N1 -n1 --gpus-per-task=8 --cpus-per-gpu=4", "torchrun a.py\ntorchrun b.py\n");
  CHECK(steps.made.is_lossless());
  CHECK(count_of(steps, "\ngpus_per_node = 8\n") == 1);
}

TEST_CASE("a line that a template leaves open is to be filled in") {
  for (const std::string line : {"{{LOAD_ENV}}", "<LOAD_ENV>", "WORK={{folder}}", "A=({{all}})"}) {
    CAPTURE(line);
    const Reduced made = of_one_node(line + "\nsrun ./a $WORK ${A[@]}\n");
    CHECK(made.became(line) == Became::fill_in);
  }
  for (const std::string line : {"echo '{{.State}}' > x", "docker ps --format={{.Names}} > x"})
    CHECK(of_one_node(line + "\nsrun ./a\n").became(line) == Became::set_up);
}

TEST_CASE("lines that act on a program's exit code run behind it in one shell, on one node") {
  const Reduced either = of_one_node(
      "python a.py\nSTATUS=$?\nif [ $STATUS -eq 0 ]; then python b.py; else python c.py; fi\n");
  CHECK(either.made.is_lossless());
  CHECK(either.job_has("'''\npython a.py\nSTATUS=$?\nif [ $STATUS"));
  const Reduced copies = of_one_node(
      "export A=1\npython a.py\nRC=$?\nif [ $RC -eq 124 ]; then cp a b; fi\necho end\nexit $RC\n");
  CHECK(copies.made.is_lossless());
  CHECK(
      copies.job_has("'''\npython a.py\nRC=$?\nif [ $RC -eq 124 ]; then cp a b; fi\necho end\n"
                     "exit $RC'''"));
  // What only ends the script needs no shell: a step that fails ends the run.
  CHECK(of_one_node("python a.py\nif [ $? -ne 0 ]; then exit 1; fi\npython b.py\n")
            .job_has("[[steps]]"));
  const Reduced array =
      of_options("--array=0-3", "python a.py\nif [ $? -ne 0 ]; then exit 7; fi\npython b.py\n");
  CHECK(array.job_has("python a.py\nif [ $? -ne 0 ]; then exit 7; fi\npython b.py"));
  CHECK(of_nodes("srun python a.py\nif [ $? -ne 0 ]; then cp a b; fi\n").became("if [ $?") ==
        Became::lost);
  // What a line behind uses is set there.
  CHECK(of_one_node("python a.py\nRC=$?\nif [ $RC = 0 ]; then D=x; cp a $D; fi\nmv $D y\n")
            .job_has("fi\nmv $D y'''"));
  const Reduced again =
      of_one_node("python a.py\nif [ $? = 124 ]; then scontrol requeue $SLURM_JOB_ID; fi\n");
  CHECK_FALSE(again.job_has("requeue"));
  const Reduced says =
      of_one_node("python a.py\nif [ $? = 1 ]; then echo no requeue; cp a b; fi\n");
  CHECK(says.made.is_lossless());
  CHECK(says.job_has("echo no requeue; cp a b"));
}
