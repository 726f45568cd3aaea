// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/layout/spec.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/names.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace dts::cluster {
namespace {

constexpr unsigned k_max_nodes = 64;
constexpr unsigned k_max_gpus = 64;
constexpr unsigned k_max_cpus = 1024;
constexpr unsigned k_max_grace =
    65533;  // GraceTime is a uint32_t, but PartitionName lines print it as 16 bits

// Keys on which finding and ending the cluster depend.
constexpr std::array<std::string_view, 12> k_reserved = {"clustername",
                                                         "communicationparameters",
                                                         "include",
                                                         "nodename",
                                                         "proctracktype",
                                                         "slurmctldhost",
                                                         "slurmctldpidfile",
                                                         "slurmdpidfile",
                                                         "slurmctldport",
                                                         "slurmdspooldir",
                                                         "statesavelocation",
                                                         "slurmuser"};

void check_extra(const std::string& line, Diagnostics& problems) {
  const auto equals = line.find('=');
  const std::string key = in_lower_case(line.substr(0, equals));
  const bool is_key = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c);
  });
  if (equals == std::string::npos || !is_key || !is_printable(line))
    problems.push_back(
        {"--conf",
         fmt::format("{} is not one KEY=VALUE line of slurm.conf", shell_quote(line)),
         "for example: --conf SchedulerTimeSlice=5"});
  else if (std::find(k_reserved.begin(), k_reserved.end(), key) != k_reserved.end())
    problems.push_back(
        {"--conf", fmt::format("{} is set by dtsubmit itself", line.substr(0, equals)), "omit it"});
}

void check_range(
    const char* option, unsigned value, unsigned low, unsigned high, Diagnostics& problems) {
  if (value < low || value > high)
    problems.push_back({option, fmt::format("{} is not in {}..{}", value, low, high), ""});
}

constexpr Names<Proctrack, 3> k_proctracks{{{Proctrack::linuxproc, "linuxproc"},
                                            {Proctrack::cgroup, "cgroup"},
                                            {Proctrack::pgid, "pgid"}}};

}  // namespace

const char* to_string(Proctrack proctrack) {
  return name_of(k_proctracks, proctrack);
}

Proctrack proctrack_of(std::string_view word) {
  return value_of(k_proctracks, word).value_or(Proctrack::linuxproc);
}

const char* to_string(Auth auth) {
  return auth == Auth::munge ? "munge" : "none";
}

Auth auth_of(std::string_view word) {
  return word == "munge" ? Auth::munge : Auth::none;
}

Result<void> fit_machine(ClusterSpec& spec) {
  if (!spec.constrain_cores) return {};
  const auto there = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (spec.cpus_per_node == 0) spec.cpus_per_node = there;
  if (spec.cpus_per_node <= there) return {};
  return fail(Errc::invalid,
              fmt::format("--cpus-per-node: {} claimed, but this machine has {}: with "
                          "--constrain-cores, nodes have only real CPUs",
                          spec.cpus_per_node,
                          there),
              "omit --cpus-per-node");
}

unsigned cpus_of(const ClusterSpec& spec) {
  if (spec.cpus_per_node != 0) return spec.cpus_per_node;
  const unsigned wanted = std::max(spec.gpus_per_node, 4U);
  const unsigned step = std::max(spec.sockets, 1U) * std::max(spec.threads_per_core, 1U);
  return (wanted + step - 1) / step * step;
}

Result<void> validate(const ClusterSpec& spec) {
  Diagnostics problems;
  if (!is_safe_name(spec.name) || spec.name.size() > 40)
    problems.push_back(
        {"--name",
         fmt::format("{} is not a name", shell_quote(spec.name)),
         "use up to 40 letters, digits, '.', '_' and '-', beginning with a letter or digit"});
  check_range("--nodes", spec.nodes, 1, k_max_nodes, problems);
  check_range("--gpus-per-node", spec.gpus_per_node, 0, k_max_gpus, problems);
  check_range("--cpus-per-node", cpus_of(spec), 1, k_max_cpus, problems);
  check_range("--grace", spec.grace, 0, k_max_grace, problems);
  if (spec.sockets == 0 || cpus_of(spec) % spec.sockets != 0)
    problems.push_back(
        {"--sockets",
         fmt::format(
             "{} CPUs cannot be spread over {} sockets evenly", cpus_of(spec), spec.sockets),
         "choose a divisor of --cpus-per-node"});
  const unsigned threads = spec.threads_per_core;
  if (threads == 0 || (spec.sockets > 0 && cpus_of(spec) % (spec.sockets * threads) != 0))
    problems.push_back({"--threads-per-core",
                        fmt::format("{} CPUs on {} are not whole cores of {}",
                                    cpus_of(spec),
                                    counted(spec.sockets, "socket"),
                                    counted(threads, "thread")),
                        "choose a divisor of the CPUs of a socket"});
  else if (spec.reserved_cores >= cpus_of(spec) / threads)
    problems.push_back({"--reserved-cores",
                        fmt::format("a node has {}", counted(cpus_of(spec) / threads, "core")),
                        "leave at least one to jobs"});
  if (spec.constrain_cores && spec.proctrack != Proctrack::cgroup)
    problems.push_back({"--constrain-cores",
                        "only control groups can confine a job to its cores",
                        "add --proctrack cgroup"});
  if (!spec.gpu_type.empty() && !is_safe_name(spec.gpu_type))
    problems.push_back(
        {"--gpu-type", fmt::format("{} is not a type", shell_quote(spec.gpu_type)), "e.g. a100"});
  for (const std::string& feature : split(spec.features, ','))
    if (!spec.features.empty() && !is_safe_name(feature))
      problems.push_back({"--features",
                          fmt::format("{} is not a feature", shell_quote(feature)),
                          "e.g. a100,nvlink"});
  for (const std::string& line : spec.extra) check_extra(line, problems);
  if (problems.empty()) return {};
  return tl::unexpected<Error>(to_error(problems));
}

Result<std::string> clusters_folder() {
  auto folder = state_folder();
  if (!folder) folder.error().hint = "set one, or give --folder";
  return std::move(folder).map([](const std::string& state) { return state + "/clusters"; });
}

std::string slurm_name(const ClusterSpec& spec) {
  const auto usual = clusters_folder();
  const bool is_named = spec.name != ClusterSpec{}.name;
  if (is_named || (usual && *usual + "/" + spec.name == spec.folder)) return spec.name;
  return spec.name + "-" + to_hex(hash64(spec.folder)).substr(0, 8);
}

Result<void> validate_folder(const std::string& folder) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("/._-+@:,~").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (folder.empty() || folder[0] != '/' || folder == "/" ||
      !std::all_of(folder.begin(), folder.end(), is_plain))
    return fail(Errc::invalid,
                fmt::format("{} cannot hold a cluster: slurm.conf does not accept its path",
                            shell_quote(folder)),
                "give --folder an absolute path of letters, digits and /._-+");
  constexpr std::string_view k_longest_socket = "/spool/n63/n63_4294967295.4294967295";
  if (folder.size() + k_longest_socket.size() >= 108)
    return fail(
        Errc::invalid,
        fmt::format("the path {} is too long: paths of sockets below it would exceed 108 bytes",
                    folder),
        fmt::format("give --folder a path of at most {} bytes", 107 - k_longest_socket.size()));
  return {};
}

}  // namespace dts::cluster
