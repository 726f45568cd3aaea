// SPDX-License-Identifier: Apache-2.0
// dtsubmit simulate as users see it: one screen, a document, and refusals that name the option.
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace dts;
using namespace dts::tests;

TEST_CASE("the answer is one screen, with the sources of its formulas, and the same each time") {
  const Session session;
  const Words words{"simulate",
                    "--nodes",
                    "12500",
                    "--preset",
                    "rsc-1",
                    "--compare",
                    "spares=8",
                    "--compare",
                    "spares=8,detect=5,save-time=2s,checkpoint-every=5m"};
  const Output output = session.dtsubmit(words);
  CHECK(output.exit_code == 0);
  CHECK(output.err.empty());
  CHECK(std::count(output.out.begin(), output.out.end(), '\n') <= 24);
  check_golden("simulate.txt", output.out);
  CHECK(session.dtsubmit(words).out == output.out);
  Words other = words;
  other.insert(other.end(), {"--seed", "2"});
  CHECK(session.dtsubmit(other).out != output.out);
}

TEST_CASE("what a model has no closed form for is said") {
  const Output output = Session().dtsubmit({"simulate",
                                            "--infants",
                                            "5,7d",
                                            "--lemons",
                                            "0.01,20",
                                            "--quarantine",
                                            "2",
                                            "--fail-slow",
                                            "1,2h",
                                            "--corruptions",
                                            "0.1,10m",
                                            "--switch-failures",
                                            "2,32",
                                            "--cluster-nodes",
                                            "2100",
                                            "--preemptions-per-day",
                                            "2",
                                            "--grace",
                                            "30"});
  CHECK(output.exit_code == 0);
  CHECK(std::count(output.out.begin(), output.out.end(), '\n') <= 24);
  check_golden("simulate-everything.txt", output.out);
}

TEST_CASE("--json is one document whose times add up") {
  const Output output =
      Session().dtsubmit({"simulate", "--json", "--repeat", "3", "--compare", "spares=2"});
  CHECK(output.exit_code == 0);
  const auto document = nlohmann::json::parse(output.out);
  CHECK(document["schema"] == "dtsubmit/simulate/1");
  CHECK(document["repetitions"] == 3);
  REQUIRE(document["policies"].size() == 2);
  CHECK(document["policies"][1]["policy"] == "spares=2");
  for (const auto& policy : document["policies"]) {
    double sum = 0;
    for (const auto& time : policy["time_s"]) sum += time.get<double>();
    CHECK(sum == doctest::Approx(document["wall_s"].get<double>()).epsilon(1e-9));
    CHECK(policy["goodput"].get<double>() ==
          doctest::Approx(policy["expected_goodput"].get<double>()).epsilon(0.02));
    CHECK(policy["interval_s"].get<double>() == doctest::Approx(654).epsilon(0.001));
  }
}

TEST_CASE("a run that cannot fail has no mean time to failure") {
  const Output output = Session().dtsubmit({"simulate", "--json", "--failure-rate", "0"});
  const auto policy = nlohmann::json::parse(output.out)["policies"][0];
  CHECK(policy["mttf_s"].is_null());
  CHECK(policy["interval_s"].is_null());
  CHECK(policy["time_s"]["lost"] == 0);
  CHECK(contains(Session().dtsubmit({"simulate", "--failure-rate", "0"}).out, "every never"));
}

TEST_CASE("hostile values are usage errors that name the option") {
  const Session session;

  struct {
    const char* option;
    Words values;
  } const cases[] = {
      {"--nodes",
       {"", "0", "-5", "nan", "1.5", "1e308", "99999999999999999999", "4000000000", " 4"}},
      {"--days", {"", "0", "-1", "nan", "inf", "1e308", "1e999", "3661", "x"}},
      {"--cluster-nodes", {"1", "-1", "4000000000", "many"}},
      {"--repair", {"-1", "nan", "1e308", "400d"}},
      {"--preset", {"", "llama", "6.5"}},
      {"--failure-rate", {"-1", "nan", "inf", "1e308", "3,5"}},
      {"--lemons", {"0.1", "2,2", "-1,2", "nan,2", "0.1,0", "0.1,1e308", "0.1,2,3"}},
      {"--infants", {"5", "0,1d", "5,-1", "1e308,1d", "nan,1d", "5,1e308d"}},
      {"--switch-failures", {"1", "1,0", "-1,8", "nan,8", "1,-8", "1,1e308"}},
      {"--fail-slow", {"1", "-1,1h", "nan,1h", "1,-1h", "1,1e308"}},
      {"--corruptions", {"1", "-1,1h", "nan,1h", "1,nan", "1e308,1h"}},
      {"--preemptions-per-day", {"-1", "nan", "1e308"}},
      {"--checkpoint-every", {"0", "0.5", "-1", "nan", "never", "1e308"}},
      {"--save-time", {"-1", "nan", "inf", "1e308", "1h30"}},
      {"--spares", {"-1", "1.5", "4000000000"}},
      {"--requeue-delay", {"-1", "nan", "1e308"}},
      {"--detect", {"-1", "nan", "1e308"}},
      {"--start-time", {"-1", "nan", "1e308"}},
      {"--grace", {"-1", "nan", "1e308"}},
      {"--quarantine", {"-1", "nan", "1e308"}},
      {"--repeat", {"0", "-1", "10001", "nan", "1e308"}},
      {"--seed", {"-1", "nan", "99999999999999999999"}},
      {"--gpus-per-node", {"-1", "nan", "0", "1e308"}},
      {"--compare", {"", "spares", "spars=2", "=", "nodes=3", "spares=2,", ","}},
  };

  for (const auto& c : cases)
    for (const std::string& value : c.values) {
      CAPTURE(c.option);
      CAPTURE(value);
      const Output output = session.dtsubmit({"simulate", std::string(c.option) + "=" + value});
      CHECK(output.exit_code == 2);
      CHECK(output.out.empty());
      CHECK(contains(output.err, c.option));
    }
}

TEST_CASE("what would take for ever is refused at once, and all mistakes are told together") {
  const Session session;
  const Output much = session.dtsubmit({"simulate", "--failure-rate", "1e9", "--repeat", "10000"});
  CHECK(much.exit_code == 2);
  CHECK(contains(much.err, "--repeat"));
  CHECK(contains(much.err, "events"));
  const Output both = session.dtsubmit({"simulate",
                                        "--preset",
                                        "rsc-1",
                                        "--failure-rate",
                                        "3",
                                        "--grace",
                                        "x",
                                        "--compare",
                                        "spares=-1"});
  CHECK(both.exit_code == 2);
  CHECK(contains(both.err, "--preset"));
  CHECK(contains(both.err, "--grace"));
  CHECK(contains(both.err, "--spares"));
  Words many{"simulate"};
  many.insert(many.end(), 9, "--compare=spares=1");
  const Output most = session.dtsubmit(many);
  CHECK(most.exit_code == 2);
  CHECK(contains(most.err, "at most 8"));
}
