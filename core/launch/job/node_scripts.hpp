// SPDX-License-Identifier: Apache-2.0
// Scripts that run on each node of a job before and after its programs.
#pragma once

#include "core/spec/job_spec.hpp"

#include <string>

namespace dts::launch {

struct NodeScripts {
  std::string set_up;     // empty: none
  std::string tear_down;  // empty: none
};

// Includes the site's own fragments: NAME.sh in DTSUBMIT_SETUP_FOLDER, otherwise
// /etc/dtsubmit/setup.
[[nodiscard]] NodeScripts node_scripts(const spec::JobSpec& spec);

}  // namespace dts::launch
