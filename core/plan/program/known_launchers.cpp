// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/known_launchers.hpp"

namespace dts::plan {
namespace {

using Kind = OwnLauncher::Kind;
using Fact = PlaceOption::Fact;

constexpr std::string_view k_torchrun_count = "--nproc-per-node";

// accelerate finds the number of a node's GPUs itself. On several nodes, its --num_processes counts
// all of them.
constexpr PlaceOption k_accelerate_options[] = {{"--num_machines", Fact::nodes, true},
                                                {"--machine_rank", Fact::node_rank, true},
                                                {"--main_process_ip", Fact::address, true},
                                                {"--main_process_port", Fact::port, true},
                                                {"--num_processes", Fact::all_workers, true}};
// composer would otherwise read WORLD_SIZE and LOCAL_WORLD_SIZE, which count our ranks.
constexpr PlaceOption k_composer_options[] = {{"--nproc -n", Fact::workers},
                                              {"--world_size", Fact::all_workers},
                                              {"--node_rank --base_rank", Fact::node_rank, true},
                                              {"--master_addr", Fact::address, true},
                                              {"--master_port", Fact::port, true}};
// --devices defaults to 1.
constexpr PlaceOption k_lightning_options[] = {{"--devices", Fact::workers},
                                               {"--num-nodes", Fact::nodes, true},
                                               {"--node-rank", Fact::node_rank, true},
                                               {"--main-address", Fact::address, true},
                                               {"--main-port", Fact::port, true}};
// Without any torchrun option, torchtune runs one process; the others work as with torchrun.
constexpr PlaceOption k_tune_options[] = {{"--nproc_per_node", Fact::workers}};
// MindSpore's launcher. By default it starts 8 processes, and returns before they end.
// https://www.mindspore.cn/tutorials/en/stable/parallel/msrun_launcher.html
constexpr PlaceOption k_msrun_options[] = {{"--worker_num", Fact::all_workers},
                                           {"--local_worker_num", Fact::workers},
                                           {"--join", Fact::yes},
                                           {"--master_port", Fact::port},
                                           {"--node_rank", Fact::node_rank, true},
                                           {"--master_addr", Fact::address, true}};

constexpr std::string_view k_use_torchrun = "write torchrun in its place";
constexpr std::string_view k_use_axolotl = "write torchrun -m axolotl.cli.train in its place";
constexpr std::string_view k_use_xtuner =
    "write bash -c 'ADDR=$MASTER_ADDR PORT=$MASTER_PORT xtuner train ...' with --per-node";
constexpr std::string_view k_use_program =
    "name the program that it starts: each rank gets RANK, WORLD_SIZE, LOCAL_RANK and MASTER_ADDR "
    "from dtsubmit";

constexpr std::string_view k_use_function =
    "name a program that calls the function: in each rank, submitit.JobEnvironment() knows its "
    "place";

constexpr std::string_view k_use_roles =
    "make its head and its workers two roles of a job file: RAY in dtsubmit-jobs(7)";
constexpr std::string_view k_use_torchrun_itself = "write torchrun and its program, without torchx";
constexpr std::string_view k_use_accelerate = "write accelerate launch in its place";

constexpr KnownLauncher of_accelerate(std::string_view program, std::string_view verb) {
  return {program, verb, Kind::node, "--num-processes", true, k_accelerate_options, {}, "--cpu"};
}

constexpr KnownLauncher of_composer(std::string_view program) {
  return {program, "", Kind::node, "--nproc -n", false, k_composer_options};
}

constexpr KnownLauncher of_lightning(std::string_view program, std::string_view verb) {
  return {program, verb, Kind::node, "--devices", false, k_lightning_options};
}

constexpr KnownLauncher of_deepspeed(std::string_view program) {
  return {program, "", Kind::node, "--num-gpus --num-accelerators", false, {}, k_use_torchrun};
}

constexpr KnownLauncher k_launchers[] = {
    {"torchrun", "", Kind::torchrun, k_torchrun_count},
    {"-m torch.distributed.run", "", Kind::torchrun, k_torchrun_count},
    {"-m torch.distributed.launch", "", Kind::torchrun, k_torchrun_count},
    {"torchrun_xpu", "", Kind::torchrun, k_torchrun_count},
    {"ft_launcher", "", Kind::torchrun, k_torchrun_count},  // takes torchrun's options and PET_*
    {"tune", "run", Kind::torchrun, k_torchrun_count, false, k_tune_options},
    of_accelerate("accelerate", "launch"),
    of_accelerate("accelerate-launch", ""),
    of_accelerate("-m accelerate.commands.launch", ""),
    of_accelerate("-m accelerate", "launch"),
    of_accelerate("-m accelerate.commands.accelerate_cli", "launch"),
    // They start torchrun with NNODES, NPROC_PER_NODE, NODE_RANK, MASTER_ADDR and MASTER_PORT.
    {"llamafactory-cli", "train", Kind::torchrun},
    {"lmf", "train", Kind::torchrun},
    {"swift", "sft", Kind::torchrun},
    {"swift", "pt", Kind::torchrun},
    {"swift", "rlhf", Kind::torchrun},
    // xtuner reads NNODES, NPROC_PER_NODE and NODE_RANK, but ADDR and PORT, not MASTER_*.
    {"xtuner", "train", Kind::node, "", false, {}, k_use_xtuner},
    // These start accelerate: trl passes its options on, axolotl those after a second `--`.
    of_accelerate("trl", "sft"),
    of_accelerate("trl", "dpo"),
    of_accelerate("trl", "grpo"),
    of_accelerate("trl", "kto"),
    of_accelerate("trl", "reward"),
    of_accelerate("trl", "rloo"),
    {"axolotl", "train", Kind::node, "--num-processes", true, {}, k_use_axolotl},
    // It numbers nodes by SkyPilot's variables or PBS's, and takes any other machine for the only
    // one.
    {"oumi", "distributed torchrun", Kind::node, "", false, {}, k_use_torchrun},
    {"oumi", "distributed accelerate", Kind::node, "", false, {}, k_use_accelerate},
    {"msrun", "", Kind::node, "--local-worker-num", false, k_msrun_options},
    of_composer("composer"),
    of_composer("-m composer.cli.launcher"),
    of_composer("-m composer.cli"),
    of_lightning("fabric", "run model"),
    of_lightning("fabric", "run"),
    of_lightning("lightning", "run model"),
    of_lightning("lightning", "run"),
    of_lightning("-m lightning", "run model"),
    of_lightning("-m lightning", "run"),
    of_deepspeed("deepspeed"),
    of_deepspeed("deepspeed.pt"),
    of_deepspeed("ds"),
    of_deepspeed("-m deepspeed.launcher.runner"),
    {"-m deepspeed.launcher.launch", "", Kind::node, "", false, {}, k_use_torchrun},
    {"colossalai", "run", Kind::node, k_torchrun_count, false, {}, k_use_torchrun},
    {"horovodrun", "", Kind::node, "-np --num-proc", false, {}, k_use_program},
    {"-m horovod.runner.launch", "", Kind::node, "-np --num-proc", false, {}, k_use_program},
    {"-m paddle.distributed.launch", "", Kind::node, k_torchrun_count, false, {}, k_use_program},
    {"ray", "job submit", Kind::node, "", false, {}, k_use_program},
    {"ray", "submit", Kind::node, "", false, {}, k_use_program},
    {"ray", "start", Kind::node, "", false, {}, k_use_roles},
    {"torchx", "run -s slurm", Kind::submission, "", false, {}, k_use_torchrun_itself},
    {"torchx", "run --scheduler slurm", Kind::submission, "", false, {}, k_use_torchrun_itself},
    {"torchx", "run", Kind::node, "", false, {}, k_use_torchrun_itself},
    {"mpirun"},
    {"mpiexec"},
    {"mpiexec.hydra"},
    {"mpiexec.mpich"},
    {"orterun"},
    {"prterun"},
    {"srun"},
    {"sbatch",
     "",
     Kind::submission,
     "",
     false,
     {},
     "name the program that its script starts, or make a job file of the script: dtsubmit convert "
     "SCRIPT -o JOB.toml"},
    {"-m submitit.core._submit", "", Kind::stored, "", false, {}, k_use_function},
    {"salloc", "", Kind::submission, "", false, {}, "name the program that it starts"},
};

}  // namespace

std::span<const KnownLauncher> known_launchers() {
  return k_launchers;
}

}  // namespace dts::plan
