// SPDX-License-Identifier: Apache-2.0
// Inherited variables in a program's environment: the user's own, which are kept, and those of
// another job, which must be removed.
#include "core/base/text/text.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/thread_places.hpp"
#include "core/plan/torch_variables.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace dts::plan {

namespace {

bool starts_with_one_of(std::string_view name, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
    return name.substr(0, prefix.size()) == prefix;
  });
}

// Parameters of Open MPI with which users and sites choose how processes are connected. All others
// that mpirun passes on (ess, orte, plm, pmix, ...) describe the job that a process belongs to.
bool is_mpi_setting(std::string_view name) {
  const std::string_view prefix = "OMPI_MCA_";
  return name.starts_with(prefix) && starts_with_one_of(name.substr(prefix.size()),
                                                        {"btl",
                                                         "pml",
                                                         "mtl",
                                                         "osc",
                                                         "coll",
                                                         "io",
                                                         "fcoll",
                                                         "opal_",
                                                         "oob_tcp_",
                                                         "common_",
                                                         "mca_base_component_show",
                                                         "smsc",
                                                         "accelerator"});
}

}  // namespace

bool is_overridden(std::string_view name, const IsSet& is_set) {
  const bool places =
      name == "KMP_WARNINGS" ||  // only ever set together with them
      std::find(k_thread_places.begin(), k_thread_places.end(), name) != k_thread_places.end();
  if (places && std::any_of(k_thread_places.begin(), k_thread_places.end(), is_set)) return true;
  const bool advice = name == "OMP_NUM_THREADS" || name == "KMP_WARNINGS" ||
                      starts_with_one_of(name, {"NCCL_", "GLOO_", "UCX_", "WANDB_", "MLFLOW_"});
  return advice && is_set(std::string(name));
}

bool is_leaky_variable(std::string_view name) {
  static const std::set<std::string, std::less<>> k_names = {"TF_CONFIG",
                                                             "HOROVOD_RANK",
                                                             "HOROVOD_SIZE",
                                                             "HOROVOD_LOCAL_RANK",
                                                             "JAX_PROCESS_ID",
                                                             "JAX_NUM_PROCESSES",
                                                             "HOROVOD_CROSS_RANK",
                                                             "HOROVOD_LOCAL_SIZE",
                                                             "HOROVOD_CROSS_SIZE",
                                                             "JAX_COORDINATOR_ADDRESS",
                                                             "JAX_LOCAL_DEVICE_IDS",
                                                             "SM_HOSTS",
                                                             "SM_CURRENT_HOST",
                                                             "SM_NUM_GPUS",
                                                             "DTSUBMIT_ADVICE",
                                                             "DTSUBMIT_CHECKPOINT_EVERY",
                                                             "DTSUBMIT_JOB_DIR",
                                                             "DTSUBMIT_RESUME_FROM",
                                                             "DTSUBMIT_RUN_BEGAN",
                                                             "DTSUBMIT_STAGE_DIR",
                                                             "MPI_LOCALRANKID",
                                                             "MPI_LOCALNRANKS"};
  if (name == "SLURM_CONF" || name == "SLURM_CONF_SERVER" || is_mpi_setting(name)) return false;
  const auto is_of = [&](const spec::LauncherRow& row) {
    return starts_with_one_of(name, row.leaks);
  };
  const auto& launchers = spec::built_in_launchers();
  return k_names.count(name) > 0 || is_one_of(k_torch_variables, name) ||
         std::any_of(launchers.begin(), launchers.end(), is_of) ||
         starts_with_one_of(name,
                            {"MV2_COMM_WORLD_",
                             "PET_",
                             "TORCHELASTIC_",
                             "SUBMITIT_EXECUTOR",
                             "SUBMITIT_FOLDER",
                             "SUBMITIT_LOCAL_",
                             "SUBMITIT_DEBUG_",
                             "DTSUBMIT_STEP",
                             "DTSUBMIT_ROLE"});
}

}  // namespace dts::plan
