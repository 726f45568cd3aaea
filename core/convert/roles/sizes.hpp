// SPDX-License-Identifier: Apache-2.0
// Sizes of the whole job in the text of a role, whose own sizes differ. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace dts::convert {

// Sizes of the job by their variables, which in a role are those of the role.
using Sizes = std::map<std::string, std::string>;

[[nodiscard]] Sizes sizes_of_job(const Resolver& resolver);

// The text with the numbers in place of the variables.
[[nodiscard]] std::string with_sizes(const std::string& text, const Sizes& sizes);

// The number that an option's value is, as the script writes it.
[[nodiscard]] std::optional<std::uint64_t> number_of(const std::string& value,
                                                     const Resolver& resolver);

// True if one of its programs is a step that asks for GPUs, or gets those of its tasks.
[[nodiscard]] bool has_gpus_of_its_own(const Item& item, const lint::Job& job);

void set_sizes(Program& program, const Sizes& sizes);

}  // namespace dts::convert
