// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/reservation.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

namespace slurm_plugin {
namespace {

// Of those in a job's way, so many are named.
constexpr std::size_t k_most_named = 3;

constexpr std::int64_t k_for_ever = std::int64_t{1} << 40;  // seconds

std::string utc(std::int64_t time) {
  return dts::format_utc(std::chrono::system_clock::from_time_t(time));
}

std::string text_in(const json& object, const char* name) {
  return object.value(name, std::string());
}

bool mentions(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

// "Reserved for maintenance", "May be reserved for other job"
bool is_kept_out(const json& reply) {
  const std::string said = text_in(reply, "description");
  return reply.value("state", "") == "pending" && mentions(said, "ReqNodeNotAvail") &&
         (mentions(said, "eserved") || mentions(said, "aintenance"));
}

const Reservation* find(const Reservations& among, const std::string& name) {
  const auto found = std::ranges::find(among.all, name, &Reservation::name);
  return found == among.all.end() ? nullptr : &*found;
}

std::string period_of(const Reservation& one) {
  return one.name + " from " + utc(one.start) + " to " + utc(one.end) +
         (one.nodes.empty() ? "" : " (" + one.nodes + ")");
}

// Those that begin before `until`, the earliest first; empty if there is none.
std::string named_before(const Reservations& among, std::int64_t until, std::int64_t now) {
  std::vector<Reservation> met;
  std::ranges::copy_if(among.all, std::back_inserter(met), [&](const Reservation& one) {
    return one.end > now && one.start < until;
  });
  std::ranges::sort(met, {}, &Reservation::start);
  std::string names = met.size() > 1 ? "one or more of " : "";
  for (std::size_t i = 0; i < std::min(met.size(), k_most_named); ++i)
    names += (i == 0 ? "" : ", ") + period_of(met[i]);
  if (met.size() > k_most_named)
    names += " and " + std::to_string(met.size() - k_most_named) + " more";
  return names;
}

// A pending job that waits for `own`.
void add_wait(json& reply, const Reservation& own, std::int64_t now) {
  if (text_in(reply, "reason") != "Reservation") return;
  reply["explanation"] =
      own.start > now
          ? "its reservation " + own.name + " begins at " + utc(own.start)
          : "its reservation " + own.name + " has no room for it now, and ends at " + utc(own.end);
}

// A running job whose reservation ends earlier than it has been given time.
void add_end(json& reply, const Reservation& own, const OverRun& over_run) {
  if (!own.ends_jobs || !over_run) return;
  const std::int64_t end = own.end + *over_run;
  const auto given = reply.value("end_time", std::int64_t{0});
  if (!reply.value("unlimited", false) && given > 0 && given <= end) return;
  reply["end_time"] = end;
  reply["unlimited"] = false;
  reply["ends_unwarned"] = true;
  reply["explanation"] = "its reservation " + own.name + " ends then, before its time limit";
}

}  // namespace

Reservation reservation_of(const Record& record) {
  constexpr std::array<std::string_view, 6> k_lasting{
      "FLEX", "HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY"};
  const auto flags = dts::split(record.text("Flags"), ',');
  return {.name = record.text("ReservationName"),
          .nodes = record.text("Nodes"),
          .start = record.time("StartTime"),
          .end = record.time("EndTime"),
          .ends_jobs = std::ranges::none_of(flags, [&](const std::string& flag) {
            return std::ranges::find(k_lasting, flag) != k_lasting.end();
          })};
}

// "10 min", "UNLIMITED"
OverRun over_run_of(const std::string& printed) {
  if (printed.empty()) return 0;
  const auto minutes = dts::parse_number(printed.substr(0, printed.find(' ')));
  return minutes ? OverRun(static_cast<std::int64_t>(*minutes) * 60) : std::nullopt;
}

bool concern_reservations(const json& reply) {
  return !text_in(reply, "reservation").empty() || is_kept_out(reply);
}

void add_reservations(json& reply, const Reservations& now_known, std::int64_t now) {
  const std::string state = text_in(reply, "state");
  if (const Reservation* own = find(now_known, text_in(reply, "reservation"))) {
    if (state == "running") add_end(reply, *own, now_known.over_run);
    if (state == "pending") add_wait(reply, *own, now);
  }
  if (!is_kept_out(reply)) return;
  const auto limit = reply.value("time_limit", std::int64_t{0});
  const std::string met = named_before(now_known, now + (limit > 0 ? limit : k_for_ever), now);
  if (!met.empty())
    reply["explanation"] =
        "nodes that it needs are reserved during the time that it asks for: " + met;
}

bool is_nearly_over(const json& reply, std::int64_t now) {
  constexpr std::int64_t k_few_minutes = 15 * 60;
  return reply.value("ends_unwarned", false) &&
         reply.value("end_time", std::int64_t{0}) - now < k_few_minutes;
}

bool may_be_reserved(const Failure& failure) {
  return failure.hint == meanings::k_nodes.hint ||
         mentions(failure.message, "Invalid time specified");
}

Failure of_prediction(Failure failure,
                      const json& request,
                      const Reservations& now_known,
                      std::int64_t now) {
  if (!may_be_reserved(failure)) return failure;
  const auto options = request.find("options");
  const std::string asked =
      options == request.end() ? std::string() : text_in(*options, "reservation");
  const auto limit = request.find("time_limit_minutes");
  const std::int64_t lasts =
      limit != request.end() && limit->is_number() ? limit->get<std::int64_t>() * 60 : k_for_ever;
  std::string why;
  if (const Reservation* own = find(now_known, asked)) {
    if (own->start > now)
      why = "Slurm predicts no start in reservation " + period_of(*own) + ", which has not begun";
    else if (own->end < now + lasts)
      why = "reservation " + own->name + " ends at " + utc(own->end) +
            ", before the job's time limit: Slurm predicts no start in it, although it may start "
            "the job" +
            (own->ends_jobs ? ", and ends it then" : "");
  } else if (asked.empty()) {
    why = named_before(now_known, now + lasts, now);
    if (!why.empty()) why = failure.message + ", perhaps because of a reservation: " + why;
  }
  if (why.empty()) return failure;
  failure.code = "invalid";
  failure.message = std::move(why);
  failure.hint =
      "`scontrol show reservation` shows all of them; a --time that ends before one "
      "begins, or within one's own, lets Slurm predict the start";
  return failure;
}

}  // namespace slurm_plugin
