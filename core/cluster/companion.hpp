// SPDX-License-Identifier: Apache-2.0
// A cluster that ends with a process, for example with the test that uses it, however that ends.
#pragma once

#include "core/base/result.hpp"

#include <sys/types.h>

#include <string>

namespace dts::cluster {

// Starts `dtsubmit cluster down` in the background, which waits for the end of `process`. `folder`
// must be absolute. Errors: those of starting a program.
[[nodiscard]] Result<void> end_with_process(const std::string& folder, pid_t process);

// Waits until `process` has ended: true; or until the cluster in `folder` has: false. Looks once a
// second.
[[nodiscard]] bool outlives_process(const std::string& folder, pid_t process);

}  // namespace dts::cluster
