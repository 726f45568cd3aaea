// SPDX-License-Identifier: Apache-2.0
// The place in a file where a wrong option was set. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/spec/file/layers.hpp"

namespace dts::spec {

// Replaces option names in problems found by validate() and plan::make_plan() with the place where
// the option was set: "--nodes" becomes "job.toml:3:9" if it came from there. "role `data`:
// --nodes" becomes the place in that role, or where the whole job sets the option.
void locate(const Layer& settings, Diagnostics& problems);

}  // namespace dts::spec
