// SPDX-License-Identifier: Apache-2.0
// The instruction set used for training. Sums of products differ bit for bit between vector widths,
// so all ranks of a training use the same one: the widest that every rank supports.
#pragma once

#include <optional>
#include <string_view>

namespace dts::train {

enum class InstructionSet { portable, avx2, avx512 };  // ascending

// The widest one that this processor supports and our kernels exist for.
[[nodiscard]] InstructionSet best_instruction_set();

// "portable", "avx2", "avx512".
[[nodiscard]] const char* to_string(InstructionSet set);
// The inverse; nullopt for any other text.
[[nodiscard]] std::optional<InstructionSet> instruction_set_of(std::string_view word);

// Applies to our kernels and to oneDNN's; at most best_instruction_set(). Call it from one thread
// before the first kernel runs. Without a call, kernels use the best.
void use_instruction_set(InstructionSet set);

}  // namespace dts::train
