// SPDX-License-Identifier: Apache-2.0
// What a step asks for of its job. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace dts::convert {

// The number that an option's value is, as the script writes it.
[[nodiscard]] std::optional<std::uint64_t> number_of(const std::string& value,
                                                     const Resolver& resolver);

// True if one of its programs is a step that asks for GPUs, or gets those of its tasks.
[[nodiscard]] bool has_gpus_of_its_own(const Item& item, const lint::Job& job);

}  // namespace dts::convert
