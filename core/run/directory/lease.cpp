// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/lease.hpp"

#include "core/base/files/own_file.hpp"
#include "core/base/os/process_table.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace dts::run {

using nlohmann::json;

std::string to_json(const Lease& lease) {
  const nlohmann::ordered_json document = {{"job", lease.job},
                                           {"restart_count", lease.restart_count},
                                           {"node", lease.node},
                                           {"pid", lease.pid},
                                           {"started", lease.started}};
  return document.dump() + "\n";
}

Result<Lease> read_lease(const RunDirectory& run, unsigned number) {
  const std::string path = run.attempt(number) + "/epoch";
  DTS_ASSIGN(const std::string text, read_own_file(path));
  const json document = json::parse(text, nullptr, false);
  const auto unreadable = [&] {
    return fail(Errc::invalid, path + " does not say who holds the attempt");
  };
  try {
    Lease lease;
    auto job = job_id_from(document.at("job"));
    if (!job) return unreadable();
    lease.job = *std::move(job);
    lease.restart_count = document.at("restart_count").get<std::uint32_t>();
    lease.node = document.at("node").get<std::string>();
    lease.pid = document.at("pid").get<pid_t>();
    lease.started = document.value("started", std::uint64_t{0});
    return lease;
  } catch (const json::exception&) {
    return unreadable();
  }
}

std::optional<Lease> latest_lease(const RunDirectory& run) {
  const auto lease = read_lease(run, latest_attempt(run));
  return lease ? std::optional(*lease) : std::nullopt;
}

Holder holder_of(const Lease& lease) {
  char here[256]{};
  if (::gethostname(here, sizeof here - 1) != 0 || lease.node != here) return Holder::elsewhere;
  const auto process = process_info(lease.pid);
  // The pid may have been reused.
  const bool same = process && process->name == "dtsubmit" &&
                    (lease.started == 0 || lease.started == process->started);
  return same ? Holder::alive : Holder::gone;
}

std::optional<bool> agent_lives(const RunDirectory& run) {
  const auto lease = read_lease(run, latest_attempt(run));
  const Holder holder = lease ? holder_of(*lease) : Holder::elsewhere;
  if (holder == Holder::elsewhere) return std::nullopt;
  return holder == Holder::alive;
}

}  // namespace dts::run
