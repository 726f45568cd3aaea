// SPDX-License-Identifier: Apache-2.0
// Converts a binding into the options of other launchers. Pure.
#pragma once

#include "core/plan/binding/binding.hpp"

#include <string>

namespace dts::cli {

// srun(1): "--ntasks-per-node=2 --cpu-bind=mask_cpu:0xf,0xf0". Task i of a node gets mask i, the
// same on every node, if task/affinity is configured and the step has the whole node.
[[nodiscard]] std::string slurm_flags(const plan::NodeBinding& binding);

// A rankfile of Open MPI 4 (mpirun(1), "Rankfiles"), with the mpirun command as a comment: a line
// "rank 0=localhost slot=0-3" for each rank. CPU numbers are the operating system's, not Open
// MPI's.
[[nodiscard]] std::string openmpi_rankfile(const plan::NodeBinding& binding);

}  // namespace dts::cli
