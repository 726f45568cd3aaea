// SPDX-License-Identifier: Apache-2.0
// The services that a cluster may have besides Slurm's controller and nodes: munged, and slurmdbd
// with a database server of its own.
#pragma once

#include "core/base/result.hpp"
#include "core/cluster/daemons.hpp"
#include "core/cluster/layout/config.hpp"

#include <string>
#include <vector>

namespace dts::cluster {

// The names of the cluster's service daemons, as in Member::daemon.
[[nodiscard]] std::vector<std::string> service_names(const ClusterSpec& spec);

// Creates the key and the database, starts the services one after another, each as soon as the one
// that it needs answers, and registers the cluster, an account and its user with slurmdbd. Adds the
// daemons to `daemons`. The configuration must already be written. Errc::io with the end of the log
// of a service that does not start.
[[nodiscard]] Result<void> start_services(const Programs& programs,
                                          const Layout& layout,
                                          std::vector<Daemon>& daemons);

}  // namespace dts::cluster
