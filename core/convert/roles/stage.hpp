// SPDX-License-Identifier: Apache-2.0
// Joins the programs of a script to those of its roles. Pure.
#pragma once

#include "core/convert/roles/cast.hpp"

#include <vector>

namespace dts::convert {

// One program for each role, in the roles' order; `places` become those of their last programs.
// The role on the node of the batch script gets that script's lines between programs, others the
// pauses before theirs. Options of the whole job are removed from `draft`.
void join_programs(const Cast& cast,
                   const lint::Job& job,
                   std::vector<Part>& parts,
                   std::vector<Program>& programs,
                   std::vector<std::size_t>& places,
                   Draft& draft);

// What the job file says of role `index` besides its program.
void add_role(const Cast& cast, std::size_t index, Step& step);

}  // namespace dts::convert
