// SPDX-License-Identifier: Apache-2.0
// Jobs that the program of a rank runs.
#include "core/base/text/text.hpp"
#include "tests/cli/session.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace dts;
using namespace dts::tests;

}  // namespace

TEST_CASE("a job that a rank runs has a record, threads and shared memory of its own") {
  if (!Session::has_mpirun()) return;
  const Session session;
  const std::string tell =
      "echo "
      "\"$WANDB_RUN_ID|$MLFLOW_RUN_CONTEXT|$OMPI_MCA_btl_sm_backing_directory|$OMP_NUM_THREADS\"";
  const std::string nested = tell + "; export OMP_NUM_THREADS=7; exec " + Session::program() +
                             " run --job-name inner --runs inner --ntasks 1 -- sh -c '" + tell +
                             "' 2>inner.err";
  const Output output = session.dtsubmit({"run", "--ntasks", "1", "--", "sh", "-c", nested});
  CAPTURE(output.err);
  CHECK(output.exit_code == 0);
  const std::vector<std::string> lines = split(output.out, '\n');
  REQUIRE(lines.size() >= 2);
  const auto outer = split(lines[0], '|');
  const auto inner = split(lines[1], '|');
  REQUIRE(outer.size() == 4);
  REQUIRE(inner.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(inner[i] != outer[i]);
  CHECK(inner[0].starts_with("inner-"));
  CHECK(inner[3] == "7");  // the rank's own setting
}
