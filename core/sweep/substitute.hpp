// SPDX-License-Identifier: Apache-2.0
// Substitutes parameters of a sweep in texts: {lr} becomes its value, {{lr}} becomes the text {lr}.
// Whatever does not look like a parameter stays unchanged, byte for byte, because JSON and other
// templates contain braces, too. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dts::sweep {

// Names with their values, including "index".
using Assignments = std::vector<std::pair<std::string, std::string>>;

// Formats a value; empty: the value itself.
using Quote = std::function<std::string(const std::string& value)>;

[[nodiscard]] std::string substitute(const std::string& text,
                                     const Assignments& values,
                                     const Quote& quote = {});

// Adds a problem for each {name} of `text` that resembles a parameter but is none.
void check_placeholders(const std::string& text,
                        const std::vector<std::string>& names,
                        const std::string& where,
                        Diagnostics& problems);

}  // namespace dts::sweep
