// SPDX-License-Identifier: Apache-2.0
// Starts Slurm's daemons so that they outlive us and are detached from our terminal.
#pragma once

#include "core/base/result.hpp"
#include "core/cluster/layout/config.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace dts::cluster {

// Paths of the programs we start.
struct Programs {
  std::string slurmctld;
  std::string slurmd;
  std::string sinfo;
  std::string squeue;
};

// Looks in PATH, then in the administrators' folders (sbin), which a plain user's PATH lacks on
// Debian. Errc::not_found, naming the Debian packages to install.
[[nodiscard]] Result<Programs> find_programs();

// True if this user may give a process its own host name (a UTS namespace, for a plain user inside
// a user namespace). Determined by trying it once.
[[nodiscard]] bool can_own_host_name();

struct Daemon {
  std::string name;  // "slurmctld" or the node's name; its log is FOLDER/log/NAME.log
  pid_t pid = 0;     // a child of the caller
};

// Runs in the foreground of its own session, with its own standard streams and none of our files
// open. With `own_host_names` its host name is its address: see render_start_conf.
[[nodiscard]] Result<Daemon> start_controller(const Programs& programs, const Layout& layout);
[[nodiscard]] Result<Daemon> start_node(const Programs& programs,
                                        const Layout& layout,
                                        unsigned node);

// Gives the namespace of one of our running daemons its final host name: the daemon's own name.
[[nodiscard]] Result<void> name_host(const Daemon& daemon);

// Our environment without any variable that Slurm reads, plus SLURM_CONF; for daemons, sinfo and
// squeue.
[[nodiscard]] std::vector<std::string> clean_environment(const std::string& folder);

}  // namespace dts::cluster
