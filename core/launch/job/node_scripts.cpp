// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/node_scripts.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/script/set_up.hpp"

namespace dts::launch {

NodeScripts node_scripts(const spec::JobSpec& spec) {
  const std::string folder = getenv_lookup("DTSUBMIT_SETUP_FOLDER").value_or("/etc/dtsubmit/setup");
  const auto site = [&](const std::string& name) -> std::optional<std::string> {
    auto text = read_file(folder + "/" + name + ".sh");
    if (!text) return std::nullopt;
    return *std::move(text);
  };
  return {script::set_up_script(spec, site), script::tear_down_script(spec)};
}

}  // namespace dts::launch
