// SPDX-License-Identifier: Apache-2.0
// The first lines of a script's set-up for which there are options: modules, an environment, the
// folder. Pure.
#pragma once

#include "core/convert/parts.hpp"

namespace dts::convert {

// Turns them into options, up to the first line whose order relative to them matters.
void early_options(std::vector<Part>& parts, const Resolver& resolver, Draft& draft);

}  // namespace dts::convert
