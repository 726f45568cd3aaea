// SPDX-License-Identifier: Apache-2.0
// Steps that a script starts beside its programs: srun mkdir, srun hostname > hosts. A set-up can
// start none, as the job's own step has the nodes, but each node can run the command itself. Pure.
#pragma once

#include "core/convert/lines/verdict.hpp"
#include "core/lint/script/job.hpp"
#include "core/lint/script/launch.hpp"

namespace dts::convert {

enum class StepTasks { one, one_on_each_node, more };

[[nodiscard]] StepTasks tasks_of(const lint::Launch& step, const lint::Job& job);

// Gives a verdict on a line that is kept, or may be, the line's text without launchers, or why the
// line is lost.
void settle_steps(const Item& item, const lint::Job& job, Verdict& verdict);

}  // namespace dts::convert
