// SPDX-License-Identifier: Apache-2.0
// The instructions of PTX that change nothing but registers.
#pragma once

#include <cstdint>
#include <string>

namespace ptx {

using Word = std::uint64_t;  // a register; bits beyond its type's are 0

// Computes slots[0] from the other slots, in the order of the text.
using Operation = void (*)(Word* registers, const int* slots);

// The operation of that name, as "add.s32", or nullptr. Of mov, "mov.b32 pack" and "mov.b32 unpack"
// have two halves as their source and destination.
[[nodiscard]] Operation operation_named(const std::string& name);

}  // namespace ptx
