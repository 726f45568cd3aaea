// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/configuration.hpp"

#include "core/base/text/text.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

namespace slurm_plugin {
namespace {

using meanings::k_no_configuration;

constexpr const char* k_places[] = {
    "/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/run/slurm/conf/slurm.conf"};

// "KEY=..." or "include ..." at the start of a line, in any case, as slurm.conf(5) reads it.
bool starts_with_word(std::string_view line, std::string_view word) {
  if (line.size() <= word.size() || dts::in_lower_case(line.substr(0, word.size())) != word)
    return false;
  return line[word.size()] == '=' || line[word.size()] == ' ' || line[word.size()] == '\t';
}

struct Findings {
  bool cluster_name = false;
  bool controller = false;
};

Outcome<void> read_configuration(const std::string& path, Findings& found, int depth) {
  std::ifstream file(path);
  if (!file || access(path.c_str(), R_OK) != 0)
    return failed(k_no_configuration,
                  "cannot read Slurm's configuration " + path + ": " + std::strerror(errno));
  for (std::string text; std::getline(file, text);) {
    const std::string_view line = dts::trim(text);
    if (starts_with_word(line, "clustername")) found.cluster_name = true;
    if (starts_with_word(line, "slurmctldhost") || starts_with_word(line, "controlmachine"))
      found.controller = true;
    if (!starts_with_word(line, "include") || depth > 8) continue;
    std::string included(dts::trim(line.substr(std::strlen("include"))));
    if (included.find('%') != std::string::npos) continue;  // "%c", the cluster's name
    if (included.front() != '/') included.insert(0, path, 0, path.rfind('/') + 1);
    if (auto outcome = read_configuration(included, found, depth + 1); !outcome) return outcome;
  }
  return {};
}

}  // namespace

std::string configuration_file() {
  if (const char* named = std::getenv("SLURM_CONF"); named != nullptr && *named != '\0')
    return named;
  for (const char* place : k_places)
    if (access(place, F_OK) == 0) return place;
  return {};
}

Outcome<void> check_configuration(const std::string& path) {
  Findings found;
  if (auto outcome = read_configuration(path, found, 0); !outcome) return outcome;
  if (!found.cluster_name)
    return failed(k_no_configuration, "Slurm's configuration " + path + " has no ClusterName");
  if (!found.controller)
    return failed(k_no_configuration, "Slurm's configuration " + path + " has no SlurmctldHost");
  return {};
}

}  // namespace slurm_plugin
