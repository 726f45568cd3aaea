// SPDX-License-Identifier: Apache-2.0
// Scripts that are close to a mistake, and what rules say of them.
#include "core/lint/lint.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace dts;
using namespace dts::lint;

namespace {

// What the rule says of a job of two nodes; empty: nothing.
std::string says(const std::string& rule, const std::string& body) {
  std::string messages;
  for (const Finding& one : lint_script("#!/bin/bash\n#SBATCH --nodes=2\n" + body, {}))
    if (one.rule->id == rule) messages += one.message + "\n";
  return messages;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a command that only the environment names may start something on all nodes") {
  const std::string prepare = "python prepare.py\n";
  CHECK(says("nodes-idle", prepare + "CMD=\"$LAUNCHER python train.py\"\neval $CMD\n").empty());
  CHECK(says("nodes-idle", prepare + "eval \"$CMD\"\n").empty());
  CHECK_FALSE(says("nodes-idle", prepare + "eval \"$(conda shell.bash hook)\"\n").empty());
  CHECK_FALSE(says("nodes-idle", prepare + "eval \"python train.py $ARGS\"\n").empty());
}

TEST_CASE("EFA needs no InfiniBand verbs") {
  const std::string off = "export NCCL_IB_DISABLE=1\nsrun prog\n";
  CHECK_FALSE(says("network-limited", off).empty());
  CHECK(says("network-limited", "export FI_PROVIDER=efa\n" + off).empty());
  CHECK(says("network-limited", "export FI_EFA_USE_DEVICE_RDMA=1\n" + off).empty());
  CHECK_FALSE(says("network-limited", "export FI_PROVIDER=tcp\n" + off).empty());
  CHECK_FALSE(says("network-limited", "export FI_PROVIDER=efa NCCL_P2P_DISABLE=1\n" + off).empty());
}

TEST_CASE("the exit code of a job is that of its last command") {
  CHECK(mentions(says("exit-lost", "srun python train.py\ncp -r a b\necho done\n"), "of `echo`,"));
  CHECK(mentions(says("exit-lost", "srun python train.py\necho done\nexit\n"), "of `echo`,"));
  CHECK(mentions(says("exit-lost", "srun python train.py\necho done\nexit 0\n"), "of `exit`,"));
  CHECK(mentions(says("exit-lost", "srun python train.py\necho a\nif b; then c; fi\n"),
                 "of what follows,"));
  CHECK(mentions(says("exit-lost", "srun python train.py\n\"stop.sh ; echo\ndone\" x\n"),
                 "of `stop.sh`,"));
}

TEST_CASE("a signal that nothing sends") {
  const std::string trap = "trap 'scontrol requeue $SLURM_JOB_ID' USR1\n";
  const std::string work = "srun python train.py &\nwait\n";
  CHECK(mentions(says("signal-misses-shell", trap + work), "nothing sends SIGUSR1 to this shell"));
  for (const std::string& body :
       {"#SBATCH --signal=B:USR1@60\n" + trap,
        trap + "(sleep 9; kill -USR1 $$) &\n",
        trap + "scancel -s USR1 -b $SLURM_JOB_ID\n",
        std::string("trap 'rm -f lock' EXIT TERM\n"),
        "srun bash -c \"" + std::string("trap 'touch x' USR1; ./a\"\n")}) {
    CAPTURE(body);
    CHECK(says("signal-misses-shell", body + work).empty());
  }
}

TEST_CASE("values of settings have any case of letters") {
  CHECK_FALSE(says("debug-left-on", "export NCCL_DEBUG=info\nsrun prog\n").empty());
  CHECK(says("debug-left-on", "export NCCL_DEBUG=warn\nsrun prog\n").empty());
}

TEST_CASE("deepspeed takes all GPUs of a node for each task") {
  const std::string tasks = "#SBATCH --ntasks-per-node=4 --gpus-per-node=4\n";
  CHECK(mentions(says("tasks-times-processes", tasks + "srun deepspeed train.py\n"),
                 "srun starts deepspeed 4 times"));
  CHECK(says("tasks-times-processes", tasks + "srun deepspeed --num_gpus 1 train.py\n").empty());
}

TEST_CASE("ranks without GPUs hide none from each other") {
  const std::string rule = "gpus-hidden-from-peers";
  const std::string tasks = "#SBATCH --ntasks-per-node=4\n";
  CHECK_FALSE(says(rule, tasks + "#SBATCH --gpus-per-task=1\nsrun prog\n").empty());
  CHECK(says(rule, tasks + "#SBATCH --gpus-per-task=0\nsrun prog\n").empty());
  CHECK(says(rule, tasks + "#SBATCH --gres=gpu:0 --gpu-bind=single:1\nsrun prog\n").empty());
  CHECK(says(rule, tasks + "#SBATCH --gpus=0 --gpu-bind=single:1\nsrun prog\n").empty());
  CHECK_FALSE(
      says(rule, tasks + "#SBATCH --gres=gpu:4,shm:0 --gpu-bind=single:1\nsrun prog\n").empty());
}

TEST_CASE("torchrun on several nodes that is told no address looks for the first rank on itself") {
  const std::string rule = "master-is-localhost";
  const std::string run = "srun torchrun --nnodes 2 --nproc_per_node 4 ";
  CHECK(mentions(says(rule, "export MASTER_ADDR=a\n" + run + "train.py\n"), "MASTER_ADDR"));
  CHECK_FALSE(says(rule, "srun python -m torch.distributed.run --nnodes=$N train.py\n").empty());
  CHECK_FALSE(says(rule, run + "--rdzv_backend c10d train.py\n").empty());
  for (const char* const body : {"--master-addr $A train.py\n",
                                 "--rdzv_endpoint $A:29500 train.py\n",
                                 "$ARGS train.py\n",
                                 "\"${ARGS[@]}\" train.py\n"}) {
    CAPTURE(std::string(body));
    CHECK(says(rule, run + body).empty());
  }
  CHECK(says(rule, "export PET_MASTER_ADDR=$A\n" + run + "train.py\n").empty());
  CHECK(says(rule, "srun torchrun --nproc_per_node 4 train.py\n").empty());
  CHECK(says(rule, "srun torchrun --nnodes 1 --nproc_per_node 4 train.py\n").empty());
}

TEST_CASE("a comment ends a continued command if lines behind it are indented as its own") {
  struct Row {
    const char* body;
    bool is_cut;
  };

  for (const Row& row : {Row{"srun prog \\\n  -a \\\n  # more\n  -b\n", true},
                         {"srun prog \\\n  -a \\\n  # more\n  # and more\n  \"$IMAGE\" x\n", true},
                         {"if x; then\n  srun prog \\\n    # -a\n  srun prog -b\nfi\n", false},
                         {"srun prog \\\n  -a \\\n  # -b\n\nsrun next\n", false},
                         {"srun prog \\\n  -a  # more\nsrun next\n", false},
                         {"srun prog \\\n  -a \\\n  # -b", false},
                         {"srun prog \\\n  > out \\\n  # more\n  -b\n", true},
                         {"case $1 in\na) srun prog \\\n    # more\n    ;;\nesac\n", false},
                         {"if x; then\nsrun prog \\\n  # more\n  fi\n", false},
                         {"{\nsrun prog \\\n  # more\n  }\n", false},
                         {"(\nsrun prog \\\n  # more\n  )\n", false},
                         {"{\n\tsrun prog \\\n\t\t# more\n        srun next\n}\n", false},
                         {"if x; then\n    srun prog \\\n\t# more\n\t-b\nfi\n", true}}) {
    CAPTURE(row.body);
    CHECK(mentions(says("line-cut-short", row.body), "a comment in a continued command") ==
          row.is_cut);
  }
}

TEST_CASE("a line that begins with an option has lost the end of the line before") {
  const auto is_cut = [](const std::string& body) {
    return mentions(says("line-cut-short", body), "begins with an option");
  };
  CHECK(is_cut("srun prog \\\n  -a\n  --b 1 \\\n  -c\n"));
  CHECK(is_cut("if x; then\n  srun prog\n    -b=1\nfi\n"));
  CHECK(is_cut("srun prog \\\n  -a \\\n\n  --b\n"));
  CHECK(is_cut("srun prog\n# more\n  --b\n"));
  const std::string several = says("line-cut-short", "srun prog\n  --b\n  --c 1\n  --d\n");
  REQUIRE(several.find("option") != several.npos);
  CHECK(several.find("option") == several.rfind("option"));
  for (const char* whole : {"srun prog \\\n  --b\n",
                            "srun prog\n- x\n",
                            "srun prog; --b\n",
                            "cat <<E\n--b\nE\n",
                            "ARGS=(\n  --a\n  --b\n)\n",
                            "A=\"\n--b\n\"\n",
                            "case $1 in\n--b) srun prog;;\nesac\n"}) {
    CAPTURE(std::string(whole));
    CHECK_FALSE(is_cut(whole));
  }
}

TEST_CASE("lines of options that sbatch refuses, or that are still open") {
  CHECK(mentions(says("unknown-option", "#SBATCH --hetjob\n"), "no option --hetjob"));
  CHECK(says("unknown-option", "#SBATCH hetjob\n").empty());
  CHECK(mentions(says("directive-misspelt", "!#SBATCH --mem=1G\nsrun prog\n"), "does not exist"));
  CHECK(says("placeholder-left", "#SBATCH <OPTIONS OF SLURM> -n 4\n") ==
        "options are still to be filled in\n");
  CHECK(says("placeholder-left", "#SBATCH --comment=\"<deadline>\"\n").empty());
  CHECK(says("placeholder-left", "#SBATCH --account=[account]\n#SBATCH -p [queue]\n") ==
        "the value of --account is still to be filled in\n"
        "the value of --partition is still to be filled in\n");
}

TEST_CASE("arguments of the training script are not options of torchrun") {
  struct Row {
    const char* words;
    bool is_reported;
  };

  for (const Row& row :
       {Row{"torchrun --node_rank '$SLURM_NODEID' train.py", true},
        {"python -m torch.distributed.run --node_rank '$SLURM_NODEID' train.py", true},
        {"torchrun train.py --node_rank '$SLURM_NODEID'", false},
        {"torchrun -m pkg --node_rank '$SLURM_NODEID'", false},
        {"python -m torch.distributed.run -m pkg --node_rank '$SLURM_NODEID'", false}}) {
    CAPTURE(row.words);
    CHECK(says("rank-not-expanded", "srun " + std::string(row.words) + "\n").empty() !=
          row.is_reported);
  }
}
