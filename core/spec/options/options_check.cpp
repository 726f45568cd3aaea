// SPDX-License-Identifier: Apache-2.0
// Options of `dtsubmit check` that a site may want in its configuration files.
#include "core/spec/values/values.hpp"

#include <nlohmann/json.hpp>

namespace dts::spec {

std::vector<Option> check_options() {
  return {{.names = "--tolerance",
           .value = texts(&JobSpec::tolerances, "MEASURE=PERCENT", R"(["memory=20"])"),
           .help = "how much worse than its peers a healthy node may be; repeatable",
           .manual = R"(How much worse than its peers a healthy node may be; see
.BR dtsubmit\-check (1).
)"}};
}

}  // namespace dts::spec
