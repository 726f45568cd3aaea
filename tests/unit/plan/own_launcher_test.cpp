// SPDX-License-Identifier: Apache-2.0
// Programs that start processes of their own, wherever in the command they are.
#include "core/plan/layout/own_launcher.hpp"

#include "core/plan/layout/shell_words.hpp"
#include "tests/unit/plan/requests.hpp"

namespace dts::plan {
namespace {

using Kind = OwnLauncher::Kind;
using Words = std::vector<std::string>;

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
           Case{{"accelerate", "launch", "train.py"}, Kind::other},
           Case{{"uv", "run", "accelerate", "launch", "t.py"}, Kind::other, "uv run"},
           Case{{"python", "-m", "accelerate.commands.launch", "t.py"}, Kind::other},
           Case{{"deepspeed", "--num_gpus", "8", "t.py"}, Kind::other},
           Case{{"bash", "-c", "mpirun -n 8 ./a.out"}, Kind::other, "bash -c"},
           Case{{"srun", "python", "t.py"}, Kind::other},
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
  spec.ntasks_per_node.reset();
  spec.command = {"conda", "run", "accelerate", "launch", "t.py"};
  CHECK(contains(refused(spec)[0].message, "accelerate launch (behind `conda run`)"));
  spec.ntasks_per_node = 1;
  CHECK(planned(spec).world_size == 1);
  spec.nodes = 2;
  CHECK(refused(spec)[0].where == "command");
  spec.command = {"bash", "-c", "accelerate launch --machine_rank $NODE_RANK t.py"};
  CHECK(planned(spec).world_size == 2);
}

}  // namespace dts::plan
