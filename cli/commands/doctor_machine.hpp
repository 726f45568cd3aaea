// SPDX-License-Identifier: Apache-2.0
// What `dtsubmit doctor` sees of the machine that it runs on.
#pragma once

#include "core/doctor/facts.hpp"

#include <string>

namespace dts::cli {

// `runs`: the folder of run directories. Starts mpirun, srun and ompi_info for their versions; what
// does not answer is left empty.
[[nodiscard]] doctor::Machine look_around(const std::string& runs);

}  // namespace dts::cli
