// SPDX-License-Identifier: Apache-2.0
#include "core/spec/options/of_sbatch.hpp"

#include <algorithm>
#include <iterator>

namespace dts::spec {
namespace {

struct Other {
  std::string_view name;
  std::string_view letter;  // the short name; empty: none
  const char* instead;
};

constexpr Other k_others[] = {
    {"--clusters", "-M", "set SLURM_CONF to the other cluster's configuration"},
    {"--export-file", "", "--export NAME=VALUE,... sets variables, and so does --setup FILE"},
    {"--get-user-env", "", "use --setup to set the environment on each node"},
    {"--gid", "", "submit as that user"},
    {"--help", "", "omit it"},
    {"--ignore-pbs", "", "omit it"},
    {"--input", "-i", "standard input is empty: let the program open the file by its name"},
    {"--parsable", "", "--json prints the job's id"},
    {"--quiet", "-Q", "omit it"},
    {"--test-only", "", "--dry-run plans without submitting"},
    {"--uid", "", "submit as that user"},
    {"--usage", "", "omit it"},
    {"--verbose", "-v", "omit it"},
    {"--version", "-V", "omit it"},
    {"--wait", "", "write --wait itself"},
    {"--wrap", "", "write the program after `--`"},
};

// Options of srun, and of plug-ins that sbatch may have as well.
constexpr Other k_of_srun[] = {
    {"--accel-bind", "", "omit it: each rank has the GPUs next to its cores; --bind changes that"},
    {"--container-image",
     "",
     "--container IMAGE runs the program in it; --slurm container-image=IMAGE leaves it to sbatch"},
    {"--container-mount-home", "", "--mount $HOME"},
    {"--container-mounts", "", "--mount SRC[:DST[:ro]], once for each"},
    {"--container-name", "", "--container IMAGE: each rank starts the container itself"},
    {"--container-workdir",
     "",
     "--chdir FOLDER: the program starts in it inside the container too"},
    {"--cpu-bind", "", "--bind says which cores each rank has"},
    {"--environment",
     "",
     "give the definition's image, mounts and variables: --container, --mount, --container-env"},
    {"--het-group", "", "a job file with [[roles]] starts several programs at once"},
    {"--image", "", "--container IMAGE; --slurm image=IMAGE leaves it to sbatch"},
    {"--kill-on-bad-exit", "-K", "omit it: the first rank that fails ends the others"},
    {"--label", "-l", "omit it: the output of each rank is in its own file, see dtsubmit logs"},
    {"--multi-prog", "", "a job file with [[roles]] starts several programs at once"},
    {"--no-container-mount-home", "", "omit it, and mount with --mount"},
    {"--overlap", "", "omit it: the job runs no steps side by side"},
    {"--uenv", "", "--slurm uenv=NAME leaves it to sbatch"},
    {"--unbuffered", "-u", "omit it: output is not held back; Python needs PYTHONUNBUFFERED=1"},
    {"--view", "", "--slurm view=NAME leaves it to sbatch"},
    {"--volume", "", "--mount SRC[:DST[:ro]]; --slurm volume=SRC:DST leaves it to sbatch"},
};

// Of torchrun, accelerate, submitit, TorchX, PBS and others; with dashes.
constexpr Other k_of_launchers[] = {
    {"--checkpoint-dir", "", "omit it: programs find the folder in DTSUBMIT_CHECKPOINT_DIR"},
    {"--env",
     "",
     "the job gets your environment; for one variable: -- env NAME=VALUE program, or --export "
     "ALL,NAME=VALUE"},
    {"--log-dir", "", "--runs DIR: a run's folder there has its logs"},
    {"--master-addr", "", "omit it: the address is found in the job"},
    {"--master-port", "", "omit it: a free port is found in the job"},
    {"--max-restarts", "", "--on crash=restart:N"},
    {"--name", "", "--job-name"},
    {"--nnodes", "", "--nodes"},
    {"--node-rank", "", "omit it: it is found in the job"},
    {"--nproc-per-node", "", "--ntasks-per-node, or --gpus-per-node for one rank on each GPU"},
    {"--num-gpus", "", "--gpus-per-node"},
    {"--num-machines", "", "--nodes"},
    {"--num-nodes", "", "--nodes"},
    {"--num-processes", "", "--nodes with --ntasks-per-node or --gpus-per-node"},
    {"--output-dir", "", "--runs DIR: a run's folder there has its logs"},
    {"--queue", "", "--partition"},
    {"--rdzv-backend", "", "omit it: the ranks meet at MASTER_ADDR and MASTER_PORT"},
    {"--rdzv-endpoint", "", "omit it: address and port are found in the job"},
    {"--rdzv-id", "", "omit it: the ranks meet at MASTER_ADDR and MASTER_PORT"},
    {"--resume", "", "dtsubmit requeue JOB, or without Slurm dtsubmit run --continue RUN"},
    {"--retries", "", "--on crash=restart:N"},
    {"--walltime", "", "--time"},
};

template <std::size_t N>
std::optional<std::string> instead_in(const Other (&others)[N], std::string_view name) {
  const auto* found = std::find_if(std::begin(others), std::end(others), [&](const Other& other) {
    return other.name == name || (!other.letter.empty() && other.letter == name);
  });
  if (found == std::end(others)) return std::nullopt;
  return found->instead;
}

}  // namespace

std::optional<std::string> instead_of(std::string_view name) {
  return instead_in(k_others, name);
}

std::optional<std::string> instead_of_srun(std::string_view name) {
  return instead_in(k_of_srun, name);
}

std::optional<std::string> instead_of_launcher(std::string_view name) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return instead_in(k_of_launchers, dashed);
}

}  // namespace dts::spec
