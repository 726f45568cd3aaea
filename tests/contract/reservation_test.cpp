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
  CHECK(is_nearly_over(cut, 1500));
  CHECK_FALSE(is_nearly_over(cut, 1000));
  const json endless = with(running(0, true), known("SPEC_NODES"));
  CHECK(endless["end_time"] == 2000);
  CHECK(endless["unlimited"] == false);
  CHECK(with(running(1900), known("SPEC_NODES")) == running(1900));
  for (const char* lasting : {"FLEX,SPEC_NODES", "DAILY,SPEC_NODES", "WEEKDAY", "HOURLY"})
    CHECK(with(running(4000), known(lasting)) == running(4000));
  Reservations patient = known("SPEC_NODES");
  patient.over_run = over_run_of("10 min");
  CHECK(with(running(4000), patient)["end_time"] == 2600);
  patient.over_run = over_run_of("UNLIMITED");
  CHECK(with(running(4000), patient) == running(4000));
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
        "nodes that it needs are reserved during the time that it asks for: soon from "
        "1970-01-01T00:16:40Z to 1970-01-01T00:33:20Z (n[0-1])");
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
  CHECK(of_prediction(nodes, in_soon, now_known, 1500).message.find("and ends it then") !=
        std::string::npos);
  const Failure other = refused(meanings::k_qos, "Invalid qos specification");
  CHECK(of_prediction(other, {}, now_known, 1500).message == other.message);
}
