// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/semantics.hpp"

#include "core/base/release.hpp"

#include <array>

namespace slurm_plugin {
namespace {

struct FirstRelease {
  Fact fact;
  dts::Release since;
};

constexpr std::array k_first_releases{
    // CHANGELOG of 24.05; measured on 22.05.8 (not so), 24.11.5 and 26.05.5.
    FirstRelease{Fact::restarts_ended_jobs, {24, 5}},
    // sbatch(1) of 25.11; measured on 26.05.5.
    FirstRelease{Fact::expedited_requeue, {25, 11}},
};

}  // namespace

bool holds_for(Fact fact, std::string_view release) {
  const auto known = dts::release_of(release);
  for (const FirstRelease& row : k_first_releases)
    if (row.fact == fact) return known && *known >= row.since;
  return false;
}

}  // namespace slurm_plugin
