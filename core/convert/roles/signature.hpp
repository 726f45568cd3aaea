// SPDX-License-Identifier: Apache-2.0
// What makes two programs of a script the same one, on different nodes. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dts::convert {

// The only simple command of the item's only pipeline's beginning; null: it has another form.
[[nodiscard]] const shell::Command* command_of_program(const Item& item);

// Where the program's words begin, behind those of its launcher.
[[nodiscard]] std::size_t begin_of_program(const lint::Run& run);

// The words that make the program what it is, without those that meet one of `but`, and the names
// in them.
[[nodiscard]] std::pair<std::string, Names> signature_of(const Item& item,
                                                         const std::vector<Span>& but);

}  // namespace dts::convert
