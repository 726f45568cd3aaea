// SPDX-License-Identifier: Apache-2.0
#include "core/base/job_id.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

using dts::JobId;
using nlohmann::json;

TEST_CASE("a job's id is a short word that cannot be an option, a path or a line") {
  for (const char* id :
       {"4711", "4711_3", "4711+1", "4711.0", "1234[5].server", "q7.alpha", "a", "4294967296"}) {
    CAPTURE(id);
    REQUIRE(JobId::parse(id));
    CHECK(JobId::parse(id)->text() == id);
  }
  for (const char* none :
       {"", "0", "000", "-1", "_3", ".", "a b", "a/b", "a\n", "q7;rm", "\xc3\xa4"}) {
    CAPTURE(none);
    CHECK_FALSE(JobId::parse(none));
  }
  CHECK(JobId::parse(std::string(JobId::k_longest, 'x')));
  CHECK_FALSE(JobId::parse(std::string(JobId::k_longest + 1, 'x')));
}

TEST_CASE("a number is the same job however it is spelt, and none is no job") {
  CHECK(JobId::parse("0041") == JobId(41));
  CHECK(JobId(41).number() == 41);
  CHECK_FALSE(JobId::parse("41_1")->number());
  CHECK(JobId() == JobId(0));
  CHECK(JobId().empty());
  CHECK(JobId().number() == 0);
  CHECK(fmt::format("{:>5}|{}", JobId(41), *JobId::parse("q7.alpha")) == "   41|q7.alpha");
}

TEST_CASE("in JSON a number stays a number, and everything else is text") {
  for (const auto& row : {std::pair{JobId(), "0"},
                          {JobId(41), "41"},
                          {JobId(4'294'967'295U), "4294967295"},
                          {*JobId::parse("4294967296"), "\"4294967296\""},
                          {*JobId::parse("41_7"), "\"41_7\""}}) {
    const auto& [id, text] = row;
    CAPTURE(row.second);
    CHECK(json(id).dump() == text);
    CHECK(dts::job_id_from(json::parse(text)) == id);
  }
  CHECK(dts::job_id_from(json("41")) == JobId(41));
  for (const json& none :
       {json(-1), json(1.5), json(4'294'967'296), json(), json("a b"), json("")}) {
    CAPTURE(none.dump());
    CHECK_FALSE(dts::job_id_from(none));
  }
}
