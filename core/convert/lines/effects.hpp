// SPDX-License-Identifier: Apache-2.0
// What a line of a script does besides setting variables and printing. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string_view>

namespace dts::convert {

// It writes or appends to a file, by a redirection or tee.
[[nodiscard]] bool writes_file(const Item& item);

// A substitution in it may do more than to read: NEXT=$(./prepare).
[[nodiscard]] bool acts_inside(const Item& item);

// It submits a job, under whatever condition.
[[nodiscard]] bool submits(const Item& item);

// The text, of any language whose comments begin with #, starts ranks by srun or mpirun.
[[nodiscard]] bool starts_ranks(std::string_view text);

}  // namespace dts::convert
