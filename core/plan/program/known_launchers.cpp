// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/known_launchers.hpp"

namespace dts::plan {
namespace {

using Kind = OwnLauncher::Kind;
using What = ToldOption::What;

constexpr std::string_view k_torchrun_count = "--nproc-per-node";

// accelerate finds the number of a node's GPUs itself. On several nodes, its --num_processes counts
// all of them.
const std::initializer_list<ToldOption> k_accelerate_told{
    {"--num_machines", What::nodes, true},
    {"--machine_rank", What::node_rank, true},
    {"--main_process_ip", What::address, true},
    {"--main_process_port", What::port, true},
    {"--num_processes", What::all_workers, true}};
// composer would otherwise read WORLD_SIZE and LOCAL_WORLD_SIZE, which count our ranks.
const std::initializer_list<ToldOption> k_composer_told{
    {"--nproc -n", What::workers},
    {"--world_size", What::all_workers},
    {"--node_rank --base_rank", What::node_rank, true},
    {"--master_addr", What::address, true},
    {"--master_port", What::port, true}};
// --devices defaults to 1.
const std::initializer_list<ToldOption> k_lightning_told{{"--devices", What::workers},
                                                         {"--num-nodes", What::nodes, true},
                                                         {"--node-rank", What::node_rank, true},
                                                         {"--main-address", What::address, true},
                                                         {"--main-port", What::port, true}};
// Without any torchrun option, torchtune runs one process; the others work as with torchrun.
const std::initializer_list<ToldOption> k_tune_told{{"--nproc_per_node", What::workers}};
// MindSpore's launcher. By default it starts 8 processes, and returns before they end.
// https://www.mindspore.cn/tutorials/en/stable/parallel/msrun_launcher.html
const std::initializer_list<ToldOption> k_msrun_told{{"--worker_num", What::all_workers},
                                                     {"--local_worker_num", What::workers},
                                                     {"--join", What::yes},
                                                     {"--master_port", What::port},
                                                     {"--node_rank", What::node_rank, true},
                                                     {"--master_addr", What::address, true}};

constexpr std::string_view k_use_torchrun = "write torchrun in its place";
constexpr std::string_view k_use_axolotl = "write torchrun -m axolotl.cli.train in its place";
constexpr std::string_view k_use_xtuner =
    "write bash -c 'ADDR=$MASTER_ADDR PORT=$MASTER_PORT xtuner train ...' with --per-node";
constexpr std::string_view k_use_program =
    "name the program that it starts: each rank gets RANK, WORLD_SIZE, LOCAL_RANK and MASTER_ADDR "
    "from dtsubmit";

constexpr std::string_view k_use_accelerate = "write accelerate launch in its place";

const KnownLauncher k_launchers[] = {
    {"torchrun", "", Kind::torchrun, k_torchrun_count},
    {"-m torch.distributed.run", "", Kind::torchrun, k_torchrun_count},
    {"-m torch.distributed.launch", "", Kind::torchrun, k_torchrun_count},
    {"torchrun_xpu", "", Kind::torchrun, k_torchrun_count},
    {"ft_launcher", "", Kind::torchrun, k_torchrun_count},  // takes torchrun's options and PET_*
    {"tune", "run", Kind::torchrun, k_torchrun_count, false, k_tune_told},
    {"accelerate", "launch", Kind::node, "--num-processes", true, k_accelerate_told, {}, "--cpu"},
    {"accelerate-launch", "", Kind::node, "--num-processes", true, k_accelerate_told, {}, "--cpu"},
    {"-m accelerate.commands.launch",
     "",
     Kind::node,
     "--num-processes",
     true,
     k_accelerate_told,
     {},
     "--cpu"},
    {"-m accelerate",
     "launch",
     Kind::node,
     "--num-processes",
     true,
     k_accelerate_told,
     {},
     "--cpu"},
    {"-m accelerate.commands.accelerate_cli",
     "launch",
     Kind::node,
     "--num-processes",
     true,
     k_accelerate_told,
     {},
     "--cpu"},
    // They start torchrun with NNODES, NPROC_PER_NODE, NODE_RANK, MASTER_ADDR and MASTER_PORT.
    {"llamafactory-cli", "train", Kind::torchrun},
    {"lmf", "train", Kind::torchrun},
    {"swift", "sft", Kind::torchrun},
    {"swift", "pt", Kind::torchrun},
    {"swift", "rlhf", Kind::torchrun},
    // xtuner reads NNODES, NPROC_PER_NODE and NODE_RANK, but ADDR and PORT, not MASTER_*.
    {"xtuner", "train", Kind::node, "", false, {}, k_use_xtuner},
    // These start accelerate: trl passes its options on, axolotl those after a second `--`.
    {"trl", "sft", Kind::node, "--num-processes", true, k_accelerate_told, {}, "--cpu"},
    {"trl", "dpo", Kind::node, "--num-processes", true, k_accelerate_told, {}, "--cpu"},
    {"trl", "grpo", Kind::node, "--num-processes", true, k_accelerate_told, {}, "--cpu"},
    {"trl", "kto", Kind::node, "--num-processes", true, k_accelerate_told, {}, "--cpu"},
    {"trl", "reward", Kind::node, "--num-processes", true, k_accelerate_told, {}, "--cpu"},
    {"trl", "rloo", Kind::node, "--num-processes", true, k_accelerate_told, {}, "--cpu"},
    {"axolotl", "train", Kind::node, "--num-processes", true, {}, k_use_axolotl},
    // It numbers nodes by SkyPilot's variables or PBS's, and takes any other machine for the only
    // one.
    {"oumi", "distributed torchrun", Kind::node, "", false, {}, k_use_torchrun},
    {"oumi", "distributed accelerate", Kind::node, "", false, {}, k_use_accelerate},
    {"msrun", "", Kind::node, "--local-worker-num", false, k_msrun_told},
    {"composer", "", Kind::node, "--nproc -n", false, k_composer_told},
    {"-m composer.cli.launcher", "", Kind::node, "--nproc -n", false, k_composer_told},
    {"-m composer.cli", "", Kind::node, "--nproc -n", false, k_composer_told},
    {"fabric", "run model", Kind::node, "--devices", false, k_lightning_told},
    {"fabric", "run", Kind::node, "--devices", false, k_lightning_told},
    {"lightning", "run model", Kind::node, "--devices", false, k_lightning_told},
    {"lightning", "run", Kind::node, "--devices", false, k_lightning_told},
    {"-m lightning", "run model", Kind::node, "--devices", false, k_lightning_told},
    {"-m lightning", "run", Kind::node, "--devices", false, k_lightning_told},
    {"deepspeed", "", Kind::node, "--num-gpus --num-accelerators", false, {}, k_use_torchrun},
    {"-m deepspeed.launcher.runner",
     "",
     Kind::node,
     "--num-gpus --num-accelerators",
     false,
     {},
     k_use_torchrun},
    {"-m deepspeed.launcher.launch", "", Kind::node, "", false, {}, k_use_torchrun},
    {"colossalai", "run", Kind::node, k_torchrun_count, false, {}, k_use_torchrun},
    {"horovodrun", "", Kind::node, "-np --num-proc", false, {}, k_use_program},
    {"-m horovod.runner", "", Kind::node, "-np --num-proc", false, {}, k_use_program},
    {"-m paddle.distributed.launch", "", Kind::node, k_torchrun_count, false, {}, k_use_program},
    {"ray", "job submit", Kind::node, "", false, {}, k_use_program},
    {"ray", "submit", Kind::node, "", false, {}, k_use_program},
    {"ray", "start", Kind::node, "", false, {}, k_use_program},
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
    {"salloc", "", Kind::submission, "", false, {}, "name the program that it starts"},
};

}  // namespace

std::span<const KnownLauncher> known_launchers() {
  return k_launchers;
}

}  // namespace dts::plan
