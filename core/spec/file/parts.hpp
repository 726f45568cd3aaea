// SPDX-License-Identifier: Apache-2.0
// `steps` and `roles` of a file, which are lists of objects. Pure, thread-safe.
#pragma once

#include "core/spec/file/read_keys.hpp"
#include "core/spec/option.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace dts::spec {

// Reads the list at `pointer` into `parts`; resolve_parts() turns them into jobs later. Reports
// each unreadable key or value, and each option that only the whole job can have, at its position.
void read_parts(const nlohmann::json& list,
                const std::string& pointer,
                const Reading& reading,
                std::vector<Part>& parts,
                bool are_roles,
                Diagnostics& problems);

// The inverse, in spec.json's spelling, with every option of each part.
[[nodiscard]] nlohmann::ordered_json parts_to_json(const JobSpec& spec);

// True for options of layout and program; requests to the scheduler belong to the whole job.
[[nodiscard]] bool is_of_part(const Option& row);

// True if each part of this job has the option itself. A component of a heterogeneous job has its
// own requests for nodes, too.
[[nodiscard]] bool is_of_each_part(const Option& row, bool heterogeneous);

}  // namespace dts::spec
