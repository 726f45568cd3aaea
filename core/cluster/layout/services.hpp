// SPDX-License-Identifier: Apache-2.0
// Configuration of the services besides Slurm's controller and nodes: authentication and
// accounting. Pure.
#pragma once

#include "core/cluster/layout/config.hpp"

#include <string>
#include <vector>

namespace dts::cluster {

// A line of slurm.conf or slurmdbd.conf.
struct Line {
  std::string key;
  std::string value;
};

using Lines = std::vector<Line>;

// The database in which slurmdbd keeps all accounting, in the cluster's own MariaDB.
inline constexpr const char* k_accounting_database = "slurm_acct_db";

[[nodiscard]] std::string text_of(const Lines& lines);  // one KEY=VALUE per line

// The sockets are below the folder, which only its owner can enter.
[[nodiscard]] std::string munge_socket(const std::string& folder);
[[nodiscard]] std::string database_socket(const std::string& folder);

// Lines of slurm.conf.
[[nodiscard]] Lines authentication_lines(const Layout& layout);
[[nodiscard]] Lines accounting_lines(const Layout& layout);

// FOLDER/slurmdbd.conf, where slurmdbd looks for it.
[[nodiscard]] std::string accounting_conf_path(const std::string& folder);
[[nodiscard]] std::string render_accounting_conf(const Layout& layout);  // empty without accounting

}  // namespace dts::cluster
