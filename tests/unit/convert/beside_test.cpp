// SPDX-License-Identifier: Apache-2.0
// Steps that a script starts at the same time on parts of a node: roles beside each other, or none.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

namespace {

Reduced of_job(const std::string& options, const std::string& body) {
  return Reduced("#!/bin/bash\n#SBATCH " + options + "\n" + body);
}

const std::string k_two = "srun -n1 --exact ./a &\nA=$!\nsrun -n1 --exact ./b &\nB=$!\n";

constexpr const char* k_no_room = "more steps than the job has room for at once: write a sweep";

}  // namespace

TEST_CASE("what a script does once before its steps is not done by several set-ups") {
  for (const std::string line : {"rm -rf out; mkdir out",
                                 "mkdir out",
                                 "tar -xf data.tar",
                                 "cp -r data /tmp/data",
                                 "echo lr: 1 > config.yaml",
                                 "sed -i s/a/b/ config.yaml",
                                 "[ -d out ] && rm -rf out",
                                 "N=$(./prepare)",
                                 "conda create -n x",
                                 "prepare() { rm -rf out; }\nprepare"}) {
    CAPTURE(line);
    const Reduced made = of_job("-N1 -n2", line + "\n" + k_two + "wait\n");
    CHECK_FALSE(made.job_has("[[roles]]"));
    CHECK(made.job_has("./a &"));
    CHECK(made.made.is_lossless());
  }
  const Reduced harmless = of_job(
      "-N1 -n2",
      "module load x\nsource env/bin/activate\nmkdir -p out\nln -sf x y\nexport A=1\nulimit -s "
      "unlimited\nsay() { echo \"$1\"; }\nsay x\nconda activate x\n" +
          k_two + "wait\n");
  CHECK(harmless.made.is_lossless());
  CHECK(harmless.job_has("beside = \"a\""));
}

TEST_CASE("a step that the script ends is a service, whose end nobody waits for") {
  const std::string server =
      "srun -n1 --exact ./serve &\nS=$!\nsrun -n1 --exact ./quick\nkill $S\n";
  for (const std::string end : {"", "wait $S\n", "wait\n"}) {
    CAPTURE(end);
    const Reduced made = of_job("-N1 -n2", server + end);
    CHECK_FALSE(made.job_has("[[roles]]"));
    CHECK(made.job_has("./serve &\nS=$!\n./quick'''"));
  }
  CHECK_FALSE(of_job("-N1 -n2", k_two + "wait $B\nkill $A\nwait\n").made.is_lossless());
  for (const std::string line : {"trap 'kill $A' EXIT", "pkill b", "end() { kill $A; }"})
    CHECK_FALSE(of_job("-N1 -n2", k_two + line + "\nwait\n").job_has("[[roles]]"));
  CHECK(of_job("-N1 -n2", k_two + "kill -0 $A\nwait\n").job_has("[[roles]]"));
}

TEST_CASE("steps with ranks that the script numbers are one training") {
  const std::string loop =
      "for r in 0 1; do\n  RANK=$r WORLD_SIZE=2 srun -n1 --exact --gres=gpu:1 python a.py &\n"
      "done\nwait\n";
  CHECK_FALSE(of_job("-N1 -n2 --gres=gpu:2", loop).made.is_lossless());
  const std::string hand =
      "NODE_RANK=0 srun -n1 --exact python a.py &\nNODE_RANK=1 srun -n1 --exact python a.py &\n"
      "wait\n";
  const Reduced made = of_job("-N1 -n2", hand);
  CHECK_FALSE(made.job_has("[[roles]]"));
  CHECK(made.says("NODE_RANK=0", "part of a training"));
  CHECK_FALSE(of_job("-N1 -n2", "export MASTER_ADDR=x\n" + k_two + "wait\n").job_has("[[roles]]"));
  // Independent ones, each with a port of its own.
  const std::string ports =
      "for i in 1 2; do\n  MASTER_PORT=2950$i srun -n1 --exact python a.py $i &\ndone\nwait\n";
  CHECK(of_job("-N1 -n2", ports).job_has("beside"));
}

