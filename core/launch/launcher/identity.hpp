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
  std::optional<unsigned> node_rank;   // as the source numbers the nodes: not by their lowest rank
  std::string source;                  // "Open MPI", "Slurm step", ...; "none": a process by itself
};

// Order of precedence: OMPI_*, PMIX_* and PMI_*, a Slurm step, torchrun, none. Under mpirun the
// SLURM_* variables are the batch step's, or those of the daemon that the rank is a child of, and
// mean nothing. A torchrun that is the only task of the step on its node is inside it, and its
// workers are the ranks. RANK and WORLD_SIZE without torchrun's run id are not a source: many
// programs set them. Errc::invalid, naming the variables, if
// - a source is incomplete, is not a number, or its numbers do not fit together;
// - one launcher is inside another, so that there are several worlds;
// - two sources that must agree do not.
[[nodiscard]] Result<Identity> identify(const Lookup& lookup);

}  // namespace dts::launch
