// SPDX-License-Identifier: Apache-2.0
// Amounts of what a site limits, in words. Pure.
#pragma once

#include "core/base/job_limit.hpp"

#include <cstdint>
#include <string>

namespace dts::plan {

// "2 CPUs", "3 GPUs of type a100"; with minutes, "480 CPU-minutes".
[[nodiscard]] std::string amount_in_words(const JobLimit& limit, std::uint64_t amount);
[[nodiscard]] std::string words_with_minutes(const JobLimit& limit, std::uint64_t amount);

}  // namespace dts::plan
