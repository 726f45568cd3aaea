// SPDX-License-Identifier: Apache-2.0
// Where in a file an option was set that turned out to be wrong. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/spec/file/layers.hpp"

namespace dts::spec {

// Replaces option names in problems found by validate() and plan::make_plan() with the place where
// the option was set: "--nodes" becomes "job.toml:3:9" if it came from there, and so does
// "role `data`: --nodes", whose place is in that role.
void locate(const Layer& settings, Diagnostics& problems);

}  // namespace dts::spec
