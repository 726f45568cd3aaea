// SPDX-License-Identifier: Apache-2.0
// Makes sure that dtsubmit accepts the job file: what it would refuse is taken out and lost. Pure.
#pragma once

#include "core/convert/convert.hpp"
#include "core/convert/job/draft.hpp"

namespace dts::convert {

[[nodiscard]] Conversion repaired(Draft draft);

}  // namespace dts::convert
