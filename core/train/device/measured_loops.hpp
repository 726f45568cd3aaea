// SPDX-License-Identifier: Apache-2.0
// Two loops whose speed is a property of the machine; compiled with -O3 in every build type.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dts::train {

// Makes `count` dependent additions, a multiple of 64. An addition of two registers has had a
// latency of one cycle on every processor for decades (A. Fog, "Instruction tables"); the addition
// of a constant may take no time.
std::uint64_t add_chain(std::uint64_t count);

// a = b + s c, the triad of J. D. McCalpin, "STREAM: Sustainable Memory Bandwidth in High
// Performance Computers".
void triad(double* a, const double* b, const double* c, double s, std::size_t count);

}  // namespace dts::train
