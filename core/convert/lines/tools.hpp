// SPDX-License-Identifier: Apache-2.0
// Commands that prepare a job or clean up after it, and those that do its work. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string>

namespace dts::convert {

// Shell built-ins and trivial commands: never a job's program.
[[nodiscard]] bool is_auxiliary(const std::string& verb);

// After a program: a further program, not a command that cleans up, copies results or prints.
[[nodiscard]] bool does_work(const lint::Run& run);

// ray stop, kill $SERVER
[[nodiscard]] bool only_ends_services(const Item& item);

}  // namespace dts::convert
