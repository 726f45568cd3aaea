// SPDX-License-Identifier: Apache-2.0
// Options of sbatch that map to fields of the job description.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <slurm/slurm.h>

#include <functional>
#include <string>

namespace slurm_plugin {

// True if set_options() supports all of `options` (by long name; a flag has an empty value) and
// their values. Otherwise sbatch itself must read them.
[[nodiscard]] bool knows_options(const nlohmann::json& options);

// Fills `message` from options accepted by knows_options(). `keep` extends a text's lifetime to
// that of `message`.
void set_options(const nlohmann::json& options,
                 job_desc_msg_t& message,
                 const std::function<char*(std::string)>& keep);

}  // namespace slurm_plugin
