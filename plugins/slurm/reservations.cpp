// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm/loaded_config.hpp"
#include "plugins/slurm/message.hpp"
#include "plugins/slurm/printed.hpp"
#include "plugins/slurm_shared/reservation.hpp"

#include <slurm/slurm.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace slurm_plugin {

// Read from libslurm's text, because the numbers of the flags grow from release to release.
Reservations load_reservations() {
  reserve_info_msg_t* raw = nullptr;
  if (slurm_load_reservations(0, &raw) != SLURM_SUCCESS) return {};
  const Message<reserve_info_msg_t, slurm_free_reservation_info_msg> message(raw);
  Reservations found;
  for (std::uint32_t i = 0; i < message->record_count; ++i) {
    const std::string text = printed([&](std::FILE* stream) {
      slurm_print_reservation_info(stream, &message->reservation_array[i], 0);
    });
    for (const Record& record : parse_records(text)) found.all.push_back(reservation_of(record));
  }
  if (const Config conf = load_config(); conf != nullptr)
    found.over_run =
        conf->resv_over_run == INFINITE16 ? OverRun() : OverRun(conf->resv_over_run * 60);
  return found;
}

}  // namespace slurm_plugin
