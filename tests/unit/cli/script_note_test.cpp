// SPDX-License-Identifier: Apache-2.0
// Shell scripts that stay between a rank and its program, and those that do not.
#include "cli/output/script_note.hpp"

#include "core/base/files/files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace {

using namespace dts;

}  // namespace

TEST_CASE("a script without exec and without a trap keeps its shell") {
  struct Row {
    const char* script;
    bool keeps;
  };

  for (const Row& row : {
           Row{"#!/bin/bash\n# sets things up\nsource env.sh\npython train.py \"$@\"\n", true},
           {"#!/bin/bash\nsource env.sh\nexec python train.py\n", false},
           {"source env.sh && exec python train.py", false},
           {"source env.sh && python train.py", true},
           {"python train.py | tee log", true},
           {"python train.py", false},  // bash does that with exec by itself
           {"#!/bin/sh\npython train.py\n", false},
           {"trap 'kill -TERM $!' TERM\npython train.py &\nwait\n", false},
           {"cd /x\n# exec python\npython exec.py\n", true},
           {"", false},
       }) {
    CAPTURE(row.script);
    CHECK(cli::keeps_a_shell(row.script) == row.keeps);
  }
}

TEST_CASE("a note is given for scripts only, by whatever name they are run") {
  const tests::TemporaryFolder folder;
  const std::string wrapper = folder.file("train.sh");
  REQUIRE(write_file(wrapper, "#!/usr/bin/env bash\nulimit -n 4096\npython train.py\n", 0755));
  const std::string program = folder.file("train.py");
  REQUIRE(write_file(program, "#!/usr/bin/env python3\nprint(1)\nprint(2)\n", 0755));
  CHECK(cli::script_note({wrapper, "--x"}).find("train.sh is a shell script") != std::string::npos);
  CHECK_FALSE(cli::script_note({"bash", wrapper}).empty());
  CHECK_FALSE(cli::script_note({"bash", "-e", wrapper}).empty());
  CHECK(cli::script_note({"bash", "-c", "a; b"}).find("bash -c is a shell script") !=
        std::string::npos);
  CHECK(cli::script_note({"bash", "-c", "python train.py"}).empty());
  CHECK(cli::script_note({program}).empty());
  CHECK(cli::script_note({"/bin/sleep", "1"}).empty());
  CHECK(cli::script_note({"bash", folder.file("absent")}).empty());
  CHECK(cli::script_note({}).empty());
}

TEST_CASE(
    "a tee that a stop kills before the program has saved is named, not one that ignores it") {
  const auto names_tee = [](const char* script) {
    return cli::script_note({"bash", "-c", script}).find("through tee") != std::string::npos;
  };
  CHECK(names_tee("set -o pipefail; python3 train.py 2>&1 | tee log"));
  CHECK_FALSE(names_tee("set -o pipefail; python3 train.py | (trap '' TERM; exec tee log)"));
  CHECK(names_tee("trap 'rm -rf x' EXIT; python3 train.py | /usr/bin/tee log"));
  CHECK(names_tee("python3 train.py 2>&1 | stdbuf -oL tee log"));
  CHECK_FALSE(names_tee("python3 tee.py; exec python3 train.py tee"));
  CHECK_FALSE(names_tee("cat conf | tee copy >/dev/null; exec python3 train.py"));
  CHECK_FALSE(names_tee("echo 'a; tee b'; exec python3 train.py"));
  CHECK_FALSE(names_tee("exec python3 train.py # | tee log"));
}

TEST_CASE("a shell that exits with 0 whatever becomes of its program is reported") {
  struct Row {
    const char* text;
    const char* note;
  };

  for (const Row& row : {
           Row{"python3 train.py 2>&1 | tee log", "bash -c: a pipeline hides the exit code"},
           {"set -o pipefail; python3 train.py | tee log", ""},
           {"python3 train.py &", "its last command runs in the background; end the script with"},
           {"python3 train.py; echo done", "a failure of the training looks like success"},
           {"python3 train.py", ""},
       }) {
    const std::string note = cli::script_note({"bash", "-c", row.text});
    CAPTURE(row.text);
    CAPTURE(note);
    CHECK((note.find("note: bash -c: ") != std::string::npos) == (*row.note != '\0'));
    CHECK(note.find(row.note) != std::string::npos);
  }
}

TEST_CASE("a variable of the ranks that no shell replaces is reported") {
  using Command = std::vector<std::string>;
  for (const Command& command : {Command{"python3", "train.py", "--rank", "$RANK"},
                                 Command{"./a", "--init=tcp://${MASTER_ADDR}:29500"},
                                 Command{"./a", "$SLURM_PROCID"}})
    CHECK(cli::script_note(command).find("gets `" + command.back() + "` as it stands") !=
          std::string::npos);
  for (const Command& command : {Command{"python3", "train.py", "$HOME", "$", "${"},
                                 Command{"apptainer", "exec", "i", "bash", "-c", "./a $RANK"},
                                 Command{"bash", "train.sh", "$RANK"},
                                 Command{"script", "-c", "./a $RANK", "log"},
                                 Command{"perl", "-e", "print $ENV{RANK}"}})
    CHECK(cli::script_note(command).find("as it stands") == std::string::npos);
}

