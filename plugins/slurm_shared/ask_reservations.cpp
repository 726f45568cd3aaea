// SPDX-License-Identifier: Apache-2.0
// Compiled into each of Slurm's plug-ins, because each has a load_reservations() of its own.
#include "plugins/slurm_shared/operations.hpp"
#include "plugins/slurm_shared/reservation.hpp"

#include <nlohmann/json.hpp>

#include <ctime>
#include <utility>

namespace slurm_plugin {

json with_reservations(json reply, std::int64_t now) {
  if (concern_reservations(reply)) add_reservations(reply, load_reservations(), now);
  return reply;
}

bool ends_with_reservation(const json& request) {
  const auto reply = job(request);
  return reply && is_nearly_over(*reply, std::time(nullptr));
}

tl::unexpected<Failure> with_reservations(tl::unexpected<Failure> refusal,
                                          const json& request,
                                          std::int64_t now) {
  if (!may_be_reserved(refusal.value())) return refusal;
  return tl::unexpected(
      of_prediction(std::move(refusal).value(), request, load_reservations(), now));
}

}  // namespace slurm_plugin
