// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/launcher_ranks.hpp"

#include "core/launch/launcher/identity_sources.hpp"

namespace dts::launch {

std::vector<const char*> ranks_to_forget(const plan::Environment& variables) {
  if (plan::value_of(variables, "PET_NPROC_PER_NODE").empty()) return {};
  return {k_open_mpi.rank,
          k_open_mpi.world_size,
          k_open_mpi.local_rank,
          k_open_mpi.local_size,
          "OMPI_COMM_WORLD_NODE_RANK"};
}

}  // namespace dts::launch
