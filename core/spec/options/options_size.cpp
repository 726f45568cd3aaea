// SPDX-License-Identifier: Apache-2.0
// Options: the size of a job in totals, per task or per GPU; settle_size() converts to per-node
// numbers.
#include "core/spec/values/slurm_values.hpp"
#include "core/spec/values/values.hpp"

namespace dts::spec {

std::vector<Option> size_options() {
  return {
      {.names = "-n,--ntasks",
       .value = task_total(&Totals::ntasks),
       .help = "ranks of the whole job, shared evenly by the nodes",
       .manual = R"(Ranks of the whole job.
Every node gets the same number; without
.B \-\-nodes
the number of nodes follows from
.B \-\-ntasks\-per\-node
or, with one rank per GPU, from
.BR \-\-gpus\-per\-node ,
and is 1 if neither is given.
A total that cannot be shared evenly is refused.
)"},
      {.names = "-G,--gpus",
       .value = gpu_total(&Totals::gpus),
       .help = "GPUs of the whole job, e.g. 16 or a100:16",
       .manual = R"(GPUs of the whole job, with or without a type.
Every node gets the same number; see
.BR \-\-ntasks .
)",
       .variable = "SBATCH_GPUS"},
      {.names = "--gpus-per-task",
       .value = gpu_total(&Totals::gpus_per_task),
       .help = "GPUs for each rank, e.g. 1 or a100:1",
       .manual = R"(GPUs for each rank.
Unlike with srun, a rank's processes can reach the other GPUs of its node, so that NCCL can use NVLink; which of them its
program sees is a matter of
.BR \-\-gpu\-view .
)",
       .variable = "SBATCH_GPUS_PER_TASK",
       .is_rare = true},
      {.names = "--ntasks-per-gpu",
       .value = ranks_per_gpu(),
       .help = "ranks that share each GPU",
       .manual = R"(Ranks that share each GPU; a rank sees only the GPU that it shares.
Without this option, more ranks than GPUs are refused, because NCCL does not accept two ranks on one GPU.
)",
       .is_rare = true},
      {.names = "--cpus-per-gpu",
       .value = count_if_any(&JobSpec::cpus_per_gpu),
       .help = "cores for each GPU, shared by its ranks",
       .manual = R"(Cores for each GPU; becomes
.BR \-\-cpus\-per\-task .
)",
       .variable = "SBATCH_CPUS_PER_GPU",
       .is_rare = true},
      {.names = "--gres",
       .value = gres(),
       .help = "generic resources of each node, e.g. gpu:a100:4",
       .manual = R"(Generic resources of each node.
GPUs among them are the same as
.BR \-\-gpus\-per\-node .
)",
       .variable = "SBATCH_GRES"},
  };
}

}  // namespace dts::spec
