// SPDX-License-Identifier: Apache-2.0
// Converts the #SBATCH lines of a script to options of a job. Pure.
#pragma once

#include "core/convert/job/draft.hpp"
#include "core/lint/script/subject.hpp"

namespace dts::convert {

// A row for each option and for each text that sbatch cannot read.
void read_requests(const lint::Subject& subject, Draft& draft);

// True for a value to fill in before the script can be submitted: <account>, {{ nodes }}, and
// [account] of the option `account`.
[[nodiscard]] bool is_blank(std::string_view value, std::string_view option = {});

// Reads pyxis' options, of sbatch or srun: "container-image" and the others. False: none of them.
// `row` gets the result.
bool read_container_option(const std::string& name,
                           const std::string& value,
                           Settings& settings,
                           Row& row);

}  // namespace dts::convert
