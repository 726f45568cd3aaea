// SPDX-License-Identifier: Apache-2.0
// Heterogeneous jobs whose components are alike, as `torchx run -s slurm` writes a job of several
// nodes.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

namespace {

const std::string k_first_of_two =
    "#!/bin/bash\n#SBATCH --job-name=train-0 --ntasks-per-node=1 --mem=1024\n";
const std::string k_second_of_two =
    "#SBATCH hetjob\n#SBATCH --job-name=train-1 --ntasks-per-node=1 --mem=1024\n";
const std::string k_step_options = "--output=slurm-\"$SLURM_JOB_ID\"-0.out --export=ALL,A=b ";
const std::string k_other_options = "--output=slurm-\"$SLURM_JOB_ID\"-1.out --export=ALL,A=b ";
const std::string k_of_torchx =
    "bash -c 'torchrun --rdzv_backend c10d --rdzv_endpoint "
    "${SLURM_JOB_NODELIST_HET_GROUP_0:=localhost}:29500 --rdzv_id "
    "'\"'\"''\"$SLURM_JOB_ID\"''\"'\"' "
    "--nnodes 2 --nproc_per_node 2 --tee 3 train.py'";

std::string step_of_two(const std::string& program, const std::string& other) {
  return "srun " + k_step_options + program + " :\\\n     " + k_other_options + other + "\n";
}

}  // namespace

TEST_CASE("alike components of a heterogeneous job become nodes") {
  const Reduced made(k_first_of_two + k_second_of_two + step_of_two(k_of_torchx, k_of_torchx));
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("nodes = 2\n"));
  CHECK(made.job_has("mem = \"1024\"\n"));
  CHECK(made.job_has("torchrun\", \"--nproc_per_node\", \"2\", \"--tee\", \"3\", \"train.py\"]"));
  CHECK(made.says("#SBATCH hetjob", "nodes = 2"));
  const std::string task = " --ntasks=1";
  const Reduced plain(k_first_of_two.substr(0, k_first_of_two.size() - 1) + task + "\n" +
                      k_second_of_two.substr(0, k_second_of_two.size() - 1) + task + "\n" +
                      step_of_two("./a.out", "./a.out"));
  CHECK(plain.made.is_lossless());
  CHECK(plain.job_has("nodes = 2\n"));
  CHECK(plain.job_has("ntasks = 2\n"));
}

TEST_CASE("components that differ, or are told apart, are no nodes") {
  const std::string alike = step_of_two("./a.out", "./a.out");
  const std::string larger = "#SBATCH hetjob\n#SBATCH --ntasks-per-node=1 --mem=2048\n";
  const std::string several = "#SBATCH --nodes=2\n";
  for (const std::string& text : {
           k_first_of_two + larger + alike,
           k_first_of_two + k_second_of_two + step_of_two("./a.out", "./b.out"),
           k_first_of_two + k_second_of_two + "srun ./a.out\n",
           k_first_of_two + k_second_of_two + "srun ./a.out : ./a.out : ./a.out\n",
           k_first_of_two + k_second_of_two + "srun ./set-up\n" + alike,
           k_first_of_two + several + k_second_of_two + several + alike,
           k_first_of_two + k_second_of_two +
               step_of_two("./a.out $SLURM_HET_SIZE", "./a.out $SLURM_HET_SIZE"),
       }) {
    CAPTURE(text);
    CHECK_FALSE(Reduced(text).made.is_lossless());
  }
}

TEST_CASE("components with other numbers of tasks, or that read them, are no nodes") {
  const std::string head = k_first_of_two + k_second_of_two;
  const std::string four = "#SBATCH --ntasks-per-node=4\n";
  for (const std::string& text : {
           head + step_of_two("-n 1 ./a.out", "-n 1 ./a.out"),
           head + step_of_two("--ntasks=4 ./a.out", "--ntasks=4 ./a.out"),
           head + step_of_two("$OPTIONS ./a.out", "$OPTIONS ./a.out"),
           head + step_of_two("./a.out $SLURM_NNODES", "./a.out $SLURM_NNODES"),
           head + "mpirun -np 2 ./b.out\n" + step_of_two("./a.out", "./a.out"),
           head + "torchrun --nproc_per_node 2 train.py\n" + step_of_two("./a.out", "./a.out"),
           four + "#SBATCH hetjob\n" + four + step_of_two("./a.out", "./a.out"),
       }) {
    CAPTURE(text);
    CHECK_FALSE(Reduced(text).made.is_lossless());
  }
}
