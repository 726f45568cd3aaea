// SPDX-License-Identifier: Apache-2.0
// Programs that start processes of their own, wherever in the command they are.
#include "core/plan/layout/own_launcher.hpp"

#include "core/plan/layout/launcher_words.hpp"
#include "core/plan/layout/shell_words.hpp"
#include "tests/unit/plan/requests.hpp"

namespace dts::plan {
namespace {

using Kind = OwnLauncher::Kind;
using Words = std::vector<std::string>;

std::vector<Words> shell_commands(std::string_view text) {
  std::vector<Words> all;
  for (ShellCommand& command : split_shell(text)) {
    REQUIRE(command.ends.size() == command.words.size());
    for (const std::size_t end : command.ends) REQUIRE(end <= text.size());
    all.push_back(std::move(command.words));
  }
  return all;
}

Words node_command(const spec::JobSpec& spec, unsigned node_rank) {
  const Plan plan = planned(spec);
  Placement placement;
  placement.rank = placement.node_rank = node_rank;
  return command_of_rank(
      plan, find_own_launcher(plan.command), placement, {"10.0.0.1", 4711, {}, {}, "", ""});
}

}  // namespace

TEST_CASE("a launcher is found bare, as a module, behind other programs and in a shell's text") {
  struct Case {
    Words command;
    Kind kind;
    const char* wrapper = "";
  };

  for (const Case& c : {
           Case{{"torchrun", "train.py"}, Kind::torchrun},
           Case{{"/opt/env/bin/torchrun", "train.py"}, Kind::torchrun},
           Case{{"python3.11", "-u", "-m", "torch.distributed.run", "train.py"}, Kind::torchrun},
           Case{{"python", "/usr/bin/torchrun", "train.py"}, Kind::torchrun},
           Case{{"uv", "run", "torchrun", "train.py"}, Kind::torchrun, "uv run"},
           Case{{"uv", "--quiet", "run", "--with", "torch", "--", "torchrun", "t.py"},
                Kind::torchrun,
                "uv run"},
           Case{{"env", "-u", "HOME", "A=1", "torchrun", "t.py"}, Kind::torchrun, "env"},
           Case{{"conda", "run", "-n", "ml", "--no-capture-output", "torchrun", "t.py"},
                Kind::torchrun,
                "conda run"},
           Case{{"singularity", "exec", "--nv", "-B", "/data", "image.sif", "torchrun", "t.py"},
                Kind::torchrun,
                "singularity exec"},
           Case{{"apptainer", "exec", "image.sif", "bash", "-c", "cd /w && torchrun t.py"},
                Kind::torchrun,
                "apptainer exec bash -c"},
           Case{{"bash", "-lc", "source env.sh; A=1 exec torchrun t.py"},
                Kind::torchrun,
                "bash -c exec"},
           Case{{"bash", "-c", "if true; then\n  torchrun t.py\nfi"}, Kind::torchrun, "bash -c"},
           Case{{"sh", "-c", "python prepare.py && python -m torch.distributed.launch t.py"},
                Kind::torchrun,
                "sh -c"},
           Case{{"nsys", "profile", "-o", "out", "numactl", "-N", "0", "torchrun", "t.py"},
                Kind::torchrun,
                "nsys profile numactl"},
           Case{{"timeout", "-k", "5", "1h", "torchrun", "t.py"}, Kind::torchrun, "timeout"},
           Case{{"accelerate", "launch", "train.py"}, Kind::node},
           Case{{"uv", "run", "accelerate", "launch", "t.py"}, Kind::node, "uv run"},
           Case{{"python", "-m", "accelerate.commands.launch", "t.py"}, Kind::node},
           Case{{"deepspeed", "--num_gpus", "8", "t.py"}, Kind::node},
           Case{{"bash", "-c", "mpirun -n 8 ./a.out"}, Kind::other, "bash -c"},
           Case{{"srun", "python", "t.py"}, Kind::other},
           Case{{"composer", "-n", "8", "train.py"}, Kind::node},
           Case{{"tune", "run", "--nproc_per_node", "8", "full_finetune_distributed"},
                Kind::torchrun},
           Case{{"fabric", "run", "train.py"}, Kind::node},
           Case{{"lightning", "run", "model", "train.py"}, Kind::node},
           Case{{"horovodrun", "-np", "8", "python", "t.py"}, Kind::node},
           Case{{"ray", "job", "submit", "--", "python", "t.py"}, Kind::node},
           Case{{"/usr/bin/mpirun", "-n", "8", "./a.out"}, Kind::other},
           Case{{"mamba", "run", "-n", "ml", "torchrun", "t.py"}, Kind::torchrun, "mamba run"},
           Case{{"poetry", "run", "python", "-m", "torch.distributed.run", "t.py"},
                Kind::torchrun,
                "poetry run"},
           Case{{"uv", "run", "-m", "torch.distributed.run", "t.py"}, Kind::torchrun, "uv run"},
           Case{{"uv", "run", "--module", "torch.distributed.run"}, Kind::torchrun, "uv run"},
           Case{{"singularity", "run", "--nv", "--env", "A=b,C=d", "/i.sif", "torchrun", "t.py"},
                Kind::torchrun,
                "singularity run"},
           Case{{"apptainer",
                 "exec",
                 "--mount",
                 "type=bind,src=/a,dst=/b",
                 "--hostname",
                 "h",
                 "docker://pytorch",
                 "torchrun"},
                Kind::torchrun,
                "apptainer exec"},
           Case{{"ncu", "--target-processes", "all", "-o", "x", "torchrun", "t.py"},
                Kind::torchrun,
                "ncu"},
           Case{{"time", "-p", "stdbuf", "-oL", "nice", "-n", "5", "timeout", "5h", "torchrun"},
                Kind::torchrun,
                "time stdbuf nice timeout"},
           Case{{"xvfb-run", "-a", "-s", "-screen 0 1x1x24", "torchrun"},
                Kind::torchrun,
                "xvfb-run"},
           Case{{"numactl", "--cpunodebind", "0", "--membind=0", "torchrun"},
                Kind::torchrun,
                "numactl"},
           Case{{"bash", "-euo", "pipefail", "-c", "torchrun t.py"}, Kind::torchrun, "bash -c"},
           Case{{"sh", "-lc", "A=b torchrun t.py 2>&1 | tee log"}, Kind::torchrun, "sh -c"},
           Case{{"bash", "-c", "torchrun 'open"}, Kind::torchrun, "bash -c"},
           Case{{"bash", "-c", "echo \"; torchrun t.py"}, Kind::none},
           Case{{"bash", "-c", ""}, Kind::none},
           Case{{"bash", "-c"}, Kind::none},
           Case{{"bash", "-o", "pipefail"}, Kind::none},
           Case{{"", "torchrun"}, Kind::none},
           Case{{"timeout", "5h"}, Kind::none},
           Case{{"singularity", "exec", "image.sif"}, Kind::none},
           Case{{"uv", "run", "-m"}, Kind::none},
           Case{{"python", "-m"}, Kind::none},
           Case{{"composer.py"}, Kind::none},
           Case{{"ray", "status"}, Kind::none},
           Case{{"tune", "ls"}, Kind::none},
           // None of these starts a launcher for certain.
           Case{{"python3", "train.py", "torchrun"}, Kind::none},
           Case{{"python3", "-c", "import torchrun"}, Kind::none},
           Case{{"conda", "run", "-n", "torchrun", "python", "t.py"}, Kind::none},
           Case{{"accelerate", "config"}, Kind::none},
           Case{{"bash", "-c", "echo torchrun is not here # torchrun"}, Kind::none},
           Case{{"bash", "-c", "echo 'a; torchrun t.py'"}, Kind::none},
           Case{{"bash", "train.sh", "-c", "torchrun"}, Kind::none},
           Case{{"./torchrun.sh"}, Kind::none},
           Case{{"uv", "pip", "install", "torchrun"}, Kind::none},
           Case{{"env"}, Kind::none},
           Case{{}, Kind::none},
       }) {
    CAPTURE(c.command);
    const OwnLauncher found = find_own_launcher(c.command);
    CHECK(found.kind == c.kind);
    CHECK(found.wrapper == c.wrapper);
  }
}

TEST_CASE("commands in a shell's text end where the shell ends them") {
  CHECK(shell_commands("a 'b c' \"d \\\" e\" f\\ g; h&&i | j # k") ==
        std::vector<Words>{{"a", "b c", "d \" e", "f g"}, {"h"}, {"i"}, {"j"}});
  CHECK(shell_commands("if a\nthen b; else c; fi") ==
        std::vector<Words>{{"a"}, {"b"}, {"c"}, {"fi"}});
  CHECK(shell_commands("( 'open").size() == 1);
  CHECK(shell_commands("a \\").size() == 1);
  CHECK(shell_commands("#").empty());
}

TEST_CASE("torchrun behind another program is planned as torchrun, once a node") {
  spec::JobSpec spec = request(2, 8);
  spec.command = {"uv", "run", "torchrun", "--nproc-per-node=4", "train.py"};
  CHECK(planned(spec).ntasks_per_node == 1);
  CHECK(planned(spec).workers_per_task == 4);
}

TEST_CASE("a launcher is not started once for each GPU") {
  spec::JobSpec spec = request(1, 8);
  spec.ntasks_per_node = 8;
  for (const Words& command : {Words{"torchrun", "t.py"},
                               Words{"bash", "-c", "torchrun t.py"},
                               Words{"env", "torchrun"}}) {
    spec.command = command;
    const Diagnostics problems = refused(spec);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].where == "--ntasks-per-node");
    CHECK(contains(problems[0].message, "8 of it would start 64"));
  }
  for (const Words& command : {Words{"conda", "run", "accelerate", "launch", "t.py"},
                               Words{"composer", "t.py"},
                               Words{"deepspeed", "t.py"}}) {
    spec.command = command;
    CHECK(contains(refused(spec)[0].message, "8 of it would start 64"));
    CHECK(contains(refused(spec)[0].hint, "--per-rank"));
  }
  spec.per_rank = true;
  CHECK(planned(spec).world_size == 8);
  CHECK(planned(spec).workers_per_task == 0);
  spec = request(2, 8);
  spec.command = {"mpirun", "-n", "8", "./a.out"};
  CHECK(refused(spec)[0].where == "command");
}

