// SPDX-License-Identifier: Apache-2.0
// The #SBATCH lines of a script as options of a job. Pure.
#pragma once

#include "core/convert/job/draft.hpp"
#include "core/lint/script/subject.hpp"

namespace dts::convert {

// A row for each option and for what sbatch stumbles over.
void read_requests(const lint::Subject& subject, Draft& draft);

// A value that is to be filled in before the script can be submitted: <account>, {{ nodes }}.
[[nodiscard]] bool is_blank(std::string_view value);

// pyxis' options, of sbatch or of srun: "container-image" and the others. False: none of them.
// `row` is told what became of it.
bool read_container_option(const std::string& name,
                           const std::string& value,
                           Settings& settings,
                           Row& row);

}  // namespace dts::convert
