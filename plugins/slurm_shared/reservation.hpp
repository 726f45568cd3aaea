// SPDX-License-Identifier: Apache-2.0
// Reservations: those that jobs run in, which end them, and those that keep other jobs waiting.
#pragma once

#include "plugins/slurm_shared/failure.hpp"
#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slurm_plugin {

// Times are Unix seconds.
struct Reservation {
  std::string name;
  std::string nodes;  // host list
  std::int64_t start = 0;
  std::int64_t end = 0;
  // Slurm kills jobs in it at its end. It lets them run on if the reservation is of the kind FLEX,
  // or comes back (DAILY); measured on 22.05.
  bool ends_jobs = false;
};

// Slurm kills a job so long after its reservation's end at the earliest, in seconds (ResvOverRun);
// nullopt: never.
using OverRun = std::optional<std::int64_t>;

struct Reservations {
  std::vector<Reservation> all;
  OverRun over_run = 0;
};

// All reservations now, which each plug-in asks for in its own way; none if Slurm does not answer.
[[nodiscard]] Reservations load_reservations();

// A job's reply, with what reservations mean for it; asks for them only if there are any to look
// at.
[[nodiscard]] nlohmann::json with_reservations(nlohmann::json reply, std::int64_t now);

// Whether the job runs in a reservation that is_nearly_over().
[[nodiscard]] bool ends_with_reservation(const nlohmann::json& request);

// A refused prediction, likewise: see of_prediction().
[[nodiscard]] tl::unexpected<Failure> with_reservations(tl::unexpected<Failure> refusal,
                                                        const nlohmann::json& request,
                                                        std::int64_t now);

// The rest is pure.

// As `scontrol show reservation` prints it.
[[nodiscard]] Reservation reservation_of(const Record& record);

// The value of ResvOverRun in `scontrol show config`.
[[nodiscard]] OverRun over_run_of(const std::string& printed);

// Whether reservations could change what a job's reply says, so that they must be loaded.
[[nodiscard]] bool concern_reservations(const nlohmann::json& reply);

// Adds to a job's reply when its reservation ends it, or which reservation it waits for.
void add_reservations(nlohmann::json& reply, const Reservations& now_known, std::int64_t now);

// Whether a job that must go back into the queue would only get what is left of its reservation: a
// few minutes, or nothing, and then Slurm holds it (RESV_DEL_HOLD).
[[nodiscard]] bool is_nearly_over(const nlohmann::json& reply, std::int64_t now);

// Whether reservations could be the reason for a refused prediction.
[[nodiscard]] bool may_be_reserved(const Failure& failure);

// Slurm's predictions know neither reservations that have not begun nor those in a job's way: it
// answers as if no node of the site fitted. Makes such a refusal an answer that is not known.
[[nodiscard]] Failure of_prediction(Failure failure,
                                    const nlohmann::json& request,
                                    const Reservations& now_known,
                                    std::int64_t now);

}  // namespace slurm_plugin
