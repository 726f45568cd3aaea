// SPDX-License-Identifier: Apache-2.0
// The job does what its script does, or the account says what it does not: reductions of scripts
// that people wrote.
#include "core/convert/convert.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::convert;

namespace {

struct Reduced {
  std::string text;
  Conversion made;

  explicit Reduced(const std::string& script)
      : text(script), made(convert_script(text, {"job.sh", {}, {}})) {}

  [[nodiscard]] bool job_has(const std::string& part) const {
    return made.job_file.find(part) != std::string::npos;
  }

  // Of the line's first byte.
  [[nodiscard]] Row row(const std::string& line) const {
    const std::size_t at = text.find(line);
    for (const Row& one : made.rows)
      for (const Span& span : one.spans)
        if (span.begin <= at && at < span.end) return one;
    FAIL(line << " is in no row");
    return {};
  }

  [[nodiscard]] Became became(const std::string& line) const { return row(line).became; }

  [[nodiscard]] bool says(const std::string& line, const std::string& part) const {
    return row(line).why.find(part) != std::string::npos;
  }
};

Reduced of_nodes(const std::string& body) {
  return Reduced(
      "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=4\n"
      "#SBATCH --cpus-per-task=8\n" +
      body);
}

}  // namespace

TEST_CASE("only what is made of the names of hosts counts as the ranks' rendezvous") {
  const Reduced debug = of_nodes(
      "if [ \"$DEBUG\" = true ]; then\n  echo \"$SLURM_JOB_NODELIST\"\n"
      "  export DATA_ROOT=/data/debug\nfi\nexport DATA_ROOT=/data/full\nsrun python a.py\n");
  CHECK(debug.job_has("export DATA_ROOT=/data/full\n"));
  CHECK(debug.became("export DATA_ROOT=/data/full") == Became::set_up);
}

TEST_CASE("lists of hosts that are exported stay, since programs may read them") {
  const Reduced lists = of_nodes(
      "nodes=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n"
      "export COUNT_NODE=$(echo \"$nodes\" | wc -l)\n"
      "export HEAD=$(echo \"$nodes\" | head -n 1)\nexport RAY_ADDRESS=$HEAD:6379\n"
      "export MASTER_ADDR=$HEAD\nexport MASTER_PORT=29500\nsrun ./accelerate.sh\n");
  CHECK(lists.job_has("\nexport COUNT_NODE="));
  CHECK(lists.job_has(
      "\nexport HEAD=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)"));
  CHECK(lists.says("export HEAD", "the name of the first node"));
  CHECK(lists.job_has("\nexport RAY_ADDRESS=$HEAD:6379"));  // with its port
  CHECK_FALSE(lists.job_has("MASTER"));
  // A step within the step that runs the set-up would never start.
  const Reduced step = of_nodes("export LIST=$(srun hostname)\nsrun ./accelerate.sh\n");
  CHECK(step.became("export LIST") == Became::lost);
}
