// SPDX-License-Identifier: Apache-2.0
// Executes kernels as a device may: the blocks, the warps of a block, and the threads of a warp in
// random orders, and copies of cp.async as late as possible. Finds what a device does not report,
// or only under compute-sanitizer: addresses that are not aligned or not allocated, data races in
// shared and global memory, and threads that do not reach a barrier.
//
// It assumes that the threads of a warp execute all instructions of a warp, including barriers,
// together, as nvcc's code does that this project uses.
#pragma once

#include "tests/ptx/memory.hpp"
#include "tests/ptx/program.hpp"

namespace ptx {

// Throws std::runtime_error at the first error, with the line of the text, the block and the
// thread.
void execute(const Kernel& kernel, const Launch& launch);

}  // namespace ptx
