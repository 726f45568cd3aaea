// SPDX-License-Identifier: Apache-2.0
// Options of sbatch: which cores and which memory of a node Slurm gives to a job. Which of them a
// rank gets is for dtsubmit to say: see options_binding.cpp.
#include "core/spec/values/slurm_values.hpp"

namespace dts::spec {

std::vector<Option> slurm_core_options() {
  return {
      {.names = "--hint",
       .value = slurm_word(
           "hint", "WORD", {"compute_bound", "memory_bound", "multithread", "nomultithread"}),
       .help = "compute_bound, memory_bound, multithread or nomultithread",
       .variable = "SBATCH_HINT"},
      {.names = "-m,--distribution",
       .value = for_slurm("distribution", "TEXT"),
       .help = "passed on: how Slurm deals out cores; ranks follow the nodes' order",
       .variable = "SBATCH_DISTRIBUTION"},
      {.names = "-B,--extra-node-info",
       .value = for_slurm("extra-node-info", "S[:C[:T]]"),
       .help = "sockets, cores and threads that a node has"},
      {.names = "--sockets-per-node",
       .value = slurm_count("sockets-per-node"),
       .help = "sockets that a node has"},
      {.names = "--cores-per-socket",
       .value = slurm_count("cores-per-socket"),
       .help = "cores that a socket has"},
      {.names = "--threads-per-core",
       .value = slurm_count("threads-per-core"),
       .help = "hardware threads of each core that the job gets",
       .variable = "SBATCH_THREADS_PER_CORE"},
      {.names = "--ntasks-per-socket",
       .value = slurm_count("ntasks-per-socket"),
       .help = "ranks on each socket at most"},
      {.names = "--ntasks-per-core",
       .value = slurm_count("ntasks-per-core"),
       .help = "ranks on each core at most"},
      {.names = "--gpus-per-socket",
       .value = for_slurm("gpus-per-socket", "[TYPE:]N"),
       .help = "GPUs on each socket"},
      {.names = "-S,--core-spec",
       .value = slurm_number("core-spec", 0, 65'535),
       .help = "cores of each node that are left to the system",
       .variable = "SBATCH_CORE_SPEC"},
      {.names = "--thread-spec",
       .value = slurm_count("thread-spec"),
       .help = "hardware threads of each node that are left to the system",
       .variable = "SBATCH_THREAD_SPEC"},
      {.names = "--mem-bind",
       .value = for_slurm("mem-bind", "TEXT"),
       .help = "how Slurm binds memory; dtsubmit binds that of ranks itself",
       .variable = "SBATCH_MEM_BIND"},
      {.names = "--cpu-freq",
       .value = for_slurm("cpu-freq", "TEXT"),
       .help = "frequency of the cores, e.g. high or 2000000-2400000:performance",
       .variable = "SBATCH_CPU_FREQ_REQ"},
      {.names = "--tres-per-task",
       .value = for_slurm("tres-per-task", "LIST"),
       .help = "resources of each rank [Slurm 23.11]",
       .variable = "SBATCH_TRES_PER_TASK"},
  };
}

}  // namespace dts::spec