TEST_CASE("--per-node: a program that nobody knows is started once on each node") {
  spec::JobSpec spec = request(2, 8);
  spec.command = {"./train.sh"};
  spec.per_node = true;
  CHECK(planned(spec).world_size == 2);
  CHECK(planned(spec).workers_per_task == 8);
  CHECK(why(planned(spec), "ntasks-per-node") == "--per-node");
  spec.ntasks_per_node = 8;
  CHECK(refused(spec)[0].where == "--per-node");
  spec.ntasks_per_node.reset();
  spec.per_rank = true;
  CHECK(contains(refused(spec)[0].message, "contradicts --per-rank"));
  spec.per_rank = false;
  for (const Words& command : {Words{"deepspeed", "t.py"}, Words{"mpirun", "./a.out"}}) {
    spec.command = command;
    spec.per_node = false;
    CHECK(contains(refused(spec)[0].hint, "--per-node"));
    spec.per_node = true;
    CHECK(planned(spec).world_size == 2);
  }
}

TEST_CASE("launchers without variables get their place in the job as options") {
  spec::JobSpec spec = request(2, 8);
  spec.command = {
      "uv", "run", "accelerate", "launch", "--machine_rank=$R", "t.py", "--num_machines"};
  CHECK(planned(spec).world_size == 2);
  CHECK(node_command(spec, 1) == Words{"uv",
                                       "run",
                                       "accelerate",
                                       "launch",
                                       "--num_machines=2",
                                       "--main_process_ip=10.0.0.1",
                                       "--main_process_port=4711",
                                       "--num_processes=16",
                                       "--machine_rank=$R",
                                       "t.py",
                                       "--num_machines"});
  spec.command = {"bash", "-c", "cd /w && 'composer' t.py # composer"};
  CHECK(node_command(spec, 1) ==
        Words{"bash",
              "-c",
              "cd /w && 'composer' --nproc=8 --world_size=16 --node_rank=1 "
              "--master_addr=10.0.0.1 --master_port=4711 t.py # composer"});
  spec.command = {"lightning", "run", "model", "--devices", "4", "t.py"};
  CHECK(planned(spec).workers_per_task == 4);
  CHECK(node_command(spec, 0) == Words{"lightning",
                                       "run",
                                       "model",
                                       "--num-nodes=2",
                                       "--node-rank=0",
                                       "--main-address=10.0.0.1",
                                       "--main-port=4711",
                                       "--devices",
                                       "4",
                                       "t.py"});
  spec.command = {"tune", "run", "full_finetune_distributed", "--config", "c"};
  CHECK(node_command(spec, 0) ==
        Words{"tune", "run", "--nproc_per_node=8", "full_finetune_distributed", "--config", "c"});
  spec.command = {"accelerate", "launch", "--num_processes", "8", "t.py"};
  CHECK(planned(spec).workers_per_task == 4);  // of 8 on two nodes
  spec.command = {"torchrun", "t.py"};
  CHECK(node_command(spec, 0).empty());
}

TEST_CASE(
    "one node needs no place, and a launcher that cannot be given one is refused on several") {
  spec::JobSpec spec = request(1, 8);
  spec.command = {"accelerate", "launch", "t.py"};
  CHECK(node_command(spec, 0).empty());
  spec.command = {"composer", "t.py"};
  CHECK(node_command(spec, 0) == Words{"composer", "--nproc=8", "--world_size=8", "t.py"});
  spec.command = {"deepspeed", "t.py"};
  CHECK(planned(spec).workers_per_task == 8);
  spec.nodes = 2;
  CHECK(contains(refused(spec)[0].message, "without knowing of the others"));
  CHECK(contains(refused(spec)[0].hint, "torchrun"));
  spec.command = {"bash", "-c", "deepspeed --no_ssh --node_rank $NODE_RANK t.py"};
  CHECK(planned(spec).world_size == 2);
  spec.command = {"bash", "-c", "sh -c 'composer t.py'"};
  CHECK(contains(refused(spec)[0].hint, "--node_rank=$NODE_RANK --master_addr=$MASTER_ADDR"));
  spec.command = {"bash", "-c", "sh -c 'torchrun t.py'"};
  CHECK(planned(spec).world_size == 2);
}

}  // namespace dts::plan
