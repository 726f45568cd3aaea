// SPDX-License-Identifier: Apache-2.0
// Makes sure that dtsubmit accepts the job file: settings that it would refuse are lost. Pure.
#pragma once

#include "core/convert/convert.hpp"
#include "core/convert/job/draft.hpp"

namespace dts::convert {

[[nodiscard]] Conversion repaired(Draft draft);

}  // namespace dts::convert
