// SPDX-License-Identifier: Apache-2.0
// Words that are written in a roundabout way, or not as a shell reads them. Pure.
#pragma once

#include "core/convert/expand/rewrite.hpp"

#include <string_view>

namespace dts::convert {

// The text with blanks of templates in quotes, which a shell would read as redirections
// (CACHE=<cache folder>), and with the number of --ntasks-per-node, or ${SLURM_NTASKS_PER_NODE},
// for the first number of SLURM_TASKS_PER_NODE.
[[nodiscard]] Rewrite with_plain_words(std::string_view text);

}  // namespace dts::convert
