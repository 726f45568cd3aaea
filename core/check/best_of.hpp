// SPDX-License-Identifier: Apache-2.0
// Two measurements of the same nodes as one. Pure, thread-safe.
#pragma once

#include "core/check/facts.hpp"
#include "core/check/verdict.hpp"

namespace dts::check {

// Of each value the better one: what disturbs a measurement only ever makes it worse, and what is
// broken is so both times. Bits are not forgiven: a node whose digests differ between the two has
// one more odd repeat, and one without a second measurement keeps the first.
[[nodiscard]] Facts best_of(Facts first, const Facts& second);

// Takes back what `verdict` on the best of several measurements, `facts`, finds unfit although in
// one of them, `once`, it was as good as its peers: a machine that is twice as fast during half of
// a measurement makes the other half look slow. Bits are not forgiven, nor are faults without a
// name. `of_once`: the verdict on `once` alone.
void forgive(Verdict& verdict, const Facts& facts, const Facts& once, const Verdict& of_once);

}  // namespace dts::check
