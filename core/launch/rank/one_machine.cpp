// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/one_machine.hpp"

#include "core/base/net/net.hpp"
#include "core/base/text/text.hpp"

#include <string>
#include <utility>

namespace dts::launch {
namespace {

constexpr unsigned k_refusing_release = 6;

constexpr std::pair<const char*, const char*> k_ucx[] = {
    {"OMPI_MCA_pml", "ucx"}, {"OMPI_MCA_pml_ucx_tls", "any"}, {"OMPI_MCA_pml_ucx_devices", "any"}};

}  // namespace

void join_one_machine(plan::Environment& variables,
                      std::string_view open_mpi,
                      const plan::IsSet& is_set) {
  const auto release = parse_number(std::string(open_mpi.substr(0, open_mpi.find('.'))));
  if (release.value_or(0) < k_refusing_release) return;
  if (plan::value_of(variables, "WORLD_SIZE") == plan::value_of(variables, "LOCAL_WORLD_SIZE"))
    return;
  if (!is_loopback(plan::value_of(variables, "MASTER_ADDR"))) return;
  for (const auto& [name, value] : k_ucx)
    if (!is_set(name)) variables.emplace_back(name, value);
}

}  // namespace dts::launch
