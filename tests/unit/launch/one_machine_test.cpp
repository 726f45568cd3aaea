// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/one_machine.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::launch;

namespace {

plan::Environment joined(const char* open_mpi, const char* master, const char* world) {
  plan::Environment variables{
      {"WORLD_SIZE", world}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", master}};
  const std::size_t before = variables.size();
  join_one_machine(
      variables, open_mpi, [](const std::string& name) { return name == "OMPI_MCA_pml_ucx_tls"; });
  variables.erase(variables.begin(), variables.begin() + static_cast<std::ptrdiff_t>(before));
  return variables;
}

}  // namespace

TEST_CASE("nodes that are one machine talk through UCX under Open MPI 6") {
  CHECK(joined("6.0.0rc2", "127.33.62.2", "4") ==
        plan::Environment{{"OMPI_MCA_pml", "ucx"}, {"OMPI_MCA_pml_ucx_devices", "any"}});
  CHECK(joined("5.0.7", "127.33.62.2", "4").empty());
  CHECK(joined("", "127.33.62.2", "4").empty());
  CHECK(joined("6.1.0", "10.0.0.1", "4").empty());
  CHECK(joined("6.1.0", "127.0.0.1", "2").empty());  // one node
}
