// SPDX-License-Identifier: Apache-2.0
// The lines around a script's programs in a job of roles. Pure.
#pragma once

#include "core/convert/roles/cast.hpp"

#include <cstdint>
#include <vector>

namespace dts::convert {

// Roles find each other through their own variables, not the ranks' rendezvous.
void meet_by_roles(const Cast& cast, Rendezvous& rendezvous);

// Lines that wait for programs are unnecessary; exported addresses are kept, because
// programs of several roles may read it.
void settle_lines(const Cast& cast, const Rendezvous& rendezvous, std::vector<Part>& parts);

// Lost are lines that are kept and list the job's nodes, since they would list those of their role,
// programs that the script leaves running on its own node, since each role would start one, and
// programs for which lose_values_of_roles() says so.
void lose_of_roles(std::vector<Program>& programs, std::vector<Part>& parts);

// In place of the advice to start programs side by side. `nodes`: of the job.
void lose_steps_without_room(std::uint64_t nodes, std::vector<Program>& programs);

}  // namespace dts::convert
