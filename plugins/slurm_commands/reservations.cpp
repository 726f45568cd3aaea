// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/command.hpp"
#include "plugins/slurm_shared/reservation.hpp"

namespace slurm_plugin {

Reservations load_reservations() {
  const auto text = output_of({"scontrol", "--all", "show", "reservation"});
  if (!text) return {.are_known = false};
  Reservations found;
  for (const Record& record : parse_records(*text)) found.all.push_back(reservation_of(record));
  const auto config = output_of({"scontrol", "show", "config"});
  if (config) found.over_run = over_run_of(parse_config(*config).text("ResvOverRun"));
  return found;
}

}  // namespace slurm_plugin
