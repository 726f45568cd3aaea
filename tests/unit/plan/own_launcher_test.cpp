// SPDX-License-Identifier: Apache-2.0
// Programs that start processes of their own, wherever in the command they are.
#include "core/plan/program/own_launcher.hpp"

#include "core/plan/program/shell_words.hpp"
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
           Case{{"env", "-S", "A=1 torchrun t.py"}, Kind::torchrun, "env -S"},
           Case{{"/usr/bin/env", "-i", "--split-string", "python t.py"}, Kind::none},
           Case{{"uvx", "--from", "torch", "torchrun", "t.py"}, Kind::torchrun, "uvx"},
           Case{{"sudo", "-E", "-u", "me", "torchrun", "t.py"}, Kind::torchrun, "sudo"},
           Case{{"tini", "-s", "--", "dumb-init", "torchrun"}, Kind::torchrun, "tini dumb-init"},
           Case{{"conda", "run", "-n", "ml", "--no-capture-output", "torchrun", "t.py"},
                Kind::torchrun,
                "conda run"},
           Case{{"singularity", "exec", "--nv", "-B", "/data", "image.sif", "torchrun", "t.py"},
                Kind::torchrun,
                "singularity exec"},
           Case{{"apptainer", "exec", "image.sif", "bash", "-c", "cd /w && torchrun t.py"},
                Kind::torchrun,
                "apptainer exec bash -c"},
           Case{{"gdb", "-ex", "run", "--args", "torchrun", "t.py"}, Kind::torchrun, "gdb"},
           Case{
               {"perf", "record", "-o", "x", "--", "torchrun", "t"}, Kind::torchrun, "perf record"},
           Case{{"strace", "-f", "-E", "A=1", "torchrun", "t.py"}, Kind::torchrun, "strace"},
           Case{{"flock", "-w", "5", "lock", "torchrun", "t.py"}, Kind::torchrun, "flock"},
           Case{{"vtune", "-collect", "hotspots", "--", "torchrun", "t.py"},
                Kind::torchrun,
                "vtune"},
           Case{{"rocprofv3", "--", "env", "A=1", "torchrun"}, Kind::torchrun, "rocprofv3 env"},
           Case{{"./a.out", "--", "--", "input"}, Kind::none},
           Case{{"oumi", "distributed", "torchrun", "-m", "oumi", "train"}, Kind::node},
           Case{{"sbatch", "-N", "2", "job.sh"}, Kind::submission},
           Case{{"bash", "-c", "sbatch next.sh; torchrun t.py"}, Kind::torchrun, "bash -c"},
           Case{{"bash", "-c", "./train; sbatch next.sh"}, Kind::none},
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
           Case{{"llamafactory-cli", "train", "a.yaml"}, Kind::torchrun},
           Case{{"llamafactory-cli", "export", "a.yaml"}, Kind::none},
           Case{{"swift", "rlhf", "--rlhf_type", "dpo"}, Kind::torchrun},
           Case{{"swift", "infer"}, Kind::none},
           Case{{"xtuner", "train", "cfg"}, Kind::node},
           Case{{"trl", "sft", "--model_name_or_path", "m"}, Kind::node},
           Case{{"trl", "vllm-serve"}, Kind::none},
           Case{{"axolotl", "train", "a.yml"}, Kind::node},
           Case{{"axolotl", "preprocess", "a.yml"}, Kind::none},
           Case{{"msrun", "train.py"}, Kind::node},
           Case{{"python", "-m", "lightning", "run", "model", "t.py"}, Kind::node},
           Case{{"ft_launcher", "t.py"}, Kind::torchrun},
           Case{
               {"docker", "run", "--rm", "--gpus", "all", "-v", "/d:/d", "img", "torchrun", "t.py"},
               Kind::torchrun,
               "docker run"},
           Case{{"podman-hpc", "run", "--gpu", "img", "torchrun", "t.py"},
                Kind::torchrun,
                "podman-hpc run"},
           Case{{"singularity_wrapper", "exec", "torchrun", "t.py"},
                Kind::torchrun,
                "singularity_wrapper exec"},
           Case{{"shifter", "--image=i", "torchrun", "t.py"}, Kind::torchrun, "shifter"},
           Case{{"tune", "run", "--nproc_per_node", "8", "full_finetune_distributed"},
                Kind::torchrun},
           Case{{"fabric", "run", "train.py"}, Kind::node},
           Case{{"lightning", "run", "model", "train.py"}, Kind::node},
           Case{{"horovodrun", "-np", "8", "python", "t.py"}, Kind::node},
           Case{{"ray", "job", "submit", "--", "python", "t.py"}, Kind::node},
           Case{{"torchx", "run", "-s", "local_cwd", "dist.ddp", "--script", "t.py"}, Kind::node},
           Case{{"torchx", "run", "-s", "slurm", "dist.ddp", "-j", "2x8"}, Kind::submission},
           Case{{"torchx", "run", "--scheduler", "slurm", "dist.ddp"}, Kind::submission},
           Case{{"torchx", "status", "slurm://x/1"}, Kind::none},
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
    CHECK(contains(problems[0].message, "8 of them on each node would start 64"));
  }
  for (const Words& command : {Words{"conda", "run", "accelerate", "launch", "t.py"},
                               Words{"composer", "t.py"},
                               Words{"deepspeed", "t.py"}}) {
    spec.command = command;
    CHECK(contains(refused(spec)[0].message, "8 of them on each node would start 64"));
    CHECK(contains(refused(spec)[0].hint, "--per-rank"));
  }
  spec.per_rank = true;
  CHECK(planned(spec).world_size == 8);
  CHECK(planned(spec).workers_per_task == 0);
  spec = request(2, 8);
  spec.command = {"mpirun", "-n", "8", "./a.out"};
  CHECK(refused(spec)[0].where == "command");
}

TEST_CASE("a command that submits another job is refused, also for one rank") {
  spec::JobSpec spec = request(1, 1);
  spec.command = {"env", "A=1", "sbatch", "job.sh"};
  const Diagnostics problems = refused(spec);
  REQUIRE(problems.size() == 1);
  CHECK(contains(problems[0].message, "sbatch (behind `env`) submits a job of its own"));
  CHECK(contains(problems[0].hint, "dtsubmit convert SCRIPT"));
  spec.per_rank = true;
  CHECK(planned(spec).world_size == 1);
  spec = request(2, 8);
  spec.command = {"oumi", "distributed", "torchrun", "-m", "oumi", "train"};
  CHECK(contains(refused(spec)[0].hint, "write torchrun in its place"));
}

TEST_CASE("options behind the launched program are its own") {
  spec::JobSpec spec = request(2, 8);
  for (const Words& command : {
           Words{"torchrun", "-m", "train", "--nproc_per_node", "7", "--num_nodes", "4"},
           Words{"torchrun", "--no-python", "./a.sh", "--standalone", "--nnodes=1"},
           Words{"python",
                 "-m",
                 "torch.distributed.run",
                 "-m",
                 "train",
                 "--master_addr",
                 "localhost"},
           Words{"ft_launcher", "--module", "train", "--node_rank", "0"},
           Words{"accelerate", "launch", "-m", "train", "--num_processes", "2"},
           Words{"torchrun", "train.py", "--nproc_per_node", "7"},
       }) {
    CAPTURE(command[0]);
    spec.command = command;
    CHECK(planned(spec).workers_per_task == 8);
  }
  spec.command = {"torchrun", "-m", "--nproc_per_node", "4", "train"};
  CHECK(planned(spec).workers_per_task == 4);
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

}  // namespace dts::plan
