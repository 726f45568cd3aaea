// SPDX-License-Identifier: Apache-2.0
// Options whose alternatives Slurm's forecast does not consider. Pure apart from the questions.
#pragma once

#include "plugins/slurm_shared/failure.hpp"

#include <cstdint>
#include <functional>

namespace slurm_plugin {

// Asks Slurm when the job of this request would start.
using AskStart = std::function<Outcome<json>(const json& request)>;

// The earliest start of the job; `now` in Unix seconds. Slurm's forecast takes --constraint
// "[a|b]", all nodes with the same one of the features, for "a|b", and assumes that a job waits for
// the few switches of --switches for ever, although it takes any nodes after some minutes.
[[nodiscard]] Outcome<json> earliest_start(const json& request,
                                           std::int64_t now,
                                           const AskStart& ask);

}  // namespace slurm_plugin
