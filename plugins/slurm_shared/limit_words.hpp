// SPDX-License-Identifier: Apache-2.0
// The limits of QOS and associations in words. Pure.
#pragma once

#include "plugins/slurm_shared/job_words.hpp"

#include <optional>
#include <string_view>

namespace slurm_plugin {

// Why a job with that reason waits ("QOSMaxCpuPerUserLimit", "AssocGrpGRES"), and what to do;
// nullopt if the reason is not such a limit.
[[nodiscard]] std::optional<JobWords> words_of_limit(std::string_view reason);

}  // namespace slurm_plugin
