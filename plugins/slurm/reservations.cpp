// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm/loaded_config.hpp"
#include "plugins/slurm/message.hpp"
#include "plugins/slurm/printed.hpp"
#include "plugins/slurm/words.hpp"
#include "plugins/slurm_shared/reservation.hpp"

#include <slurm/slurm.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace slurm_plugin {
namespace {

Reservation reservation_of(reserve_info_t& info) {
  const std::string printed_info =
      printed([&](std::FILE* stream) { slurm_print_reservation_info(stream, &info, 0); });
  const auto records = parse_records(printed_info);
  Reservation one{.name = text(info.name),
                  .nodes = text(info.node_list),
                  .start = info.start_time,
                  .end = info.end_time};
  add_flags(one, records.empty() ? std::string() : records.front().text("Flags"));
  return one;
}

}  // namespace

// The flags are read from libslurm's text, because their numbers grow from release to release; not
// the times, which it prints as the user likes (SLURM_TIME_FORMAT).
Reservations load_reservations() {
  reserve_info_msg_t* raw = nullptr;
  if (slurm_load_reservations(0, &raw) != SLURM_SUCCESS) return {.are_known = false};
  const Message<reserve_info_msg_t, slurm_free_reservation_info_msg> message(raw);
  Reservations found;
  for (std::uint32_t i = 0; i < message->record_count; ++i)
    found.all.push_back(reservation_of(message->reservation_array[i]));
  if (const Config conf = load_config(); conf != nullptr)
    found.over_run =
        conf->resv_over_run == INFINITE16 ? OverRun() : OverRun(conf->resv_over_run * 60);
  return found;
}

}  // namespace slurm_plugin
