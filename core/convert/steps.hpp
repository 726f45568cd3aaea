// SPDX-License-Identifier: Apache-2.0
// Converts programs to parts of the job file. Pure.
#pragma once

#include "core/convert/job/draft.hpp"
#include "core/convert/parts.hpp"
#include "core/convert/program/program.hpp"

#include <string>
#include <vector>

namespace dts::convert {

// Adds the program's blanks to the row and the step.
void fill_in(const Program& program, Step& step, Row& row);

// Lines that only end the script if its arguments are wrong are unnecessary: the job file has the
// values, not the arguments.
void drop_argument_checks(std::vector<Part>& parts);

// Makes a blank of the part's row if it needs an argument that the script is converted without.
void ask_for_arguments(const Part& part, const Options& options, Draft& draft);

// pyxis passes on only variables that are named, whereas srun's own container gets all.
void hand_to_container(const Program& program,
                       const SetUpText& set_up,
                       const Draft& draft,
                       Step& step);

// The name that sbatch gives the job, its file's, where the script or its --output=%x uses it and
// asks for no other.
void keep_job_name(const lint::Subject& subject, const Options& options, Draft& draft);

// A name that is unique in `draft`.
[[nodiscard]] std::string name_of_step(const std::vector<std::string>& command, const Draft& draft);

}  // namespace dts::convert