TEST_CASE("a batch script is named where a program stands, and where none can") {
  const tests::TemporaryFolder folder;
  const std::string script = folder.file("train.sbatch");
  REQUIRE(write_file(script, "#!/bin/bash\n#SBATCH -N 2\nsrun python train.py\n", 0755));
  const std::string command =
      "`dtsubmit convert " + script + " -o " + folder.file("train.toml") + "`";
  for (const std::string& said : {cli::script_note({script}),
                                  cli::script_note({"bash", script}),
                                  cli::help_for_stray_word(script)}) {
    CAPTURE(said);
    CHECK(said.find("batch script") != std::string::npos);
    CHECK(said.find(command) != std::string::npos);
  }
  CHECK(cli::script_note({"bash", "-c", "sbatch <<E\n#SBATCH -N 2\nE"}).find("batch script") ==
        std::string::npos);
  CHECK(cli::help_for_stray_word("train.py").find("after `--`") != std::string::npos);
}

TEST_CASE("neither a pipe nor a file of gigabytes is read for a note") {
  const tests::TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0700) == 0);
  CHECK(cli::script_note({pipe}).empty());
  CHECK(cli::script_note({"bash", pipe}).empty());
  const std::string image = folder.file("image.sif");
  REQUIRE(write_file(image, "#!/bin/bash\na\nb\n", 0755));
  REQUIRE(::truncate(image.c_str(), off_t{1} << 36) == 0);
  CHECK(cli::script_note({image}).empty());
}