TEST_CASE("steps for which the job has no room at once are not started at once") {
  const std::string loop =
      "for g in 0 1 2 3 4 5; do srun -n1 --exact --mem=5G ./a $g & done; wait\n";
  for (const std::string options : {"-N1 -n2 --mem=10G", "-N1 -n6 --mem=10G", "-N1 -n2"})
    CHECK_FALSE(of_job(options, loop).made.is_lossless());
  CHECK(of_job("-N1 -n6 --mem=30G", loop).job_has("beside = \"a\""));
  const Reduced three = of_job("-N1 -n2", k_two + "srun -n1 --exact ./c &\nwait\n");
  CHECK(three.says("srun -n1 --exact ./c", k_no_room));
  const std::string memory =
      "srun -n1 --exact --mem=8G ./a &\nsrun -n1 --exact --mem=8G ./b &\nwait\n";
  CHECK(of_job("-N1 -n2 --mem=10G", memory).says("srun -n1 --exact --mem=8G ./b", k_no_room));
  CHECK(
      of_job("-N1 -n2 --mem-per-cpu=5G", memory).says("srun -n1 --exact --mem=8G ./b", k_no_room));
  CHECK(of_job("-N1 -n2 --mem=16G", memory).made.is_lossless());
  CHECK(of_job("-N1 -n2", memory).made.is_lossless());
  // Steps that share cores on purpose, or cores that the job has beyond its tasks.
  const std::string shared = "srun -n1 --overlap ./a &\nsrun -n1 --overlap ./b &\nwait\n";
  CHECK(of_job("-N1 -n1", shared).made.is_lossless());
  CHECK(of_job("-N1 -n1 -c8", k_two + "wait\n").made.is_lossless());
}

TEST_CASE("the others end with a step whose failure ends the script") {
  const std::string ids = "IDS=($A $B)\n";
  for (const std::string end : {"wait $A || exit 1\nwait $B\n",
                                "wait $A\nif [ $? -ne 0 ]; then exit 1; fi\nwait $B\n",
                                "wait $A && wait $B\n",
                                "set -e\nwait $A\nwait $B\n",
                                "for p in $A $B; do wait $p || exit 1; done\n"}) {
    CAPTURE(end);
    const Reduced made = of_job("-N1 -n2", k_two + end);
    CHECK(made.job_has("beside"));
    CHECK_FALSE(made.job_has("on_failure"));
  }
  for (const std::string end : {"wait\n",
                                "wait $A $B\n",
                                "set -e\nwait\n",
                                "set -e\nwait $A || true\nwait $B\n",
                                "wait $A || F=1\nwait $B || F=1\nexit $F\n",
                                "for p in $A $B; do wait $p || F=1; done\nexit $F\n"}) {
    CAPTURE(end);
    CHECK(of_job("-N1 -n2", k_two + end).job_has("on_failure = \"none\""));
  }
}

TEST_CASE("a step of several tasks that does not name one node may be on several") {
  const std::string two = "srun -n2 --exact ./a &\nsrun -n2 --exact ./b &\nwait\n";
  CHECK_FALSE(of_job("-N2 --ntasks-per-node=4", two).made.is_lossless());
  CHECK(of_job("-N1 --ntasks-per-node=4", two).job_has("beside"));
  const std::string named = "srun -N1 -n2 --exact ./a &\nsrun -N1 -n2 --exact ./b &\nwait\n";
  CHECK(of_job("-N2 --ntasks-per-node=4", named).job_has("beside"));
  const std::string each = "srun --ntasks-per-node=1 ./a &\nsrun --ntasks-per-node=1 ./b &\nwait\n";
  CHECK_FALSE(of_job("-N2 --ntasks-per-node=4", each).job_has("beside"));
}

TEST_CASE("numbers of nodes that no job has") {
  for (const std::string nodes : {"99999999999", "400000000", "0"}) {
    CAPTURE(nodes);
    CHECK(of_job("-N" + nodes + " -n2", k_two + "wait\n").became("-N") == Became::lost);
    CHECK(of_job("-N" + nodes + " -n2", "srun -n1 ./b &\n./x\n").became("-N") == Became::lost);
  }
}

TEST_CASE("a step without GPUs beside one that has them") {
  for (const std::string none : {"--gres=gpu:0", "--gres=none", "--gpus=0"}) {
    CAPTURE(none);
    const Reduced made = of_job("-N1 -n2 --gres=gpu:1",
                                "srun -n1 --gres=gpu:1 ./a &\nsrun -n1 " + none + " ./b &\nwait\n");
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("beside = \"a\""));
    CHECK_FALSE(made.job_has("gres = \"none\""));  // which would leave it the job's
  }
  const std::string loop = "for i in 1 2 3 4; do srun -n1 --gpus=1 ./a $i & done; wait\n";
  const Reduced four = of_job("-n4 --gpus=4", loop);
  CHECK(four.made.is_lossless());
  CHECK(four.job_has("name = \"a-4\""));
  CHECK_FALSE(four.job_has("teardown"));
  CHECK_FALSE(of_job("-n4 --gpus=3", loop).made.is_lossless());
}

