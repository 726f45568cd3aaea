// SPDX-License-Identifier: Apache-2.0
// Programs as parts of the job file. Pure.
#pragma once

#include "core/convert/job/draft.hpp"
#include "core/convert/parts.hpp"
#include "core/convert/program/program.hpp"

#include <string>
#include <vector>

namespace dts::convert {

// Tells the row and the step of the program's blanks.
void fill_in(const Program& program, Step& step, Row& row);

// pyxis hands only variables on that are named, where srun's own container gets them all.
void hand_to_container(const Program& program,
                       const SetUpText& set_up,
                       const Draft& draft,
                       Step& step);

// A name that no other step of `draft` has.
[[nodiscard]] std::string name_of_step(const std::vector<std::string>& command, const Draft& draft);

}  // namespace dts::convert
