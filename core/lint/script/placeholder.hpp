// SPDX-License-Identifier: Apache-2.0
// Placeholders in templates. Pure, thread-safe.
#pragma once

#include <string_view>

namespace dts::lint {

// True for a value that a user has to fill in: <account>, {{ nodes }}, [JOB NAME], YOUR_NAME; also
// for a line of options that has one. `option`: of sbatch, if `value` is all of its value:
// [account] is no account, and "[exp a]" may be the name of a job.
[[nodiscard]] bool is_placeholder(std::string_view value, std::string_view option = {});

}  // namespace dts::lint
