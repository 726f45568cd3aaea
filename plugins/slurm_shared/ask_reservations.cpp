// SPDX-License-Identifier: Apache-2.0
// Compiled into each of Slurm's plug-ins, because each has a load_reservations() of its own.
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "plugins/slurm_shared/operations.hpp"
#include "plugins/slurm_shared/reservation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <string>
#include <utility>

namespace slurm_plugin {
namespace {

// Whether none of the partitions that it may use has so many nodes, if Slurm says so.
bool asks_for_too_many(const json& request) {
  const auto all = partitions(json::object());
  if (!all) return false;
  const auto named = dts::split(request.value("partition", std::string()), ',');
  // A reservation may have a partition of its own.
  const bool is_any = !request.contains("partition") || !reservations_in(request).empty();
  std::size_t most = 0;
  for (const json& one : *all) {
    if (!is_any && std::ranges::find(named, one.value("name", std::string())) == named.end())
      continue;
    const auto nodes = dts::expand_hostlist(one.value("nodes", std::string()));
    if (!nodes) return false;
    most = std::max(most, nodes->size());
  }
  return most > 0 && request.value("nodes", std::size_t{1}) > most;
}

}  // namespace

json with_reservations(json reply, std::int64_t now) {
  if (concern_reservations(reply)) add_reservations(reply, load_reservations(), now);
  return reply;
}

bool are_nearly_over(const std::string& names) {
  return !names.empty() && are_nearly_over(names, load_reservations(), std::time(nullptr));
}

std::string leave_ending_reservations(json& request) {
  const bool names_any = request.contains("continues_after") &&
                         (!reservations_in(request).empty() || request.contains("components"));
  return names_any ? leave_ending_reservations(request, load_reservations(), std::time(nullptr))
                   : std::string();
}

tl::unexpected<Failure> with_reservations(tl::unexpected<Failure> refusal,
                                          const json& request,
                                          std::int64_t now) {
  if (!may_be_reserved(refusal.value())) return refusal;
  Failure perhaps = of_prediction(refusal.value(), request, load_reservations(), now);
  const bool is_certain = perhaps.code == refusal.value().code;
  return is_certain || !asks_for_too_many(request) ? tl::unexpected(std::move(perhaps)) : refusal;
}

}  // namespace slurm_plugin
