// SPDX-License-Identifier: Apache-2.0
// Environment definition files of the Container Engine at CSCS, which only srun reads
// (--environment, https://docs.cscs.ch/software/container-engine/run). They are refused, because a
// program could not save before a preemption. See core/decisions/0011-containers.md.
#include "core/launch/container/container.hpp"

namespace dts::launch {

const ContainerType k_edf_runtime{"srun", {}, spec::k_no_definitions, false, false, false, nullptr};

}  // namespace dts::launch
