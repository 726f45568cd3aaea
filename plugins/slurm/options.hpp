// SPDX-License-Identifier: Apache-2.0
// Options of sbatch that are fields of the job description.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <slurm/slurm.h>

#include <functional>
#include <string>

namespace slurm_plugin {

// True where set_options() knows all of `options` (by long name, an empty value is that of a flag)
// and their values. Whatever it does not know is for sbatch itself to read.
[[nodiscard]] bool knows_options(const nlohmann::json& options);

// Fills `message` from options that knows_options(). `keep` gives a text the lifetime of `message`.
void set_options(const nlohmann::json& options,
                 job_desc_msg_t& message,
                 const std::function<char*(std::string)>& keep);

}  // namespace slurm_plugin
