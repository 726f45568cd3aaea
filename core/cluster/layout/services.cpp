// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/layout/services.hpp"

#include <fmt/format.h>

namespace dts::cluster {
namespace {

// AuthInfo: where the clients and daemons of this cluster find its munged.
std::string auth_info(const Layout& layout) {
  return layout.spec.auth == Auth::munge ? "socket=" + munge_socket(layout.spec.folder) : "";
}

std::string auth_type(const Layout& layout) {
  return fmt::format("auth/{}", to_string(layout.spec.auth));
}

}  // namespace

std::string text_of(const Lines& lines) {
  std::string text;
  for (const Line& line : lines) text += line.key + "=" + line.value + "\n";
  return text;
}

std::string munge_socket(const std::string& folder) {
  return folder + "/run/munge.socket";
}

std::string database_socket(const std::string& folder) {
  return folder + "/run/database.socket";
}

Lines authentication_lines(const Layout& layout) {
  const std::string info = auth_info(layout);
  return {{"AuthType", auth_type(layout)},  // none: every user of this machine is trusted
          {"CredType", fmt::format("cred/{}", to_string(layout.spec.auth))},
          // A requeued job waits for this time plus 1 s, instead of 121 s.
          {"AuthInfo", "cred_expire=5" + (info.empty() ? "" : "," + info)}};
}

Lines accounting_lines(const Layout& layout) {
  if (!layout.spec.accounting) return {{"AccountingStorageType", "accounting_storage/none"}};
  Lines lines = {{"AccountingStorageType", "accounting_storage/slurmdbd"},
                 {"AccountingStorageHost", layout.endpoints.controller_address()},
                 {"AccountingStoragePort", std::to_string(layout.endpoints.accounting_port())},
                 {"AccountingStorageEnforce", "associations,limits,qos"}};
  if (layout.spec.gpus_per_node > 0) lines.push_back({"AccountingStorageTRES", "gres/gpu"});
  // Requests to slurmdbd do not use AuthInfo, but this key (slurm.conf(5)).
  if (layout.spec.auth == Auth::munge)
    lines.push_back({"AccountingStoragePass", munge_socket(layout.spec.folder)});
  return lines;
}

std::string accounting_conf_path(const std::string& folder) {
  return folder + "/slurmdbd.conf";
}

std::string render_accounting_conf(const Layout& layout) {
  if (!layout.spec.accounting) return {};
  const std::string& folder = layout.spec.folder;
  Lines lines = {{"DbdHost", "localhost"},
                 {"DbdAddr", layout.endpoints.controller_address()},
                 {"DbdPort", std::to_string(layout.endpoints.accounting_port())},
                 {"SlurmUser", layout.user},
                 {"AuthType", auth_type(layout)},
                 {"PidFile", folder + "/run/slurmdbd.pid"},
                 {"LogFile", folder + "/log/slurmdbd.log"},
                 // The server is found by MYSQL_UNIX_PORT. Its only user needs no password, because
                 // no other user can enter the folder of the socket.
                 {"StorageType", "accounting_storage/mysql"},
                 {"StorageHost", "localhost"},
                 {"StorageUser", "root"},
                 {"StorageLoc", k_accounting_database}};
  if (const std::string info = auth_info(layout); !info.empty())
    lines.push_back({"AuthInfo", info});
  // See render_start_conf: the daemon's host name is its address. No job reads this file.
  if (layout.own_host_names) lines.push_back({"CommunicationParameters", "NoInAddrAny"});
  return text_of(lines);
}

}  // namespace dts::cluster
