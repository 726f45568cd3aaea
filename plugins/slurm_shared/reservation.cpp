// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/reservation.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "plugins/slurm_shared/job_words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
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

bool is_kept_out(const json& reply) {
  return text_in(reply, "state") == "pending" &&
         is_kept_out(JobRecord{.description = text_in(reply, "description")});
}

// Those of the list `names` that are not over at `now`, the earliest first.
std::vector<Reservation> open_ones(const Reservations& among,
                                   const std::string& names,
                                   std::int64_t now) {
  const auto named = dts::split(names, ',');
  std::vector<Reservation> found;
  std::ranges::copy_if(among.all, std::back_inserter(found), [&](const Reservation& one) {
    return one.end > now && std::ranges::find(named, one.name) != named.end();
  });
  std::ranges::sort(found, {}, &Reservation::start);
  return found;
}

std::string period_of(const Reservation& one) {
  return one.name + " from " + utc(one.start) + " to " + utc(one.end) +
         (one.nodes.empty() ? "" : " (" + one.nodes + ")");
}

// Those with nodes that begin before `until`, the earliest first; empty if there is none.
std::string named_before(const Reservations& among, std::int64_t until, std::int64_t now) {
  std::vector<Reservation> met;
  std::ranges::copy_if(among.all, std::back_inserter(met), [&](const Reservation& one) {
    return !one.nodes.empty() && one.end > now && one.start < until;
  });
  std::ranges::sort(met, {}, &Reservation::start);
  std::string names = met.size() > 1 ? "one or more of " : "";
  for (std::size_t i = 0; i < std::min(met.size(), k_most_named); ++i)
    names += (i == 0 ? "" : ", ") + period_of(met[i]);
  if (met.size() > k_most_named)
    names += " and " + std::to_string(met.size() - k_most_named) + " more";
  return names;
}

// A pending job that waits for one of `names`. More that Slurm says about it is the better reason.
void add_wait(json& reply,
              const std::string& names,
              const Reservations& now_known,
              std::int64_t now) {
  if (text_in(reply, "reason") != "Reservation" || !text_in(reply, "description").empty()) return;
  const auto open = open_ones(now_known, names, now);
  if (open.empty()) return;
  const Reservation& first = open.front();
  reply["explanation"] = first.start > now
                             ? "its reservation " + first.name + " begins at " + utc(first.start)
                             : "its reservation " + first.name +
                                   " perhaps has no room for it now, and ends at " + utc(first.end);
}

// In which of `names` a job runs is not known: the one that ends last of those that have begun.
// nullopt if none of them ends it for certain.
std::optional<Reservation> ending_one(const std::string& names,
                                      const Reservations& now_known,
                                      std::int64_t now) {
  if (!now_known.over_run) return std::nullopt;
  auto begun = open_ones(now_known, names, now - *now_known.over_run);
  std::erase_if(begun, [&](const Reservation& one) { return one.start > now; });
  if (begun.empty() || !std::ranges::all_of(begun, &Reservation::ends_jobs)) return std::nullopt;
  return *std::ranges::max_element(begun, {}, &Reservation::end);
}

// A running job whose reservation ends earlier than it has been given time.
void add_end(json& reply,
             const std::string& names,
             const Reservations& now_known,
             std::int64_t now) {
  const auto own = ending_one(names, now_known, now);
  if (!own) return;
  const std::int64_t end = own->end + *now_known.over_run;
  const auto given = reply.value("end_time", std::int64_t{0});
  if (!reply.value("unlimited", false) && given > 0 && given <= end) return;
  reply["end_time"] = end;
  reply["unlimited"] = false;
  reply["ends_unwarned"] = true;
  reply["explanation"] = "its reservation " + own->name +
                         (end == own->end ? " ends then" : " lets it run until then at most") +
                         ", before its time limit";
}

Failure unpredicted(Failure failure, std::string why) {
  failure.code = "invalid";
  failure.message = std::move(why);
  failure.hint =
      "`scontrol show reservation` shows all of them; a --time that ends before one "
      "begins, or within one's own, lets Slurm predict the start";
  return failure;
}

