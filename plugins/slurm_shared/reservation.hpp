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
  std::string name{};
  std::string nodes{};  // host list
  std::int64_t start = 0;
  std::int64_t end = 0;
  bool recurs = false;  // DAILY and the like
  // Slurm kills jobs in it at its end. It lets them run on if the reservation is of the kind FLEX,
  // or recurs; measured on 22.05.
  bool ends_jobs = false;
};

// Slurm kills a job so long after its reservation's end at the earliest, in seconds (ResvOverRun);
// nullopt: never.
using OverRun = std::optional<std::int64_t>;

struct Reservations {
  std::vector<Reservation> all{};
  OverRun over_run = 0;
  bool are_known = true;  // false: Slurm did not answer
};

// All reservations now, which each plug-in asks for in its own way.
[[nodiscard]] Reservations load_reservations();

// A job's reply, with what reservations mean for it; asks for them only if there are any to look
// at.
[[nodiscard]] nlohmann::json with_reservations(nlohmann::json reply, std::int64_t now);

// See are_nearly_over() below. Asks for reservations only if any are named.
[[nodiscard]] bool are_nearly_over(const std::string& names);

// See the other one below. Asks for reservations only if the request names any.
[[nodiscard]] std::string leave_ending_reservations(nlohmann::json& request);

// A refused prediction, likewise: see of_prediction().
[[nodiscard]] tl::unexpected<Failure> with_reservations(tl::unexpected<Failure> refusal,
                                                        const nlohmann::json& request,
                                                        std::int64_t now);

// The rest is pure.

// As `scontrol show reservation` prints it.
[[nodiscard]] Reservation reservation_of(const Record& record);

// Sets what follows from its flags as they are printed: "FLEX,SPEC_NODES".
void add_flags(Reservation& one, const std::string& flags);

// The value of ResvOverRun in `scontrol show config`.
[[nodiscard]] OverRun over_run_of(const std::string& printed);

// Whether reservations could change what a job's reply says, so that they must be loaded.
[[nodiscard]] bool concern_reservations(const nlohmann::json& reply);

// Adds to a job's reply when its reservation ends it, or which reservation it waits for. Its
// "reservation" may be a list, one of which it gets.
void add_reservations(nlohmann::json& reply, const Reservations& now_known, std::int64_t now);

// Whether a job in the queue that asks for these reservations, a list, would only get what is left
// of them: a few minutes, or nothing, and then Slurm holds it (RESV_DEL_HOLD). That end is the
// reservations' own, also of those that let running jobs run on.
[[nodiscard]] bool are_nearly_over(const std::string& names,
                                   const Reservations& now_known,
                                   std::int64_t now);

// Takes reservations from a submission that continues a run ("continues_after") if they are nearly
// over by the time the job may start: in the rest of one it would hardly compute, and Slurm holds
// it at the end. Returns their names; empty: it keeps what it asks for. The option is then empty,
// not absent, because the script asks for them as well.
[[nodiscard]] std::string leave_ending_reservations(nlohmann::json& request,
                                                    const Reservations& now_known,
                                                    std::int64_t now);

// Whether reservations could be the reason for a refused prediction.
[[nodiscard]] bool may_be_reserved(const Failure& failure);

// The reservations that a request asks for, a list; empty: none.
[[nodiscard]] std::string reservations_in(const nlohmann::json& request);

// Slurm's predictions know neither reservations that have not begun nor those in a job's way: it
// answers as if no node of the site fitted. Makes such a refusal an answer that is not known.
[[nodiscard]] Failure of_prediction(Failure failure,
                                    const nlohmann::json& request,
                                    const Reservations& now_known,
                                    std::int64_t now);

}  // namespace slurm_plugin
