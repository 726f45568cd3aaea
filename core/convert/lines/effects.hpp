// SPDX-License-Identifier: Apache-2.0
// The effects of a script's line other than setting variables and printing. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string_view>

namespace dts::convert {

// True if it writes or appends to a file, with a redirection or tee.
[[nodiscard]] bool writes_file(const Item& item);

// scontrol update JobId=$SLURM_JOB_ID Comment=$PORT: what others read of the job.
[[nodiscard]] bool updates_job(const Item& item);

// False if it writes a file whose name does not say that it lists hosts: echo "ssh -L ..." >
// how.txt
[[nodiscard]] bool only_writes_lists(const Item& item);

// True if it reads a file of settings, which may set any variable; the files of environments and
// shells export what they set.
[[nodiscard]] bool reads_settings(const Item& item);

// True for commands that leave nothing behind: tail, date
[[nodiscard]] bool reads_only(const std::string& command);

// True if it only moves, removes or writes files or runs programs, which the script does once: rm
// -rf out, echo head > table.csv, ./prepare. Not what a later step may need again: servers, and
// what is on the node's own disk or depends on the job's nodes or id.
[[nodiscard]] bool is_run_once(const Item& item);

// True if it may write over a file that is there: cd case && cp ../start ., echo x > a
[[nodiscard]] bool overwrites(const Item& item);

// True if a substitution in it may have other effects than reading: NEXT=$(./prepare).
[[nodiscard]] bool acts_inside(const Item& item);

// True if it reads the exit code of the line before it.
[[nodiscard]] bool reads_exit_code(const Item& item);

// True if it submits a job, under any condition.
[[nodiscard]] bool submits(const Item& item);

// True if the text, in any language whose comments begin with #, starts ranks with srun or mpirun.
[[nodiscard]] bool starts_ranks(std::string_view text);

}  // namespace dts::convert
