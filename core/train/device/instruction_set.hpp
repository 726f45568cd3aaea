// SPDX-License-Identifier: Apache-2.0
// The instruction set used for training. Sums of products differ bit for bit between vector widths,
// so all ranks of a training use the same one: the widest that every rank supports.
#pragma once

#include "core/base/result.hpp"

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

// What matrix products and convolutions read. Their sums, and everything else, are fp32 always.
enum class Precision { fp32, tf32, bf16 };

// "fp32", "tf32", "bf16".
[[nodiscard]] const char* to_string(Precision precision);
// The inverse; nullopt for any other text.
[[nodiscard]] std::optional<Precision> precision_of(std::string_view word);

// The instructions for products of bf16, ascending. Without any oneDNN would emulate them.
enum class Bf16Instructions { none, avx512_bf16, amx };

// "none", "avx512_bf16", "amx".
[[nodiscard]] const char* to_string(Bf16Instructions instructions);

// Those that this processor has.
[[nodiscard]] Bf16Instructions best_bf16_instructions();

// Errc::usage for tf32, which only accelerators have, and if products of that precision would be
// emulated with `set` for everything else on a
// processor that has `best`. Pure.
[[nodiscard]] Result<void> check_precision(Precision precision,
                                           InstructionSet set,
                                           Bf16Instructions best);

// Applies to our kernels and to oneDNN's; at most best_instruction_set() and
// best_bf16_instructions(). Call it from one thread before the first kernel runs. Without a call,
// kernels use the best.
void use_instruction_set(InstructionSet set, Bf16Instructions bf16 = Bf16Instructions::none);

}  // namespace dts::train
