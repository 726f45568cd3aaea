// SPDX-License-Identifier: Apache-2.0
// What `dtsubmit doctor` finds out about the machine that it runs on.
#pragma once

#include "core/doctor/facts.hpp"

#include <string>

namespace dts::cli {

// `runs`: the folder of run directories. Runs mpirun, srun and ompi_info to get their versions;
// members for which there is no answer stay empty.
[[nodiscard]] doctor::Machine inspect_machine(const std::string& runs);

}  // namespace dts::cli
