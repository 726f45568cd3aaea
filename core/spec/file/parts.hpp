// SPDX-License-Identifier: Apache-2.0
// `steps` and `roles` of a file, which are lists of objects. Pure, thread-safe.
#pragma once

#include "core/spec/file/read_keys.hpp"
#include "core/spec/option.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace dts::spec {

// The list at `pointer` into `parts`; resolve_parts() makes jobs of them later. What cannot be read
// is a problem at its place: of a key, of a value, and of what only the whole job can have.
void read_parts(const nlohmann::json& list,
                const std::string& pointer,
                const Reading& reading,
                std::vector<Part>& parts,
                bool are_roles,
                Diagnostics& problems);

// The inverse, in spec.json's spelling, with every option of a part.
[[nodiscard]] nlohmann::ordered_json parts_to_json(const JobSpec& spec);

// True for layout and program; what the scheduler is asked for is the whole job's.
[[nodiscard]] bool is_of_part(const Option& row);

}  // namespace dts::spec
