// SPDX-License-Identifier: Apache-2.0
// Output of sacctmgr (22.05.8, --noheader --parsable2) about qualities of service, and the replies
// made from it.
#include "plugins/slurm_shared/qos.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using slurm_plugin::default_qos;
using slurm_plugin::qos_json;

TEST_CASE("each QOS with what it preempts, how its own jobs are, and its limits") {
  const auto all = qos_json(
      "normal||cluster|00:00:00|||\n"
      "urgent|normal,idle|cancel|00:00:20|01:00:00|1-00:05:00|DenyOnLimit\n",
      "normal");
  REQUIRE(all.size() == 2);
  CHECK(all[0]["name"] == "normal");
  CHECK(all[0]["is_default"] == true);
  CHECK(all[0]["preempts"].empty());
  CHECK_FALSE(all[0].contains("preemption"));
  CHECK_FALSE(all[0].contains("exempt_seconds"));
  CHECK(all[0]["grace_seconds"] == 0);
  CHECK(all[0]["max_time_seconds"] == -1);
  CHECK(all[1]["preempts"] == nlohmann::json{"normal", "idle"});
  CHECK(all[1]["preemption"] == "cancel");
  CHECK(all[1]["grace_seconds"] == 20);
  CHECK(all[1]["exempt_seconds"] == 3600);
  CHECK(all[1]["max_time_seconds"] == 86700);
  CHECK(all[1]["refuses_excess"] == true);
}

TEST_CASE("an exempt time of 0 is a value, not the cluster's default") {
  CHECK(qos_json("a|||00:00:00|00:00:00||\n", "")[0]["exempt_seconds"] == 0);
}

TEST_CASE("modes of preemption, and lines that are none of sacctmgr") {
  CHECK(qos_json("a||GANG,SUSPEND|00:00:00|||\n", "")[0]["preemption"] == "suspend");
  CHECK(qos_json("a||OFF|00:00:00|||\n", "")[0]["preemption"] == "none");
  CHECK(qos_json("", "").empty());
  CHECK(qos_json("sacctmgr: error: none\na|b\n", "").empty());
}

TEST_CASE("the QOS of jobs that name none") {
  CHECK(default_qos("default|ada|fast|normal,fast\n", "default") == "fast");
  CHECK(default_qos("default|ada||brief\nphysics|ada||a,b\n", "default") == "brief");
  CHECK(default_qos("default|ada||brief\nphysics|ada||a,b\n", "physics") == "normal");
  CHECK(default_qos("physics|ada||a,b\nroot||site|\n", "physics") == "site");
  CHECK(default_qos("root|root|r|r\n", "default") == "normal");
  CHECK(default_qos("", "") == "normal");
}
