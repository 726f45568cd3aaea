// SPDX-License-Identifier: Apache-2.0
// Starts Slurm's daemons so that they outlive us, detached from our terminal.
#pragma once

#include "core/base/os/process.hpp"
#include "core/base/result.hpp"
#include "core/cluster/layout/config.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace dts::cluster {

// Paths of the programs that we start.
struct Programs {
  std::string slurmctld;
  std::string slurmd;
  std::string sinfo;
  std::string squeue;
  // Empty unless the cluster needs them.
  std::string munged;
  std::string slurmdbd;
  std::string sacctmgr;
  std::string mariadbd;
  std::string mariadb_install_db;
};

// Searches PATH, then the administrators' folders (sbin), which are not in a plain user's PATH on
// Debian. Errc::not_found names the Debian packages to install.
[[nodiscard]] Result<Programs> find_programs(const ClusterSpec& spec);

// True if this user may give a process a host name of its own (in a UTS namespace, for a plain user
// inside a user namespace). Determined by trying it once.
[[nodiscard]] bool can_own_host_name();

struct Daemon {
  std::string name;  // "slurmctld" or the node's name; its log is FOLDER/log/NAME.log
  pid_t pid = 0;     // a child of the caller
};

// Starts `command` in the foreground of a session of its own, with standard streams of its own and
// none of our files open, in clean_environment() plus command.env. With `own_host_names`, and
// unless `host_name` is empty, the process has a host name of its own.
[[nodiscard]] Result<Daemon> start_daemon(Command command,
                                          const Layout& layout,
                                          const std::string& name,
                                          const std::string& host_name);

// With `own_host_names`, the host name is the daemon's address at first, see render_start_conf().
[[nodiscard]] Result<Daemon> start_controller(const Programs& programs, const Layout& layout);
[[nodiscard]] Result<Daemon> start_node(const Programs& programs,
                                        const Layout& layout,
                                        unsigned node);

// Gives the namespace of one of our running daemons its final host name, the daemon's own name.
[[nodiscard]] Result<void> name_host(const Daemon& daemon);

// Our environment without any variable that Slurm reads, plus SLURM_CONF. For daemons, sinfo and
// squeue.
[[nodiscard]] std::vector<std::string> clean_environment(const std::string& folder);

}  // namespace dts::cluster
