// SPDX-License-Identifier: Apache-2.0
// The instruction set that a training is computed with. Sums of products come out in other bits
// with other vector widths, so all ranks of a training use one: the widest that every rank has.
#pragma once

#include <optional>
#include <string_view>

namespace dts::train {

enum class InstructionSet { portable, avx2, avx512 };  // ascending

// The widest of this processor that our kernels are made for.
[[nodiscard]] InstructionSet best_instruction_set();

// "portable", "avx2", "avx512".
[[nodiscard]] const char* to_string(InstructionSet set);
// The inverse; nullopt for any other word.
[[nodiscard]] std::optional<InstructionSet> instruction_set_of(std::string_view word);

// Applies to our kernels and to oneDNN's; at most best_instruction_set(). Call it from one thread
// before the first kernel runs. Without a call, kernels use the best.
void use_instruction_set(InstructionSet set);

}  // namespace dts::train
