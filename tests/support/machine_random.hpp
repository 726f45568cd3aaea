// SPDX-License-Identifier: Apache-2.0
// Machines that nobody has built, in the language of tests/data/machines.
#pragma once

#include <string>

namespace dts::tests {

// The same for the same seed: parts of uneven sizes, devices anywhere, processors closed or
// offline.
[[nodiscard]] std::string random_machine(unsigned seed);

}  // namespace dts::tests