TEST_CASE("functions that start programs in the background") {
  const Reduced made = of_job("-N1 -n2 --gres=gpu:2",
                              "run() { srun -n1 --exact --gres=gpu:1 \"$@\" & }\n"
                              "run ./a\nrun ./b\nwait\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("beside = \"a\""));
  // Which cannot be written out.
  const Reduced shifted =
      of_job("-N1 -n1",
             "launch() { local n=$1; shift; srun -n1 ./train $n \"$@\" & }\nlaunch 1 x\nwait\n");
  CHECK_FALSE(shifted.made.is_lossless());
  const Reduced waiting = of_job("-N1 -n1", "both() { shift; ./a & ./b $1 & wait; }\nboth 1 2\n");
  CHECK(waiting.made.is_lossless());
}

TEST_CASE("a step has the GPUs that Slurm gives it, whatever the script says before it") {
  const std::string loop =
      "for i in 0 1; do CUDA_VISIBLE_DEVICES=$i srun -n1 --gres=gpu:1 ./a $i & done; wait\n";
  const Reduced made = of_job("-N1 -n2 --gres=gpu:2", loop);
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("command = [\"./a\", \"1\"]"));
  CHECK_FALSE(made.job_has("CUDA_VISIBLE_DEVICES"));
  CHECK_FALSE(of_job("-N1 -n1 --gres=gpu:2", "srun --export=ALL,CUDA_VISIBLE_DEVICES=1 ./a\n")
                  .job_has("VISIBLE"));
  // Behind srun it is the program's own choice, and without GPUs of Slurm's the script's.
  CHECK(of_job("-N1 -n1 --gres=gpu:2", "srun env CUDA_VISIBLE_DEVICES=1 ./a\n").job_has("VISIBLE"));
  CHECK(of_job("-N1 -n1", "CUDA_VISIBLE_DEVICES=1 srun ./a\n").job_has("VISIBLE"));
  CHECK(of_job("-N1 -n1 --gres=gpu:2", "CUDA_VISIBLE_DEVICES=1 ./a\n").job_has("VISIBLE"));
}

TEST_CASE("processes that a step starts are those of its own GPUs") {
  const auto steps = [](const std::string& processes) {
    const std::string step = "srun -n1 --gpus=1 torchrun --nproc-per-node " + processes;
    return of_job("-N1 -n2 --gres=gpu:2", step + " a.py &\n" + step + " b.py &\nwait\n");
  };
  CHECK(steps("1").job_has("beside = \"a\""));
  CHECK_FALSE(steps("2").made.is_lossless());
}

TEST_CASE("lines that the script runs while its steps do are no tear-down") {
  const Reduced made = of_job("-N1 -n2", k_two + "cp log x\nwait\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("./b &\nB=$!\ncp log x\nwait"));
  CHECK(of_job("-N1 -n2", k_two + "wait\ncp log x\n").job_has("beside = \"a\""));
}

TEST_CASE("lines among the turns of a loop have the values of their turn") {
  for (const std::string line :
       {"cp in.dat run$i", "mkdir -p run$i; cd run$i", "echo run $i >> log.txt"}) {
    CAPTURE(line);
    const Reduced made = of_job(
        "-N1 -n4",
        "for i in 1 2 3 4; do\n  " + line + "\n  srun -n1 --exact ./a run$i &\ndone\nwait\n");
    CHECK_FALSE(made.made.is_lossless());
  }
  const std::string seeds =
      "for i in 1 2 3; do\n  export SEED=$i\n  srun -n1 --exact ./a &\ndone\nwait\n";
  CHECK(of_job("-N1 -n3", seeds).job_has("beside = \"a\""));
  CHECK_FALSE(of_job("-N1 -n1 -c3", seeds).made.is_lossless());
  const Reduced one = of_job("-N1 -n2",
                             "R=run\nsrun -n1 --exact ./a &\ncp b.dat $R\n" +
                                 std::string("srun -n1 --exact ./b &\nwait\n"));
  CHECK(one.made.is_lossless());
  CHECK(one.job_has("./a &\ncp b.dat $R\n./b &"));
}
