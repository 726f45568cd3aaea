// SPDX-License-Identifier: Apache-2.0
// The known expansion of a script's word. Pure, thread-safe.
#pragma once

#include "core/shell/syntax.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dts::convert {

// Beyond these bytes, a value is as good as unknown: X1=$X0$X0, X2=$X1$X1 and so on double it.
inline constexpr std::size_t k_longest_value = std::size_t{64} << 10;

// Of all values of a script together, also those that later lines replace: beyond, none is known.
inline constexpr std::size_t k_most_of_values = std::size_t{32} << 20;

struct KnownText {
  enum class Kind {
    unknown,
    some,  // not empty, and no more is known
    exact,
  };

  Kind kind = Kind::unknown;
  std::string text{};
  bool is_set = true;  // of an exact one

  [[nodiscard]] bool is_exact() const { return kind == Kind::exact; }
};

// What variables hold: their names to their values. "#NAME" is the number of elements of an array.
using KnownVariables = std::function<KnownText(const std::string& name)>;

// As if the word were in quotes: $NAME, ${NAME:-x} and the like, $((...)), $(pwd), $(cd x; pwd).
[[nodiscard]] KnownText text_of(const shell::Word& word, const KnownVariables& variables);

// The value of an arithmetic expression.
[[nodiscard]] std::optional<std::int64_t> number_of(std::string_view expression,
                                                    const KnownVariables& variables);

// The word that an assignment's right side is: text_of() of "${IMAGE:-x}" and so on; nullopt: it is
// more than one word.
[[nodiscard]] std::optional<shell::Word> word_in(const std::string& source);

}  // namespace dts::convert