// A refused prediction for a job that asks for the reservations `names`; `lasts`: its time limit,
// nullopt: not known.
Failure of_own(Failure failure,
               const std::string& names,
               const Reservations& now_known,
               std::int64_t now,
               std::optional<std::int64_t> lasts) {
  const auto any = open_ones(now_known, names, 0);
  const auto open = open_ones(now_known, names, now);
  if (any.empty()) return failure;
  if (open.empty()) {
    failure.message = "reservation " + any.back().name + " was over at " + utc(any.back().end);
    failure.hint = meanings::k_reservation.hint;
    return failure;
  }
  const Reservation& own = open.front();
  if (own.start > now)
    return unpredicted(
        std::move(failure),
        "Slurm predicts no start in reservation " + period_of(own) + ", which has not begun");
  if (lasts && own.end >= now + *lasts) return failure;
  return unpredicted(std::move(failure),
                     "reservation " + own.name + " ends at " + utc(own.end) + ", " +
                         (lasts ? "before the job's time limit"
                                : "perhaps before the job's time limit, which is the partition's") +
                         ": Slurm predicts no start in it then, although it may start the job" +
                         (own.ends_jobs ? ", and ends it with the reservation" : ""));
}

}  // namespace

void add_flags(Reservation& one, const std::string& flags) {
  constexpr std::array<std::string_view, 5> k_recurring{
      "HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY"};
  const auto set = dts::split(flags, ',');
  one.recurs = std::ranges::any_of(set, [&](const std::string& flag) {
    return std::ranges::find(k_recurring, flag) != k_recurring.end();
  });
  one.ends_jobs = !one.recurs && std::ranges::find(set, "FLEX") == set.end();
}

Reservation reservation_of(const Record& record) {
  Reservation one{.name = record.text("ReservationName"),
                  .nodes = record.text("Nodes"),
                  .start = record.time("StartTime"),
                  .end = record.time("EndTime")};
  add_flags(one, record.text("Flags"));
  return one;
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
  if (const std::string names = text_in(reply, "reservation"); !names.empty()) {
    if (!now_known.are_known) reply["end_unsure"] = state == "running";
    if (state == "running") add_end(reply, names, now_known, now);
    if (state == "pending") add_wait(reply, names, now_known, now);
  }
  if (!is_kept_out(reply)) return;
  const auto limit = reply.value("time_limit", std::int64_t{0});
  const std::string met = named_before(now_known, now + (limit > 0 ? limit : k_for_ever), now);
  if (!met.empty())
    reply["explanation"] =
        "nodes that it needs are perhaps reserved during the time that it asks for: " + met;
}

bool are_nearly_over(const std::string& names, const Reservations& now_known, std::int64_t now) {
  constexpr std::int64_t k_few_minutes = 15 * 60;
  if (names.empty() || !now_known.are_known) return false;
  return std::ranges::none_of(open_ones(now_known, names, now), [&](const Reservation& one) {
    return one.recurs || one.end - now >= k_few_minutes;
  });
}

std::string leave_ending_reservations(json& request,
                                      const Reservations& now_known,
                                      std::int64_t now) {
  const auto after = request.find("continues_after");
  if (after == request.end()) return {};
  const std::int64_t starts = std::max(now, after->get<std::int64_t>());
  std::string left;
  const auto leave = [&](json& one) {
    const std::string names = reservations_in(one);
    if (!are_nearly_over(names, now_known, starts)) return;
    one["options"]["reservation"] = "";
    left += (left.empty() ? "" : ",") + names;
  };
  leave(request);
  if (const auto components = request.find("components"); components != request.end())
    for (json& component : *components) leave(component);
  return left;
}

bool may_be_reserved(const Failure& failure) {
  return failure.hint == meanings::k_nodes.hint ||
         mentions(failure.message, "Invalid time specified");
}

std::string reservations_in(const json& request) {
  const auto options = request.find("options");
  return options == request.end() ? std::string() : text_in(*options, "reservation");
}

Failure of_prediction(Failure failure,
                      const json& request,
                      const Reservations& now_known,
                      std::int64_t now) {
  if (!may_be_reserved(failure)) return failure;
  const std::string asked = reservations_in(request);
  const auto limit = request.find("time_limit_minutes");
  const auto lasts = limit != request.end() && limit->is_number()
                         ? std::optional(limit->get<std::int64_t>() * 60)
                         : std::nullopt;
  if (!asked.empty()) return of_own(std::move(failure), asked, now_known, now, lasts);
  const std::string met = named_before(now_known, now + lasts.value_or(k_for_ever), now);
  if (met.empty()) return failure;
  std::string why = failure.message + ", perhaps because of a reservation: " + met;
  return unpredicted(std::move(failure), std::move(why));
}

}  // namespace slurm_plugin
