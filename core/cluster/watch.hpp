// SPDX-License-Identifier: Apache-2.0
// Checks whether the started daemons are alive and answer.
#pragma once

#include "core/base/result.hpp"
#include "core/cluster/daemons.hpp"
#include "core/cluster/layout/config.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace dts::cluster {

// Errc::io: "DAEMON WHAT; the end of its log: ...".
[[nodiscard]] tl::unexpected<Error> fail_daemon(const Layout& layout,
                                                const std::string& daemon,
                                                const std::string& what);

// Errc::io, with the end of its log, if one of the daemons has ended.
[[nodiscard]] Result<void> check_alive(const Layout& layout, const std::vector<Daemon>& daemons);

// Waits until `answers` returns true for the last of the daemons. Errc::io, with the end of a log,
// after the deadline and as soon as any of the daemons ends.
[[nodiscard]] Result<void> wait_for(const Layout& layout,
                                    const std::vector<Daemon>& daemons,
                                    std::chrono::steady_clock::time_point deadline,
                                    const std::function<bool()>& answers);

}  // namespace dts::cluster
