// SPDX-License-Identifier: Apache-2.0
// Two measurements of the same nodes as one. Pure, thread-safe.
#pragma once

#include "core/check/facts.hpp"

namespace dts::check {

// Of each value the better one: what disturbs a measurement only ever makes it worse, and what is
// broken is so both times. Bits are not forgiven: a node whose digests differ between the two has
// one more odd repeat, and one without a second measurement keeps the first.
[[nodiscard]] Facts best_of(Facts first, const Facts& second);

}  // namespace dts::check
