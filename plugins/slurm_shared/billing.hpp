// SPDX-License-Identifier: Apache-2.0
// What a partition bills: TRESBillingWeights and PriorityFlags of slurm.conf(5). Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace slurm_plugin {

// Converts "CPU=1.0,Mem=0.25G,GRES/gpu=2.0" to a partition's member `billing`; null if nothing is
// set, in which case Slurm bills the processors. A suffix divides the weight by 1024 for each step
// above the unit of the resource, which is MiB for memory: 0.25G is 0.25 per GiB. Resources that
// none of our options request, and invalid items, are listed in `others`.
[[nodiscard]] nlohmann::json billing_json(std::string_view weights);

// "sum", "largest" (MAX_TRES), or "largest_and_gpus" (MAX_TRES_GRES, since 24.05): the member
// `billing_rule` of the configuration.
[[nodiscard]] const char* billing_rule(bool max_tres, bool max_tres_gres);

// The same, from the text of PriorityFlags.
[[nodiscard]] const char* billing_rule(std::string_view priority_flags);

}  // namespace slurm_plugin
