// SPDX-License-Identifier: Apache-2.0
// The container runtimes that a command starts itself. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::plan {

// The names of the container runtimes in `text`, a shell's or the words of a command joined by
// blanks: "apptainer" for "cd /w && /usr/bin/apptainer exec i.sif ./train". Each once. A name that
// the text only mentions is also found.
[[nodiscard]] std::vector<std::string> own_runtimes(std::string_view text);

}  // namespace dts::plan
