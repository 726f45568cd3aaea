// SPDX-License-Identifier: Apache-2.0
// What a launcher is told of its place in the job, and what it cannot be told.
#include "core/plan/layout/launcher_words.hpp"

#include "tests/unit/plan/requests.hpp"

namespace dts::plan {
namespace {

using Words = std::vector<std::string>;

Words node_command(const spec::JobSpec& spec, unsigned node_rank) {
  const Plan plan = planned(spec);
  Placement placement;
  placement.rank = placement.node_rank = node_rank;
  return command_of_rank(
      plan, find_own_launcher(plan.command), placement, {"10.0.0.1", 4711, {}, {}, "", ""});
}

}  // namespace

TEST_CASE("the agent gives ranks the arguments that are too long for a launcher's command line") {
  spec::JobSpec spec = request(2, 1);
  spec.command = {"python3", "a.py", std::string(30'000, 'x')};
  CHECK(fits_launchers(spec.command));
  CHECK(node_command(spec, 1).empty());
  spec.command.emplace_back(3'000, 'y');
  CHECK(!fits_launchers(spec.command));
  CHECK(node_command(spec, 1) == spec.command);
}

TEST_CASE("torchrun that knows of one node only is refused on several") {
  spec::JobSpec spec = request(2, 8);
  for (const Words& command :
       {Words{"torchrun", "--standalone", "--nproc_per_node", "8", "a.py"},
        Words{"uv", "run", "torchrun", "--nnodes=1", "--nproc_per_node", "8", "a.py"}}) {
    spec.command = command;
    spec.nodes = 2;
    CHECK(contains(refused(spec).at(0).message, "without knowing about the others"));
    CHECK(contains(refused(spec).at(0).hint, "omit it"));
    CHECK(refused(spec).size() == 1);
    spec.nodes = 1;
    CHECK(planned(spec).workers_per_task == 8);
  }
  spec.nodes = 2;
  spec.command = {"torchrun", "--nnodes", "2", "a.py", "--standalone"};
  CHECK(planned(spec).world_size == 2);
  spec.command = {"docker", "run", "img", "torchrun", "a.py"};
  CHECK(contains(refused(spec).at(0).hint, "--container IMAGE in place of docker run"));
  spec.command = {"docker", "run", "img", "torchrun", "--nnodes=2", "--rdzv-endpoint=a:1", "a.py"};
  CHECK(planned(spec).world_size == 2);
}

TEST_CASE("a rendezvous of torchrun that is nowhere is refused on several nodes") {
  spec::JobSpec spec = request(2, 8);
  for (const char* place : {":29500", ":", "", "localhost:29400", "$MASTER_ADDR:$MASTER_PORT"}) {
    spec.nodes = 2;
    spec.command = {"torchrun", "--rdzv-backend=c10d", "--rdzv-endpoint", place, "a.py"};
    CAPTURE(place);
    CHECK(contains(refused(spec).at(0).message, "would not find the other nodes"));
    spec.nodes = 1;
    CHECK(planned(spec).workers_per_task == 8);
  }
  spec.nodes = 2;
  spec.command = {"bash", "-c", "torchrun --rdzv-endpoint=$MASTER_ADDR:$MASTER_PORT a.py"};
  CHECK(planned(spec).world_size == 2);
  spec.command = {"torchrun", "--node_rank=0", "--master_addr=123.456.123.456", "a.py"};
  CHECK(contains(refused(spec).at(0).message, "123.456.123.456 would not find the other nodes"));
  CHECK(contains(refused(spec).at(1).message, "--node-rank 0"));
  for (const char* address : {"n1", "10.0.0.5", "10.1", "2001:db8::1"}) {
    spec.command = {"torchrun", "--master_addr", address, "a.py"};
    CHECK(planned(spec).world_size == 2);
  }
}

TEST_CASE(
    "a launcher that every node takes for the same, or that waits for other nodes, is refused") {
  struct Row {
    Words command;
    unsigned nodes;
    const char* message;
    const char* hint;
  };

  const char* const same = "would take each of 2 nodes for the same one";
  for (const Row& row : {
           Row{{"torchrun", "--nnodes", "2", "--node_rank", "0", "t.py"}, 2, same, "omit it"},
           Row{{"torchrun", "--node-rank=", "t.py"}, 2, same, "omit it"},
           Row{{"accelerate", "launch", "--machine_rank", "1", "t.py"}, 2, same, "omit it"},
           Row{{"deepspeed", "--no_ssh", "--node_rank=0", "t.py"}, 2, same, "torchrun"},
           Row{{"ds", "t.py"}, 2, "ds would be started on each of 2 nodes", "torchrun"},
           Row{{"python", "-m", "horovod.runner.launch", "-np", "4", "t.py"},
               2,
               "would be started on each of 2 nodes",
               "name the program"},
           Row{{"bash", "-c", "torchrun --nnodes 4 t.py"},
               2,
               "does not fit a job of 2 nodes",
               "omit"},
           Row{{"torchrun", "--nnodes=2", "t.py"},
               3,
               "--nnodes 2 does not fit a job of 3",
               "omit it"},
           Row{{"torchrun", "--nnodes=3:4", "t.py"}, 2, "--nnodes 3:4 does not fit", "omit it"},
           Row{{"torchrun", "--nnodes=1:2", "t.py"}, 3, "--nnodes 1:2 does not fit", "omit it"},
           Row{{"torchrun", "--nnodes=2", "t.py"}, 1, "does not fit a job of 1 node", "omit it"},
           Row{{"accelerate", "launch", "--num_machines=1", "t.py"},
               2,
               "--num-machines 1",
               "omit it"},
           Row{{"python3", "-u", "-m", "submitit.core._submit", "/logs/%j"},
               1,
               "python -m submitit.core._submit looks for the function",
               "submitit.JobEnvironment()"},
       }) {
    spec::JobSpec spec = request(row.nodes, 0);
    spec.command = row.command;
    CAPTURE(row.message);
    CHECK(contains(refused(spec).at(0).message, row.message));
    CHECK(contains(refused(spec).at(0).hint, row.hint));
  }
  spec::JobSpec spec = request(2, 0);
  for (const Words& command :
       {Words{"torchrun", "--nnodes=1:2", "--rdzv-backend=c10d", "--node_rank=0", "t.py"},
        Words{"bash", "-c", "torchrun --nnodes 2 --node_rank $SLURM_NODEID t.py"},
        Words{"torchrun", "--nnodes=$SLURM_NNODES", "t.py"}}) {
    spec.command = command;
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
  spec.command = {"msrun", "t.py"};
  CHECK(node_command(spec, 1) == Words{"msrun",
                                       "--worker_num=16",
                                       "--local_worker_num=8",
                                       "--join=True",
                                       "--master_port=4711",
                                       "--node_rank=1",
                                       "--master_addr=10.0.0.1",
                                       "t.py"});
  spec.command = {"trl", "sft", "--num_processes", "8"};
  CHECK(planned(spec).workers_per_task == 4);
  for (const char* program : {"axolotl", "xtuner"}) {
    spec.command = {program, "train", "a.yml"};
    CHECK(contains(refused(spec).at(0).hint, "--per-node"));
  }
  spec.command = {"accelerate", "launch", "--num_processes", "8", "t.py"};
  CHECK(planned(spec).workers_per_task == 4);  // of 8 on two nodes
  spec.command = {"torchrun", "t.py"};
  CHECK(node_command(spec, 0).empty());
}

// As accelerate 1.15 does without mpirun's hosts: launch_command() in commands/launch.py.
TEST_CASE("accelerate on CPUs starts one process on each node, whatever its count says") {
  spec::JobSpec spec = request(2, 0);
  spec.command = {"accelerate", "launch", "--cpu", "t.py"};
  CHECK(planned(spec).workers_per_task == 1);
  CHECK(planned(spec).world_size == 2);
  spec.command = {"accelerate", "launch", "--cpu", "--num_processes=2", "t.py"};
  CHECK(planned(spec).workers_per_task == 1);
  spec.command = {"accelerate", "launch", "--cpu", "--num_processes", "4", "t.py"};
  CHECK(contains(refused(spec).at(0).message, "one process on each node, not the 2"));
  CHECK(contains(refused(spec).at(0).hint, "--ntasks-per-node 2"));
  spec.ntasks_per_node = 2;
  spec.command = {"accelerate", "launch", "--cpu", "t.py"};
  CHECK(contains(refused(spec).at(0).message, "one process on each node, not 2"));
  CHECK(contains(refused(spec).at(0).hint, "--ntasks-per-node 2"));
  CHECK_FALSE(contains(refused(spec).at(0).hint, "--num-processes"));
  spec.per_rank = true;
  CHECK(planned(spec).world_size == 4);
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
  CHECK(contains(refused(spec)[0].message, "without knowing about the others"));
  CHECK(contains(refused(spec)[0].hint, "torchrun"));
  spec.command = {"bash", "-c", "deepspeed --no_ssh --node_rank $NODE_RANK t.py"};
  CHECK(planned(spec).world_size == 2);
  spec.command = {"bash", "-c", "sh -c 'composer t.py'"};
  CHECK(contains(refused(spec)[0].hint, "--node_rank=$NODE_RANK --master_addr=$MASTER_ADDR"));
  spec.command = {"bash", "-c", "sh -c 'torchrun t.py'"};
  CHECK(planned(spec).world_size == 2);
}

}  // namespace dts::plan
