// SPDX-License-Identifier: Apache-2.0
// Parameters of a sweep in texts: {lr} is replaced by its value, {{lr}} is the text {lr}. Whatever
// does not look like a parameter stays as it is, byte for byte: JSON and templates of others hold
// braces as well. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dts::sweep {

// Names with their values; "index" among them.
using Assignments = std::vector<std::pair<std::string, std::string>>;

// What is written for a value; empty: the value itself.
using Quote = std::function<std::string(const std::string& value)>;

[[nodiscard]] std::string substitute(const std::string& text,
                                     const Assignments& values,
                                     const Quote& quote = {});

// Adds a problem for each {name} of `text` that is similar to a parameter, but none.
void check_placeholders(const std::string& text,
                        const std::vector<std::string>& names,
                        const std::string& where,
                        Diagnostics& problems);

}  // namespace dts::sweep
