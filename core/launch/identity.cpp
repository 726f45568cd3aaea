// SPDX-License-Identifier: Apache-2.0
#include "core/launch/identity.hpp"

#include "core/base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace dts::launch {
namespace {

struct Source {
  const char* name;
  const char* rank;
  const char* world_size;
  const char* local_rank;
};

// PMIx gives its clients a rank but no size by environment; MPICH's PMI gives both and
// MPI_LOCALRANKID.
constexpr std::array<Source, 3> k_sources{{
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"Slurm step", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
}};

Result<unsigned> number(const Lookup& lookup, const Source& source, const char* name) {
  const auto text = lookup(name);
  if (!text)
    return fail(
        Errc::invalid,
        fmt::format("{} is set but {} is not: half of the variables of {} reached this process",
                    source.rank,
                    name,
                    source.name),
        "start ranks with mpirun or srun, not by ssh into a running job");
  const auto value = parse_number(*text);
  if (!value || *value > 10'000'000)
    return fail(Errc::invalid, fmt::format("{}=`{}` is not a rank or a size", name, *text));
  return static_cast<unsigned>(*value);
}

}  // namespace

Result<Identity> identify(const Lookup& lookup) {
  for (const Source& source : k_sources) {
    if (!lookup(source.rank)) continue;
    // In the batch step itself SLURM_PROCID is 0 and there is no step size: that is no rank.
    if (source.world_size == std::string_view("SLURM_STEP_NUM_TASKS") && !lookup(source.world_size))
      continue;
    Identity identity;
    DTS_ASSIGN(identity.rank, number(lookup, source, source.rank));
    DTS_ASSIGN(identity.world_size, number(lookup, source, source.world_size));
    DTS_ASSIGN(identity.local_rank, number(lookup, source, source.local_rank));
    identity.source = source.name;
    if (identity.rank >= identity.world_size)
      return fail(
          Errc::invalid,
          fmt::format("{}={} in a world of {}", source.rank, identity.rank, identity.world_size));
    return identity;
  }
  return Identity{0, 1, 0, "none"};
}

std::string node_name(const Lookup& lookup, const std::string& host) {
  const auto name = lookup("SLURMD_NODENAME");
  return name && !name->empty() ? *name : host;
}

std::optional<std::string> getenv_lookup(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace dts::launch
