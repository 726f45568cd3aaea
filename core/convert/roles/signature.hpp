// SPDX-License-Identifier: Apache-2.0
// Whether two programs of a script are the same, on different nodes. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dts::convert {

// The only simple command of the item's only pipeline's beginning; null: it has another form.
[[nodiscard]] const shell::Command* command_of_program(const Item& item);

// The index of the program's first word, after those of its launcher.
[[nodiscard]] std::size_t begin_of_program(const lint::Run& run);

// The words that identify the program, without those that match one of `but`, and the names
// in them.
[[nodiscard]] std::pair<std::string, Names> signature_of(const Item& item,
                                                         const std::vector<Span>& but);

}  // namespace dts::convert
