// SPDX-License-Identifier: Apache-2.0
// What reservations mean for a job, from their text as scontrol 22.05.8 printed it.
#include "plugins/slurm_shared/reservation.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace slurm_plugin;

namespace {

Reservations known(const char* flags) {
  const auto records = parse_records(
      std::string("ReservationName=soon StartTime=1000 EndTime=2000 Duration=00:16:40\n   "
                  "Nodes=n[0-1] NodeCnt=2 CoreCnt=8 Features=(null) PartitionName=(null) Flags=") +
      flags +
      "\n   TRES=cpu=8\n   Users=root Groups=(null) Accounts=(null) State=ACTIVE\n\n"
      "ReservationName=later StartTime=5000 EndTime=6000 Duration=00:16:40\n   Nodes=n0 "
      "Flags=MAINT,SPEC_NODES\n   Users=root State=INACTIVE\n");
  Reservations found;
  for (const Record& record : records) found.all.push_back(reservation_of(record));
  return found;
}

json running(std::int64_t end, bool unlimited = false) {
  return {{"state", "running"},
          {"reservation", "soon"},
          {"end_time", end},
          {"unlimited", unlimited},
          {"explanation", ""}};
}

json with(json reply, const Reservations& reservations) {
  add_reservations(reply, reservations, 1500);
  return reply;
}

Failure refused(const Meaning& meaning, const char* said) {
  return failed(meaning, said).value();
}

}  // namespace

TEST_CASE("a job ends with its reservation, unless that lets it run on") {
  const json cut = with(running(4000), known("SPEC_NODES"));
  CHECK(cut["end_time"] == 2000);
  CHECK(cut["ends_unwarned"] == true);
  CHECK(cut["explanation"] == "its reservation soon ends then, before its time limit");
  const json endless = with(running(0, true), known("SPEC_NODES"));
  CHECK(endless["end_time"] == 2000);
  CHECK(endless["unlimited"] == false);
  CHECK(with(running(1900), known("SPEC_NODES")) == running(1900));
  for (const char* lasting : {"FLEX,SPEC_NODES", "DAILY,SPEC_NODES", "WEEKDAY", "HOURLY"})
    CHECK(with(running(4000), known(lasting)) == running(4000));
  Reservations patient = known("SPEC_NODES");
  patient.over_run = over_run_of("10 min");
  CHECK(with(running(4000), patient)["end_time"] == 2600);
  json outlives = running(4000);
  add_reservations(outlives, patient, 2500);
  CHECK(outlives["end_time"] == 2600);
  CHECK(outlives["explanation"] ==
        "its reservation soon lets it run until then at most, before its time limit");
  patient.over_run = over_run_of("UNLIMITED");
  CHECK(with(running(4000), patient) == running(4000));
}

TEST_CASE(
    "a requeued job leaves a reservation that is over soon, however long that lets jobs run") {
  for (const char* flags : {"SPEC_NODES", "FLEX"}) {
    CHECK(are_nearly_over("soon", known(flags), 1500));
    CHECK_FALSE(are_nearly_over("soon", known(flags), 1000));
    CHECK_FALSE(are_nearly_over("soon,later", known(flags), 1500));
  }
  CHECK(are_nearly_over("soon", known("SPEC_NODES"), 2500));  // ResvOverRun let it run on
  CHECK(are_nearly_over("gone", known("SPEC_NODES"), 1500));
  CHECK_FALSE(are_nearly_over("soon", known("DAILY"), 1500));
  CHECK_FALSE(are_nearly_over("", known("SPEC_NODES"), 1500));
  CHECK_FALSE(are_nearly_over("soon", {.are_known = false}, 1500));
}

TEST_CASE("a submission that continues a run leaves reservations that are over when it may start") {
  const auto left = [](std::int64_t after, std::int64_t now, const char* flags = "SPEC_NODES") {
    json request = {{"options", {{"reservation", "soon"}, {"account", "a"}}}};
    if (after >= 0) request["continues_after"] = after;
    const std::string names = leave_ending_reservations(request, known(flags), now);
    CHECK(request["options"]["reservation"] == (names.empty() ? "soon" : ""));
    CHECK(request["options"]["account"] == "a");
    return names;
  };
  CHECK(left(0, 1500) == "soon");
  CHECK(left(0, 1000).empty());
  CHECK(left(2000, 1000) == "soon");      // the next job of a chain
  CHECK(left(-1, 1500).empty());          // a first job: Slurm refuses it
  CHECK(left(0, 1500, "DAILY").empty());  // its next time comes
  json het = {{"continues_after", 0},
              {"options", {{"account", "a"}}},
              {"components", {{{"options", {{"reservation", "soon"}}}}, {{"nodes", 1}}}}};
  CHECK(leave_ending_reservations(het, known("FLEX"), 1500) == "soon");
  CHECK(het["components"][0]["options"]["reservation"] == "");
  CHECK_FALSE(het["components"][1].contains("options"));
  json plain = {{"continues_after", 0}};
  CHECK(leave_ending_reservations(plain, known("FLEX"), 1500).empty());
}

