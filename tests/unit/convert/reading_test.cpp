// SPDX-License-Identifier: Apache-2.0
// The job file beside the script, as the script's author would read them: reductions of scripts of
// public repositories.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("only the folder of the submission itself is where the job runs") {
  for (const std::string folder : {"$SLURM_SUBMIT_DIR",
                                   "\"${SLURM_SUBMIT_DIR}\"",
                                   "${SLURM_SUBMIT_DIR:-.}",
                                   "$SLURM_SUBMIT_DIR/"}) {
    CAPTURE(folder);
    const Reduced made = of_one_node("cd " + folder + "\nsrun ./a\n");
    CHECK(made.became("cd ") == Became::unnecessary);
    CHECK(made.job_has("command = [\"./a\"]"));
  }
  for (const std::string folder : {"$SLURM_SUBMIT_DIR/$SLURM_JOB_ID",
                                   "${SLURM_SUBMIT_DIR}/run_${SLURM_JOB_ID}",
                                   "$X$SLURM_SUBMIT_DIR",
                                   "${SLURM_SUBMIT_DIR%/*}",
                                   "$(dirname ${SLURM_SUBMIT_DIR})"}) {
    CAPTURE(folder);
    const Reduced made = of_one_node("cd " + folder + "\nsrun ./a\n");
    CHECK(made.became("cd ") == Became::set_up);
    CHECK(made.job_has("cd \"${SCRIPT_FOLDER:?}\" || exit\nexec ./a"));
  }
}
