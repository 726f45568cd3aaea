// SPDX-License-Identifier: Apache-2.0
// The two loops whose speed is a property of the machine; compiled at -O3 in every build type.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dts::train {

// `count` additions, a multiple of 64, each of which needs the result of the one before. An
// addition of two registers has a latency of one cycle on every processor of the last decades (A.
// Fog, "Instruction tables"); of a constant it may cost nothing.
std::uint64_t add_chain(std::uint64_t count);

// a = b + s c (J. D. McCalpin, "STREAM: Sustainable Memory Bandwidth in High Performance
// Computers", triad).
void triad(double* a, const double* b, const double* c, double s, std::size_t count);

}  // namespace dts::train
