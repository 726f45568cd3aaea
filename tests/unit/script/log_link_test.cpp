// SPDX-License-Identifier: Apache-2.0
#include "core/script/log_link.hpp"

#include <doctest/doctest.h>

using dts::script::log_link_path;

TEST_CASE("the fields of a log's name are filled in as sbatch would") {
  const dts::script::LogNames names{"a/b c", "1234", "ada"};
  CHECK(log_link_path("logs/%x-%j.out", names) == "logs/a_b c-1234.out");
  CHECK(log_link_path("%8j_%A_%J_%u%%", names) == "00001234_1234_1234_ada%");
  CHECK(log_link_path("%j-%t-%4n", names) == "1234-0-0000");
  CHECK(log_link_path("%2j", names) == "1234");
  CHECK(log_link_path("%99j", names) == "0000001234");
  CHECK(log_link_path("plain", names) == "plain");
  CHECK(log_link_path("%N %", names) == "%N %");
}

TEST_CASE("a job that continues an element of an array is named by it as well") {
  const dts::script::LogNames first{"a", "4711_3", "ada"};
  CHECK(log_link_path("%A_%2a %j", first) == "4711_03 4711_3");
  const dts::script::LogNames next{"a", "4750", "ada", "4711_3"};
  CHECK(log_link_path("%A_%2a %j", next) == "4711_03 4750");
}

TEST_CASE("literal text in a pattern is itself") {
  CHECK(log_link_path(dts::script::escape_pattern("/100%/%j"), {"a", "1", "ada"}) == "/100%/%j");
}

TEST_CASE("logs of jobs are known by their names") {
  using dts::script::is_log;
  CHECK(is_log(dts::script::log_path("/runs/a", "12")));
  CHECK(is_log(dts::script::log_path("/runs/a/3", "12_3")));
  CHECK_FALSE(is_log("/runs/a/spec.json"));
  CHECK_FALSE(is_log("slurm-12.log"));
  CHECK_FALSE(is_log(""));
}
