// SPDX-License-Identifier: Apache-2.0
// Which of the launcher's own variables a program does not inherit.
#include "core/launch/rank/launcher_ranks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace dts::launch;

TEST_CASE("the processes of torchrun do not inherit mpirun's numbers of their parent") {
  const auto forgotten = ranks_to_forget({{"RANK", "1"}, {"PET_NPROC_PER_NODE", "4"}});
  for (const std::string name : {"OMPI_COMM_WORLD_RANK",
                                 "OMPI_COMM_WORLD_SIZE",
                                 "OMPI_COMM_WORLD_LOCAL_RANK",
                                 "OMPI_COMM_WORLD_LOCAL_SIZE",
                                 "OMPI_COMM_WORLD_NODE_RANK"})
    CHECK(std::count(forgotten.begin(), forgotten.end(), name) == 1);
}

TEST_CASE("a program that is a rank keeps its launcher's variables") {
  CHECK(ranks_to_forget({{"RANK", "1"}, {"LOCAL_RANK", "0"}}).empty());
}
