// SPDX-License-Identifier: Apache-2.0
// A process's place among the ranks, read from the variables that its launcher set. Pure.
#pragma once

#include "core/base/os/environment.hpp"
#include "core/base/result.hpp"

#include <optional>
#include <string>

namespace dts::launch {

struct Identity {
  unsigned rank = 0;
  unsigned world_size = 1;
  unsigned local_rank = 0;
  std::optional<unsigned> local_size;  // ranks on this node, if the source says so
  std::optional<unsigned> node_rank;   // in the source's own order, not that of the lowest ranks
  std::string source;                  // "Open MPI", "Slurm step", ...; "none": no launcher
};

// Order of precedence: OMPI_*, PMIX_* and PMI_*, a Slurm step, torchrun, none. Under mpirun the
// SLURM_* variables are those of the batch step, or of the daemon that started the rank, and say
// nothing about the rank. If torchrun is its node's only task in the step, it is nested in the
// step, and its workers are the ranks. RANK and WORLD_SIZE without torchrun's run id do not count
// as a source, because many programs set them. Errc::invalid, naming the variables, if
// - a source is incomplete, has a value that is not a number, or contradicts itself;
// - one launcher runs inside another, so that there are several worlds;
// - two sources that must agree do not.
[[nodiscard]] Result<Identity> identify(const Lookup& lookup);

}  // namespace dts::launch
