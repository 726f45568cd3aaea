// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/query.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

namespace dts::cluster {
namespace {

// The lines that a tool prints, each split at `|`.
Result<std::vector<std::vector<std::string>>> ask(std::vector<std::string> argv,
                                                  const std::string& folder,
                                                  std::chrono::milliseconds limit) {
  Command command;
  command.argv = std::move(argv);
  command.env = clean_environment(folder);
  const std::string tool = command.argv[0];
  const auto output = run_process(std::move(command), limit);
  if (!output || output->exit_code != 0)
    return fail(Errc::unreachable,
                fmt::format("the controller of the cluster in {} does not answer: {}",
                            folder,
                            output ? std::string(trim(output->err)) : output.error().message),
                "`dtsubmit cluster down` ends it");
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split(output->out, '\n'))
    if (!line.empty()) rows.push_back(split(line, '|'));
  return rows;
}

}  // namespace

bool listens(const Endpoints& endpoints, std::uint16_t port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  return fd.valid() &&
         ::inet_pton(AF_INET, endpoints.controller_address().c_str(), &where.sin_addr) == 1 &&
         ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0;
}

Result<std::vector<NodeState>> node_states(const Programs& programs,
                                           const std::string& folder,
                                           std::chrono::milliseconds limit) {
  DTS_ASSIGN(const auto rows,
             ask({programs.sinfo, "-h", "-N", "-p", "low", "-o", "%N|%T"}, folder, limit));
  std::vector<NodeState> result;
  for (const auto& row : rows)
    if (row.size() == 2) result.push_back({row[0], std::string(trim(row[1]))});
  return result;
}

Result<std::vector<QueuedJob>> queued_jobs(const Programs& programs,
                                           const std::string& folder,
                                           std::chrono::milliseconds limit) {
  DTS_ASSIGN(const auto rows, ask({programs.squeue, "-h", "-a", "-o", "%T|%N"}, folder, limit));
  std::vector<QueuedJob> result;
  for (const auto& row : rows) {
    if (row.size() != 2) continue;
    QueuedJob job{row[0], {}};
    if (const auto nodes = expand_hostlist(trim(row[1]))) job.nodes = *nodes;
    result.push_back(std::move(job));
  }
  return result;
}

}  // namespace dts::cluster
