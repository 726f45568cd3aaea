// SPDX-License-Identifier: Apache-2.0
// Commands that prepare a job or tidy up behind it, and those that do its work. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string>

namespace dts::convert {

// Of the shell or of no consequence: never a job's program.
[[nodiscard]] bool is_auxiliary(const std::string& verb);

// Behind a program: one more program, and not what tidies up, copies results or prints.
[[nodiscard]] bool does_work(const lint::Run& run);

// ray stop, kill $SERVER
[[nodiscard]] bool only_ends_services(const Item& item);

}  // namespace dts::convert
