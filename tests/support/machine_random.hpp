// SPDX-License-Identifier: Apache-2.0
// Random machines, in the language of tests/data/machines.
#pragma once

#include <string>

namespace dts::tests {

// Depends only on the seed. Parts have uneven sizes, devices are anywhere, and processors may be
// disallowed or offline.
[[nodiscard]] std::string random_machine(unsigned seed);

}  // namespace dts::tests
