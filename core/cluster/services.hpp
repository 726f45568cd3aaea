// SPDX-License-Identifier: Apache-2.0
// The services that a cluster may have beside Slurm's controller and nodes: munged, and slurmdbd
// with a database server of its own.
#pragma once

#include "core/base/result.hpp"
#include "core/cluster/daemons.hpp"
#include "core/cluster/layout/config.hpp"

#include <string>
#include <vector>

namespace dts::cluster {

// The daemons of the services that the cluster has, as in Member::daemon.
[[nodiscard]] std::vector<std::string> service_names(const ClusterSpec& spec);

// Creates the key and the database, starts the services one after the other, each as soon as the
// one that it needs answers, and makes the cluster, an account and its user known to slurmdbd; adds
// the daemons to `daemons`. The configuration is written already. Errc::io with the end of the log
// of the one that does not start.
[[nodiscard]] Result<void> start_services(const Programs& programs,
                                          const Layout& layout,
                                          std::vector<Daemon>& daemons);

}  // namespace dts::cluster
