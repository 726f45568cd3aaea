// SPDX-License-Identifier: Apache-2.0
// The instruction set for training. Sums of products differ between vector widths, so that all
// ranks of a training must use the same one: the widest that every rank supports.
#pragma once

#include "core/base/result.hpp"

#include <optional>
#include <string_view>

namespace dts::train {

enum class InstructionSet { portable, avx2, avx512 };  // ascending

// The widest one that this processor supports and for which we have kernels.
[[nodiscard]] InstructionSet best_instruction_set();

// "portable", "avx2", "avx512".
[[nodiscard]] const char* to_string(InstructionSet set);
// The inverse; nullopt for any other text.
[[nodiscard]] std::optional<InstructionSet> instruction_set_of(std::string_view word);

// The type of the factors of matrix products and convolutions. Sums, and everything else, are fp32.
enum class Precision { fp32, tf32, bf16 };

// "fp32", "tf32", "bf16".
[[nodiscard]] const char* to_string(Precision precision);
// The inverse; nullopt for any other text.
[[nodiscard]] std::optional<Precision> precision_of(std::string_view word);

// Instructions for bf16 products, ascending. Without them oneDNN would emulate bf16.
enum class Bf16Instructions { none, avx512_bf16, amx };

// "none", "avx512_bf16", "amx".
[[nodiscard]] const char* to_string(Bf16Instructions instructions);

// The best that this processor has.
[[nodiscard]] Bf16Instructions best_bf16_instructions();

// Errc::usage for tf32, which only accelerators have, and for a precision whose products
// would be emulated on a processor that has `best`, with `set` for everything else.
// Pure.
[[nodiscard]] Result<void> check_precision(Precision precision,
                                           InstructionSet set,
                                           Bf16Instructions best);

// Selects the instruction sets of our kernels and oneDNN's, at most best_instruction_set() and
// best_bf16_instructions(). Call this from one thread before the first kernel runs. By default
// kernels use the best.
void use_instruction_set(InstructionSet set, Bf16Instructions bf16 = Bf16Instructions::none);

}  // namespace dts::train
