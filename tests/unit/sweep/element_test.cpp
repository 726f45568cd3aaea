// SPDX-License-Identifier: Apache-2.0
// What an element of a sweep runs.
#include "core/sweep/element.hpp"

#include "core/sweep/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace dts;
using namespace dts::sweep;

namespace {

const Assignments k_values{{"lr", "0.1"}, {"name", "a b"}, {"index", "3"}};

std::string replaced(const std::string& text) {
  return substitute(text, k_values);
}

Sweep two_parameters() {
  return make_sweep({{"lr=0.1,0.01", "name=a b,c"}, "", "%2", {}}).value();
}

std::string problems_of(const std::string& text) {
  Diagnostics problems;
  check_placeholders(text, {"lr", "batch_size", "seed"}, "command", problems);
  return problems.empty() ? "" : to_text(problems.front());
}

}  // namespace

TEST_CASE("a parameter in braces is replaced, in double braces it is text") {
  CHECK(replaced("--lr={lr}") == "--lr=0.1");
  CHECK(replaced("{lr}{lr}/{name}-{index}") == "0.10.1/a b-3");
  CHECK(replaced("{{lr}}") == "{lr}");
  CHECK(replaced("{{{lr}}}") == "{{lr}}");
  CHECK(replaced("{{lr}") == "{0.1");
}

TEST_CASE("other braces stay as they are") {
  for (const char* text : {R"({"lr": {"a": 1}, "b": {}})",
                           "{",
                           "}",
                           "{}",
                           "{{}}",
                           "{ lr }",
                           "{lr",
                           "{other}",
                           "{{other}}",
                           "${HOME}",
                           "{{ cookie }}",
                           "{lr:.2f}",
                           "{0}",
                           "{{{",
                           "a}{b"})
    CHECK(replaced(text) == text);
  CHECK(replaced(R"({"x": "{lr}"}})") == R"({"x": "0.1"}})");
}

TEST_CASE("what is nearly a parameter is refused with the one that was meant") {
  CHECK(problems_of("--lr={lrr}").find("did you mean {lr}? The text itself is written {{lrr}}") !=
        std::string::npos);
  CHECK(problems_of("{batchsize}").find("{batch_size}") != std::string::npos);
  CHECK(problems_of("{sed}").find("{seed}") != std::string::npos);
  for (const char* fine : {"{lr}", "{{lrr}}", "{epoch}", "{x}", R"({"sed": 1})", "{index}"})
    CHECK(problems_of(fine).empty());
  CHECK(replaced("{{lrr}}") == "{lrr}");
}

TEST_CASE("a parameter that the program does not get is found") {
  const Sweep sweep = two_parameters();
  using Names = std::vector<std::string>;
  const auto of = [&sweep](const Names& command, const Names& setup = {}) {
    spec::JobSpec spec;
    spec.command = command;
    spec.setup = setup;
    return unmentioned_parameters(spec, sweep);
  };
  CHECK(of({"python3", "train.py"}) == Names{"lr", "name"});
  CHECK(of({"python3", "train.py", "--lr={lr}"}) == Names{"name"});
  CHECK(of({"sh", "-c", "train $DTSUBMIT_PARAMETER_LR"}, {"cp {name} ."}).empty());
  CHECK(of({"sh", "-c", "train $DTSUBMIT_PARAMETERS"}).empty());
}

TEST_CASE("an element's spec is what would have been submitted for it alone") {
  spec::JobSpec spec;
  spec.job_name = "train-{lr}";
  spec.command = {"python3", "train.py", "--name={name}", "{{lr}}"};
  spec.setup = {"echo {name} {lr}"};
  spec.slurm = {{"array", "0-3"}, {"account", "a"}};
  spec.sweep = {"lr=0.1,0.01"};
  spec.sweep_mode = "grid";
  spec.log_links = {{"output", "/logs/%x"}};
  spec.checkpoints = "out-{lr}/step-*";
  spec.resume = "--load {} --lr {lr}";
  const Sweep sweep = two_parameters();
  const spec::JobSpec alone = element_spec(spec, sweep, sweep.elements[2]);
  CHECK(alone.job_name == "train-0.01");
  CHECK(alone.command == std::vector<std::string>{"python3", "train.py", "--name=a b", "{lr}"});
  CHECK(alone.setup == std::vector<std::string>{"echo 'a b' 0.01"});
  CHECK(alone.slurm == std::map<std::string, std::string>{{"account", "a"}});
  CHECK(alone.log_links == spec.log_links);
  CHECK(alone.checkpoints == "out-0.01/step-*");
  CHECK(alone.resume == "--load {} --lr 0.01");
  CHECK(alone.sweep.empty());
  CHECK(alone.sweep_mode.empty());
}

TEST_CASE("a parameter's value in a pattern is no pattern") {
  spec::JobSpec spec;
  spec.checkpoints = "{x}/*";
  Sweep sweep = two_parameters();
  sweep.names = {"x"};
  sweep.elements[0].values = {"[1]*"};
  CHECK(element_spec(spec, sweep, sweep.elements[0]).checkpoints == "\\[1]\\*/*");
}

TEST_CASE("an element's programs get its index and parameters") {
  const Sweep sweep = two_parameters();
  const Membership membership = membership_of(sweep, sweep.elements[1], JobId::parse("17").value());
  const auto back = membership_from_json(to_json(membership), "element.json");
  REQUIRE(back);
  const auto variables = variables_of(*back);
  const auto value = [&](const char* name) {
    const auto found =
        std::ranges::find(variables, name, [](const auto& one) { return one.first; });
    return found == variables.end() ? "(unset)" : found->second;
  };
  CHECK(value("DTSUBMIT_PARAMETER_LR") == "0.1");
  CHECK(value("DTSUBMIT_PARAMETER_NAME") == "c");
  CHECK(value("DTSUBMIT_PARAMETER_INDEX") == "1");
  CHECK(value("DTSUBMIT_PARAMETERS") == R"({"lr":"0.1","name":"c"})");
  CHECK(value("SLURM_ARRAY_TASK_ID") == "1");
  CHECK(value("SLURM_ARRAY_JOB_ID") == "17");
  CHECK(value("SLURM_ARRAY_TASK_COUNT") == "4");
  CHECK(value("SLURM_ARRAY_TASK_MAX") == "3");
  CHECK(job_of_element(membership.array, 1).text() == "17_1");
  for (const char* bad : {"",
                          "{}",
                          R"({"schema":"dtsubmit/element/1","parameters":{"a b":"1"}})",
                          R"({"schema":"dtsubmit/element/1","parameters":{"a":1}})"})
    CHECK_FALSE(membership_from_json(bad, "element.json"));
}
