// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/runtime_failure.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"

#include <algorithm>
#include <string_view>

namespace dts::run {
namespace {

// How a runtime reports a failure of its own: exit codes, and how the line begins and goes on.
struct RuntimeReport {
  std::string_view names;  // of its commands, and of --container-runtime
  int least_code;
  int most_code;
  std::string_view begin;
  std::string_view rest;
};

constexpr RuntimeReport k_runtime_reports[] = {
    // podman-run(1), "Exit Status"; some systems install Podman as `docker`.
    {"podman podman-hpc docker", 125, 127, "Error: ", ""},
    {"docker", 125, 127, "docker: ", ""},  // docker-run(1), the same
    {"ch-run charliecloud", 1, 127, "ch-run[", "]: error: "},
    {"apptainer singularity singularity_wrapper", 255, 255, "FATAL:   ", ""},  // padded
    {"bwrap", 1, 1, "bwrap: ", ""},
};

bool is_used(const RuntimeReport& report, const std::vector<std::string>& runtimes) {
  const auto names = split(report.names, ' ');
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return is_one_of(runtimes, name);
  });
}

}  // namespace

std::optional<std::string> runtime_failure(const std::vector<std::string>& last_lines,
                                           int exit_code,
                                           const std::vector<std::string>& runtimes) {
  constexpr std::size_t k_longest_line = 400;
  constexpr int k_lines = 3;  // Podman and Docker add where to find help
  int left = k_lines;
  for (auto line = last_lines.rbegin(); line != last_lines.rend() && left > 0; ++line) {
    if (trim(*line).empty()) continue;
    --left;
    for (const RuntimeReport& report : k_runtime_reports)
      if (exit_code >= report.least_code && exit_code <= report.most_code &&
          line->starts_with(report.begin) && line->find(report.rest) != std::string::npos &&
          is_used(report, runtimes))
        return printable(*line, k_longest_line);
  }
  return std::nullopt;
}

}  // namespace dts::run
