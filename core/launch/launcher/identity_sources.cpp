// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/identity_sources.hpp"

#include "core/base/os/environment.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace dts::launch {
namespace {

constexpr std::uint64_t k_most_ranks = 10'000'000;
// From this number on, Slurm's steps have no ranks: batch script, salloc's shell and so on
// (slurm.h, SLURM_MAX_NORMAL_STEP_ID).
constexpr std::uint64_t k_special_steps = 0xfffffff0;

// SLURM_STEP_NUM_TASKS belongs to the step. So does SLURM_NTASKS, except in a batch script, where
// it belongs to the job.
constexpr Source k_step{
    "Slurm step", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr, "SLURM_NODEID"};
constexpr Source k_step_without_size{
    "Slurm step", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr, "SLURM_NODEID"};

Result<std::optional<unsigned>> optional_number(const Source& source,
                                                const char* name,
                                                const Lookup& lookup) {
  if (name == nullptr || !lookup(name)) return std::nullopt;
  DTS_ASSIGN(const unsigned value, read_number(source, name, lookup));
  return value;
}

Result<void> check_numbers(const Source& source, const Identity& identity) {
  if (identity.rank >= identity.world_size)
    return fail(
        Errc::invalid,
        fmt::format("{}={} in a world of {}", source.rank, identity.rank, identity.world_size));
  const unsigned local_size = identity.local_size.value_or(identity.world_size);
  if (local_size > identity.world_size)
    return fail(Errc::invalid,
                fmt::format("{}: {} ranks on this node in a world of {}",
                            source.local_size != nullptr ? source.local_size : source.name,
                            local_size,
                            identity.world_size));
  if (identity.local_rank >= local_size)
    return fail(Errc::invalid,
                fmt::format("{}={}, but the node has at most {}",
                            source.local_rank,
                            identity.local_rank,
                            counted(local_size, "rank")));
  return {};
}

bool is_special_step(const std::optional<std::string>& id) {
  const auto number = parse_number(id.value_or(""));
  return number && *number >= k_special_steps;
}

// For a batch script, slurmd sets SLURM_GTIDS (the tasks on this node) and SLURMD_NODENAME anew,
// but keeps the SLURM_STEP_* variables from the submission, so the two do not match.
bool leaked(const Lookup& lookup, const Identity& identity, const std::vector<unsigned>& counts) {
  const std::size_t node = identity.node_rank.value_or(0);
  if (lookup("SLURM_GTIDS") == "0" && node < counts.size() && counts[node] > 1) return true;
  const auto name = lookup("SLURMD_NODENAME");
  const auto nodes = expand_hostlist(lookup("SLURM_STEP_NODELIST").value_or(""));
  return name && nodes && std::find(nodes->begin(), nodes->end(), *name) == nodes->end();
}

// `counts`: SLURM_STEP_TASKS_PER_NODE, expanded to one number per node.
Result<void> add_counts(SlurmStep& step,
                        const Source& source,
                        const std::vector<unsigned>& counts) {
  Identity& identity = step.identity;
  step.several_on_a_node = identity.local_rank > 0 ||
                           std::any_of(counts.begin(), counts.end(), [](auto n) { return n > 1; });
  if (counts.empty()) return {};
  const auto sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (sum != identity.world_size)
    return fail(Errc::invalid,
                fmt::format("{}={} but SLURM_STEP_TASKS_PER_NODE says {} tasks in all",
                            source.world_size,
                            identity.world_size,
                            sum));
  if (!identity.node_rank) return {};
  if (*identity.node_rank >= counts.size())
    return fail(Errc::invalid,
                fmt::format("{}={} in a step of {}",
                            source.node_rank,
                            *identity.node_rank,
                            counted(counts.size(), "node")));
  identity.local_size = counts[*identity.node_rank];
  return check_numbers(source, identity);
}

}  // namespace

Result<unsigned> read_number(const Source& source, const char* name, const Lookup& lookup) {
  const auto text = lookup(name);
  if (!text)
    return fail(
        Errc::invalid,
        fmt::format("{} is set but {} is not: half of the variables of {} reached this process",
                    name == std::string_view(source.rank) ? source.world_size : source.rank,
                    name,
                    source.name),
        "start ranks with mpirun or srun, not by ssh into a running job");
  const auto value = parse_number(*text);
  if (!value || *value > k_most_ranks)
    return fail(Errc::invalid, fmt::format("{}=`{}` is not a rank or a size", name, *text));
  return static_cast<unsigned>(*value);
}

Result<Identity> read_source(const Source& source, const Lookup& lookup) {
  Identity identity;
  identity.source = source.name;
  DTS_ASSIGN(identity.rank, read_number(source, source.rank, lookup));
  DTS_ASSIGN(identity.world_size, read_number(source, source.world_size, lookup));
  DTS_ASSIGN(identity.local_rank, read_number(source, source.local_rank, lookup));
  DTS_ASSIGN(identity.local_size, optional_number(source, source.local_size, lookup));
  DTS_ASSIGN(identity.node_rank, optional_number(source, source.node_rank, lookup));
  DTS_TRY(check_numbers(source, identity));
  return identity;
}

Result<std::optional<SlurmStep>> slurm_step(const Lookup& lookup) {
  const auto id = lookup("SLURM_STEP_ID");
  if (!lookup("SLURM_PROCID") || is_special_step(id)) return std::nullopt;
  const bool own_size = lookup(k_step.world_size).has_value();
  // A batch script has SLURM_PROCID=0 but does not belong to a step with ranks.
  if (!own_size && !id && lookup("SLURM_PROCID") == "0") return std::nullopt;
  const Source& source = own_size || !id ? k_step : k_step_without_size;
  SlurmStep step;
  DTS_ASSIGN(step.identity, read_source(source, lookup));
  std::vector<unsigned> counts;
  if (const auto text = lookup("SLURM_STEP_TASKS_PER_NODE")) {
    DTS_ASSIGN(counts, expand_counts(*text));
  }
  if (leaked(lookup, step.identity, counts)) return std::nullopt;
  DTS_TRY(add_counts(step, source, counts));
  if (const auto job = lookup("SLURM_JOB_ID"); job && id) step.id = *job + "." + *id;
  return step;
}

}  // namespace dts::launch
