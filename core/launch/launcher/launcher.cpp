// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/launcher.hpp"

#include "core/base/text/text.hpp"

namespace dts::launch {

const LauncherType& type_of(spec::Launcher launcher) {
  switch (launcher) {
#define DTS_LAUNCHER(name, ...) \
  case spec::Launcher::name:    \
    return k_##name##_launcher;
#include "core/spec/launchers.inc"
#undef DTS_LAUNCHER
    case spec::Launcher::automatic:
      break;
  }
  return k_mpirun_launcher;
}

namespace {

// The launcher's answer; the error gives the reason why it is not available.
Result<std::string> seen(spec::Launcher launcher, bool local, const Ask& ask) {
  Result<std::string> answer = ask(launcher);
  DTS_TRY(type_of(launcher).available(answer, local));
  return answer;
}

}  // namespace

Result<LauncherChoice> choose_launcher(spec::Launcher asked, bool local, const Ask& ask) {
  if (asked != spec::Launcher::automatic) {
    DTS_ASSIGN(std::string answer, seen(asked, local, ask));
    return LauncherChoice{asked, std::move(answer), "as requested"};
  }
  std::vector<std::string> missing;
  std::string hint;
  for (const spec::LauncherRow& row : spec::built_in_launchers()) {
    if (row.hosts == nullptr) continue;  // they are for --hosts, which names the launcher
    auto answer = seen(row.launcher, local, ask);
    if (answer)
      return LauncherChoice{
          row.launcher,
          *std::move(answer),
          "auto: " + (missing.empty() ? "it is on this node" : join(missing, ", and "))};
    if (answer.error().code == Errc::invalid) continue;
    if (missing.empty()) hint = answer.error().hint;
    missing.push_back(answer.error().message);
  }
  return fail(Errc::not_found, join(missing, ", and "), hint);
}

}  // namespace dts::launch
