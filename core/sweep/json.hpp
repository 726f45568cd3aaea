// SPDX-License-Identifier: Apache-2.0
// sweep.json and element.json (dtsubmit-run(5)). Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/sweep/element.hpp"
#include "core/sweep/sweep.hpp"

#include <string>
#include <string_view>

namespace dts::sweep {

// One element per line.
[[nodiscard]] std::string to_json(const Sweep& sweep);

// Errc::invalid, naming `file`, for anything that to_json() does not write; unknown keys are
// ignored.
[[nodiscard]] Result<Sweep> sweep_from_json(std::string_view text, const std::string& file);

[[nodiscard]] std::string to_json(const Membership& membership);
[[nodiscard]] Result<Membership> membership_from_json(std::string_view text,
                                                      const std::string& file);

}  // namespace dts::sweep
