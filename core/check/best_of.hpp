// SPDX-License-Identifier: Apache-2.0
// Combines two measurements of the same nodes. Pure, thread-safe.
#pragma once

#include "core/check/facts.hpp"
#include "core/check/verdict.hpp"

namespace dts::check {

// Takes the better one of each two values: a disturbance only ever makes a measurement worse, and a
// broken part is bad both times. Wrong bits are not forgiven: a node whose digests differ between
// the two measurements gets one more odd repeat. A node without a second measurement keeps the
// first.
[[nodiscard]] Facts best_of(Facts first, const Facts& second);

// `verdict` is the verdict on `facts`, the best of several measurements; `of_once` that on one of
// them, `once`, alone. Clears nodes and links that `verdict` finds unfit although in `once` they
// were as good as their peers: a machine that is twice as fast during half of a measurement makes
// the other half look slow. Wrong bits are not forgiven, nor are faults without a name.
void forgive(Verdict& verdict, const Facts& facts, const Facts& once, const Verdict& of_once);

}  // namespace dts::check
