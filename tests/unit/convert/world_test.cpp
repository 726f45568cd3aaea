// SPDX-License-Identifier: Apache-2.0
// Loops that start a program on each node of the job.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("programs that differ only in their --node_rank are one training") {
  const std::string program =
      " torchrun --nnodes=$SLURM_NNODES --node_rank=$RANK --nproc_per_node=4 train.py &\n";
  const std::string listed =
      "RANK=0\nfor n in $(scontrol show hostnames); do\n  srun -N1 -n1 -w $n" + program +
      "  RANK=$((RANK + 1))\ndone\nwait\n";
  // Each says its number, so that Slurm may choose the nodes.
  const auto anywhere = [&](const std::string& ranks) {
    return of_nodes("for RANK in " + ranks + "; do\n  srun -N1 -n1" + program + "done\nwait\n");
  };
  for (const Reduced& made : {of_nodes(listed), anywhere("0 1")}) {
    CAPTURE(made.text);
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("command = [\"torchrun\", \"train.py\"]"));
  }
  for (const std::string ranks : {"0 0", "1 2", "0", "0 1 2"}) {
    CAPTURE(ranks);
    CHECK_FALSE(anywhere(ranks).made.is_lossless());
  }
}

TEST_CASE("a loop over the list of nodes, whose names only the batch script knows") {
  const std::string loop = "for n in $(scontrol show hostnames $SLURM_JOB_NODELIST); do\n";
  const Reduced same = of_nodes(loop + "  srun -N1 -n1 -w $n ./a &\ndone\nwait\n");
  CHECK(same.made.is_lossless());
  CHECK(same.job_has("per_node = true\n"));
  // A role knows no variable of the loop.
  const Reduced named = of_nodes(loop + "  srun -N1 -n1 -w $n ./a x/$n &\ndone\nwait\n");
  CHECK_FALSE(named.made.is_lossless());
  const Reduced counted =
      of_nodes("i=0\n" + loop + "  srun -N1 -n1 -w $n ./a $i &\n  i=$((i + 1))\ndone\nwait\n");
  CHECK(counted.made.is_lossless());
  CHECK(counted.job_has("./a 0 &\ni=$((i + 1))\nwait"));
}
