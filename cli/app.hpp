// SPDX-License-Identifier: Apache-2.0
// The command line: from argv to the exit code.
#pragma once

namespace dts::cli {

[[nodiscard]] int run(int argc, char** argv);

}  // namespace dts::cli