TEST_CASE("a launcher in a script is compared with the layout in which the script runs") {
  struct Row {
    const char* line;
    unsigned ranks_of_node;
    unsigned workers;  // with --per-node
    std::string_view note;
  };

  const tests::TemporaryFolder folder;
  plan::Plan plan;
  plan.nodes = 2;
  plan.gpus_per_node = 2;
  plan.command = {folder.file("train.sh")};
  constexpr std::string_view k_alone = "without knowing about the others";
  constexpr std::string_view k_lost = "would not find the other nodes";
  const auto note_on = [&](const Row& row) {
    const std::string text = fmt::format("#!/bin/bash\nset -ex\n{}\n", row.line);
    REQUIRE(write_file(plan.command[0], text, 0755));
    plan.ntasks_per_node = row.ranks_of_node;
    plan.workers_per_task = row.workers;
    return cli::launcher_note(plan);
  };
  for (const Row& row : {
           Row{"torchrun t.py", 2, 0, "--per-node runs the script once on each node"},
           Row{"if true; then X=y torchrun --nproc_per_node=${N:-8} -m t; fi",
               2,
               0,
               "each of the 2"},
           Row{"torchrun --nproc_per_node=2 t.py", 1, 0, k_alone},
           Row{"torchrun --rdzv_backend c10d --rdzv_endpoint=localhost:0 t.py",
               1,
               2,
               "omit --rdzv-backend, --rdzv-endpoint: torchrun learns"},
           Row{"torchrun --nnodes 2 --master_addr localhost t.py",
               1,
               0,
               "omit --nnodes, --master-addr and add --per-node"},
           Row{"torchrun --rdzv_backend c10d t.py", 1, 2, k_lost},
           Row{"torchrun --rdzv_backend c10d t.py", 1, 2, "; omit --rdzv-backend: torchrun"},
           Row{"torchrun --nnodes 2 t.py",
               1,
               0,
               "without --master-addr would not find the other nodes; omit --nnodes and add "
               "--per-node: torchrun learns"},
           Row{"torchrun --nnodes 2 --rdzv_backend=c10d t.py",
               1,
               0,
               "omit --nnodes, --rdzv-backend and add --per-node"},
           Row{"torchrun --nnodes 2 --master_addr $MASTER_ADDR t.py",
               1,
               0,
               "without --node-rank would take each of 2 nodes"},
           Row{"torchrun t.py", 1, 0, "the others; add --per-node: torchrun"},
           Row{"deepspeed --hostfile hosts --num_gpus 2 t.py",
               1,
               2,
               "with --hostfile starts the processes of all hosts, and each of 2 nodes would start "
               "it; write torchrun in its place"},
           Row{"horovodrun -np 4 -H a:2,b:2 python t.py", 1, 2, "with -H starts the processes"},
           Row{"accelerate launch --num_machines 2 --machine_rank $NODE_RANK --main_process_ip "
               "$MASTER_ADDR --main_process_port $MASTER_PORT t.py",
               1,
               2,
               "is not told how many processes to start on 2 nodes; write: --num_processes=4"},
           Row{"C='accelerate launch'\n$C t.py", 1, 2, "write: --num_machines=2"},
           Row{"deepspeed t.py", 1, 2, "write torchrun in its place"},
           Row{"mpirun -n 2 python t.py", 2, 0, "would start 4 of it"},
           Row{"torchrun --standalone $OPTIONS t.py", 1, 0, k_alone},
           Row{"if true; then PET_NNODES=2 torchrun t.py; fi", 2, 0, "each of the 2"},
           Row{"torchrun --nnodes 4 --node_rank $NODE_RANK --master_addr $HEAD t.py",
               1,
               0,
               "omit --nnodes, --node-rank, --master-addr and add --per-node"},
           Row{"ray start --head", 1, 0, "two roles"},
           Row{"[ -f data ] || exit 1\ntorchrun t.py", 1, 0, k_alone},
       }) {
    CAPTURE(row.line);
    CHECK(note_on(row).find(row.note) != std::string::npos);
  }
  for (const Row& row : {
           Row{"torchrun --nproc_per_node 1 t.py", 2, 0, ""},
           Row{"torchrun --nproc_per_node 2 t.py", 1, 2, ""},
           Row{"torchrun --standalone t.py", 1, 2, ""},  // --per-node asks for one on each node
           Row{"torchrun --nnodes $N --node_rank $RANK --master_addr $MASTER_ADDR t.py", 1, 0, ""},
           Row{"torchrun --rdzv_backend c10d --rdzv_endpoint $HEAD:29500 t.py", 1, 2, ""},
           Row{"A=localhost\nif x; then A=n1; fi\ntorchrun --nnodes 2 --rdzv_endpoint $A t.py",
               1,
               2,
               ""},
           Row{"[ $RANK = 0 ] && mpirun hostname", 2, 0, ""},
           Row{"if [ $SLURM_LOCALID = 0 ]; then torchrun --standalone t.py; fi", 2, 0, ""},
           Row{"N=${SLURM_NNODES:-1}\nif [ $N = 1 ]; then torchrun --standalone t.py\n"
               "else torchrun --nnodes $N --node_rank $R --master_addr $A t.py; fi",
               1,
               0,
               ""},
           Row{"[ $SLURM_LOCALID = 0 ] || exit 0\ntorchrun --nproc_per_node 2 t.py", 2, 0, ""},
           Row{"case $SLURM_NNODES in 1) torchrun --standalone t.py;; esac", 1, 0, ""},
           Row{"if [ $NODE_RANK = 0 ]; then ray start --head\n"
               "else ray start --address $MASTER_ADDR:6379; fi",
               1,
               0,
               ""},
           Row{"ray start --block --address $HEAD:6379", 1, 0, ""},
           Row{"torchrun \"$@\"", 1, 0, ""},
           Row{"torchrun $OPTIONS t.py", 1, 0, ""},
           Row{"if x; then A=--standalone; else A='--nnodes 2'; fi\ntorchrun $A t.py", 1, 0, ""},
           Row{"export PET_NNODES=2 PET_NODE_RANK=$R PET_MASTER_ADDR=$A\ntorchrun t.py", 1, 0, ""},
           Row{"PET_NNODES=2 PET_NODE_RANK=$R PET_MASTER_ADDR=$A torchrun t.py", 1, 0, ""},
           Row{"env PET_NNODES=2 PET_NODE_RANK=$R torchrun t.py", 1, 0, ""},
           Row{"export NNODES=2\nllamafactory-cli train a.yaml", 1, 0, ""},
           Row{"torchrun --nnodes=$N --rdzv_backend=c10d --rdzv_endpoint=$(scontrol show hostnames "
               "$SLURM_JOB_NODELIST | head -n 1):29500 t.py",
               1,
               2,
               ""},
           Row{"accelerate launch --num_machines 2 --machine_rank $R --main_process_ip $A "
               "--num_processes 4 t.py",
               1,
               2,
               ""},
           Row{"torchrun --nnodes 2 --rdzv_backend c10d --rdzv_endpoint $HEAD:1 t.py", 1, 0, ""},
           Row{"deepspeed --hostfile hosts --no_ssh --node_rank $R --master_addr $A t.py",
               1,
               2,
               ""},
           Row{"accelerate launch --config_file node-$R.yaml t.py", 1, 2, ""},
           Row{"mpirun --version", 2, 0, ""},
           Row{"sbatch next.sh", 2, 0, ""},
           Row{"python t.py", 2, 0, ""},
       }) {
    CAPTURE(row.line);
    CHECK(note_on(row).empty());
  }
}