TEST_CASE("of a list of reservations, a job has the one that lasts longest, as far as is known") {
  json one = running(9000);
  one["reservation"] = "soon,later";
  CHECK(with(one, known("SPEC_NODES"))["end_time"] == 2000);  // the other has not begun
  Reservations both = known("SPEC_NODES");
  both.all.back().start = 1200;
  CHECK(with(one, both)["end_time"] == 6000);
  both.all.back().ends_jobs = false;
  CHECK(with(one, both) == one);
  const json waits =
      with({{"state", "pending"}, {"reason", "Reservation"}, {"reservation", "later,gone"}},
           known("SPEC_NODES"));
  CHECK(waits["explanation"] == "its reservation later begins at 1970-01-01T01:23:20Z");
}

TEST_CASE("reservations whose times are not known, or that Slurm does not tell, promise nothing") {
  Reservations odd = known("SPEC_NODES");
  for (Reservation& one : odd.all) one.start = one.end = 0;
  CHECK(with(running(4000), odd) == running(4000));
  const json unsure = with(running(4000), {.are_known = false});
  CHECK(unsure["end_unsure"] == true);
  CHECK(unsure["end_time"] == 4000);
}

TEST_CASE("a waiting job: when its reservation begins, or which ones are in its way") {
  const json waits =
      with({{"state", "pending"}, {"reason", "Reservation"}, {"reservation", "later"}},
           known("SPEC_NODES"));
  CHECK(waits["explanation"] == "its reservation later begins at 1970-01-01T01:23:20Z");
  json kept{{"state", "pending"},
            {"reason", "ReqNodeNotAvail"},
            {"description", "ReqNodeNotAvail, Reserved for maintenance"},
            {"time_limit", 100}};
  CHECK(concern_reservations(kept));
  CHECK(with(kept, known("SPEC_NODES"))["explanation"] ==
        "nodes that it needs are perhaps reserved during the time that it asks for: soon from "
        "1970-01-01T00:16:40Z to 1970-01-01T00:33:20Z (n[0-1])");
  Reservations licences = known("SPEC_NODES");
  for (Reservation& one : licences.all) one.nodes.clear();
  CHECK(with(kept, licences) == kept);
  const json full{{"state", "pending"}, {"reason", "Reservation"}, {"reservation", "soon"}};
  CHECK(with(full, known("SPEC_NODES"))["explanation"] ==
        "its reservation soon perhaps has no room for it now, and ends at 1970-01-01T00:33:20Z");
  kept["description"] = "ReqNodeNotAvail, UnavailableNodes:n1";
  CHECK_FALSE(concern_reservations(kept));
}

TEST_CASE("a refused prediction is none if a reservation may be the reason") {
  const Failure nodes = refused(meanings::k_nodes, "Requested node configuration is not available");
  const auto now_known = known("SPEC_NODES");
  const Failure perhaps = of_prediction(nodes, {{"time_limit_minutes", 5}}, now_known, 1500);
  CHECK(perhaps.code == std::string("invalid"));
  CHECK(perhaps.message.find("perhaps because of a reservation: soon from ") != std::string::npos);
  CHECK(of_prediction(nodes, {{"time_limit_minutes", 5}}, now_known, 2500).code ==
        std::string("rejected"));  // before the next one begins
  const json in_later{{"options", {{"reservation", "later"}}}, {"time_limit_minutes", 5}};
  const Failure early =
      of_prediction(refused(Meaning{}, "Invalid time specified"), in_later, now_known, 1500);
  CHECK(early.message.find("reservation later from ") != std::string::npos);
  CHECK(early.message.find("has not begun") != std::string::npos);
  const json in_soon{{"options", {{"reservation", "soon"}}}, {"time_limit_minutes", 50}};
  CHECK(of_prediction(nodes, in_soon, now_known, 1500).message.find("and ends it with") !=
        std::string::npos);
  const Failure unlimited =
      of_prediction(nodes, {{"options", {{"reservation", "soon"}}}}, now_known, 1500);
  CHECK(unlimited.message.find("perhaps before the job's time limit") != std::string::npos);
  const Failure over = of_prediction(nodes, in_soon, now_known, 2500);
  CHECK(over.code == std::string("rejected"));
  CHECK(over.message == "reservation soon was over at 1970-01-01T00:33:20Z");
  const Failure other = refused(meanings::k_qos, "Invalid qos specification");
  CHECK(of_prediction(other, {}, now_known, 1500).message == other.message);
}
