// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/services.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/cluster/layout/services.hpp"
#include "core/cluster/query.hpp"
#include "core/cluster/watch.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <initializer_list>
#include <utility>

namespace dts::cluster {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto k_service_limit = 20s;  // for each service
constexpr auto k_make_limit = 60s;     // to create the database's files, which takes some 3 s
constexpr const char* k_account = "default";
constexpr std::size_t k_key_bytes = 1024;  // mungekey(8) writes 128 or more

// True if the listening socket exists and accepts connections.
bool accepts(const std::string& path) {
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  if (path.size() >= sizeof where.sun_path) return false;
  path.copy(where.sun_path, path.size());
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd.valid() &&
         ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0;
}

Result<void> write_key(const std::string& path) {
  std::string key(k_key_bytes, '\0');
  for (std::size_t at = 0; at < key.size();) {
    const ssize_t more = ::getrandom(key.data() + at, key.size() - at, 0);
    if (more < 0) return fail_errno("cannot make a key");
    at += static_cast<std::size_t>(more);
  }
  return write_file(path, key, 0600, Durability::deferred);
}

Result<void> start_munged(const Programs& programs,
                          const Layout& layout,
                          std::vector<Daemon>& daemons) {
  const std::string& folder = layout.spec.folder;
  const std::string key = folder + "/munge.key";
  DTS_TRY(write_key(key));
  Command command;
  command.argv = {programs.munged,
                  "--foreground",
                  // munged wants every user of the machine to reach its socket, but none to be able
                  // to write to a folder above it. Ours is closed to all other users.
                  "--force",
                  "--num-threads=2",
                  "--key-file=" + key,
                  "--seed-file=" + folder + "/munge.seed",
                  "--pid-file=" + folder + "/run/munged.pid",
                  "--socket=" + munge_socket(folder)};
  DTS_ASSIGN(Daemon daemon, start_daemon(std::move(command), layout, "munged", ""));
  daemons.push_back(std::move(daemon));
  return wait_for(layout, daemons, Clock::now() + k_service_limit, [&folder] {
    return accepts(munge_socket(folder));
  });
}

// The options that the server and the program that prepares its folder share. Each has its own
// folder for temporary tables, because a server that starts removes those of all others in it.
std::vector<std::string> database_options(const Layout& layout) {
  const std::string& folder = layout.spec.folder;
  std::vector<std::string> options = {
      "--no-defaults", "--datadir=" + folder + "/database", "--tmpdir=" + folder + "/run"};
  if (::geteuid() == 0) options.emplace_back("--user=root");  // it refuses root otherwise
  return options;
}

Result<void> make_database(const Programs& programs, const Layout& layout) {
  Command command;
  command.argv = {programs.mariadb_install_db};
  for (std::string& option : database_options(layout)) command.argv.push_back(std::move(option));
  for (const char* option :
       {"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"})
    command.argv.emplace_back(option);
  command.env = clean_environment(layout.spec.folder);
  command.folder = layout.spec.folder;
  DTS_ASSIGN(const Output output, run_process(std::move(command), k_make_limit));
  if (output.exit_code == 0) return {};
  return fail(Errc::io,
              fmt::format("mariadb-install-db exited {}: {}{}",
                          output.exit_code,
                          trim(output.out),
                          trim(output.err)),
              "it needs my_print_defaults (Debian: mariadb-client-core) and some 40 MB below " +
                  layout.spec.folder);
}

Result<void> start_database(const Programs& programs,
                            const Layout& layout,
                            std::vector<Daemon>& daemons) {
  const std::string& folder = layout.spec.folder;
  DTS_TRY(make_database(programs, layout));
  // slurmdbd would create the database itself, but only after a first connection that fails because
  // it is missing. Then Connector/C 3.4.9 (MariaDB 11.8.9) answers each query of the second
  // connection with error 5027: too many columns.
  const std::string orders = folder + "/database.sql";
  DTS_TRY(write_file(orders,
                     fmt::format("CREATE DATABASE IF NOT EXISTS {};\n", k_accounting_database),
                     0600,
                     Durability::deferred));
  Command command;
  command.argv = {programs.mariadbd};
  for (std::string& option : database_options(layout)) command.argv.push_back(std::move(option));
  for (const std::string& option : {"--socket=" + database_socket(folder),
                                    "--pid-file=" + folder + "/run/mariadbd.pid",
                                    "--init-file=" + orders,
                                    std::string("--skip-networking"),
                                    std::string("--innodb-buffer-pool-size=16M"),
                                    // slurmdbd(8) requires this.
                                    std::string("--innodb-lock-wait-timeout=900")})
    command.argv.push_back(option);
  DTS_ASSIGN(Daemon daemon, start_daemon(std::move(command), layout, "mariadbd", ""));
  daemons.push_back(std::move(daemon));
  return wait_for(layout, daemons, Clock::now() + k_service_limit, [&folder] {
    return accepts(database_socket(folder));
  });
}

Result<void> start_slurmdbd(const Programs& programs,
                            const Layout& layout,
                            std::vector<Daemon>& daemons) {
  Command command;
  command.argv = {programs.slurmdbd, "-D"};
  command.env = {"MYSQL_UNIX_PORT=" + database_socket(layout.spec.folder)};
  DTS_ASSIGN(
      Daemon daemon,
      start_daemon(std::move(command), layout, "slurmdbd", layout.endpoints.controller_address()));
  daemons.push_back(std::move(daemon));
  return wait_for(layout, daemons, Clock::now() + k_service_limit, [&layout] {
    return listens(layout.endpoints, layout.endpoints.accounting_port());
  });
}

// When slurmctld starts, it reads its cluster and the limits of users from the database.
Result<void> register_cluster(const Programs& programs, const Layout& layout) {
  const std::string account = std::string("account=") + k_account;
  for (const std::vector<std::string>& what :
       {std::vector<std::string>{"cluster", slurm_name(layout.spec)},
        {"account", k_account, "description=private cluster", "organization=dtsubmit"},
        {"user", layout.user, account, std::string("default") + account}}) {
    Command command;
    command.argv = {programs.sacctmgr, "-i", "add"};
    command.argv.insert(command.argv.end(), what.begin(), what.end());
    command.env = clean_environment(layout.spec.folder);
    DTS_ASSIGN(const Output output, run_process(std::move(command), k_service_limit));
    if (output.exit_code != 0)
      return fail_daemon(
          layout,
          "slurmdbd",
          fmt::format(
              "refuses the {} {}: {}{}", what[0], what[1], trim(output.out), trim(output.err)));
  }
  return {};
}

}  // namespace

std::vector<std::string> service_names(const ClusterSpec& spec) {
  std::vector<std::string> names;
  if (spec.auth == Auth::munge) names.emplace_back("munged");
  if (spec.accounting) names.insert(names.end(), {"mariadbd", "slurmdbd"});
  return names;
}

Result<void> start_services(const Programs& programs,
                            const Layout& layout,
                            std::vector<Daemon>& daemons) {
  if (layout.spec.auth == Auth::munge) DTS_TRY(start_munged(programs, layout, daemons));
  if (!layout.spec.accounting) return {};
  DTS_TRY(start_database(programs, layout, daemons));
  DTS_TRY(start_slurmdbd(programs, layout, daemons));
  return register_cluster(programs, layout);
}

}  // namespace dts::cluster
