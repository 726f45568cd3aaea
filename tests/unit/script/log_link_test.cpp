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
