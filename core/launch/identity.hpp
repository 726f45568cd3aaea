// SPDX-License-Identifier: Apache-2.0
// Who a process is among the ranks, read from the variables its launcher set. Pure.
#pragma once

#include "core/base/result.hpp"

#include <functional>
#include <optional>
#include <string>

namespace dts::launch {

struct Identity {
  unsigned rank = 0;
  unsigned world_size = 1;
  unsigned local_rank = 0;
  std::string source;  // "Open MPI", "Slurm step", ...
};

using Lookup = std::function<std::optional<std::string>(const char* name)>;

// OMPI_* before PMIX_* and PMI_* before a Slurm step before none: under mpirun the SLURM_*
// variables of the batch step are inherited and mean nothing (design.md section 5). A source that
// is there only in part, or holds no number, is an error that names the variable.
[[nodiscard]] Result<Identity> identify(const Lookup& lookup);

// The node's name: SLURMD_NODENAME, which slurmd sets on the node itself, else `host`.
[[nodiscard]] std::string node_name(const Lookup& lookup, const std::string& host);

// The process's own environment.
[[nodiscard]] std::optional<std::string> getenv_lookup(const char* name);

}  // namespace dts::launch
