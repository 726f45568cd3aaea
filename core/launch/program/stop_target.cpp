// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/stop_target.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace dts::launch {
namespace {

constexpr unsigned k_deepest = 8;

constexpr std::array<std::string_view, 10> k_shells{
    "sh", "bash", "dash", "ash", "busybox", "zsh", "ksh", "ksh93", "mksh", "fish"};
// The first or second word of a command line: conda is a Python script.
constexpr std::array<std::string_view, 12> k_runners{"conda",
                                                     "mamba",
                                                     "micromamba",
                                                     "uv",
                                                     "poetry",
                                                     "pipenv",
                                                     "pixi",
                                                     "time",
                                                     "apptainer",
                                                     "singularity",
                                                     "starter",
                                                     "starter-suid"};

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

using Children = std::multimap<pid_t, pid_t>;  // by parent

Children children_by_parent() {
  Children children;
  for (const auto& [pid, info] : living_processes()) children.emplace(info.parent, pid);
  return children;
}

void collect(
    pid_t pid, int signal, const Children& children, unsigned depth, std::vector<pid_t>& found) {
  const auto [from, to] = children.equal_range(pid);
  for (auto child = from; child != to; ++child)
    if (handles(child->second, signal))
      found.push_back(child->second);
    else if (depth < k_deepest && is_wrapper(child->second))
      collect(child->second, signal, children, depth + 1, found);
}

}  // namespace

bool is_wrapper(pid_t pid) {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink(proc_path(pid, "exe"), failed);
  if (!failed && is_one_of(k_shells, program.filename().string())) return true;
  const auto words = split(read_file(proc_path(pid, "cmdline")).value_or(""), '\0');
  for (std::size_t i = 0; i < std::min<std::size_t>(2, words.size()); ++i)
    if (is_one_of(k_runners, base_name(words[i]))) return true;
  return false;
}

bool handles(pid_t pid, int signal) {
  const std::string caught = proc_field(proc_path(pid, "status"), "SigCgt");
  const std::uint64_t mask = std::strtoull(caught.c_str(), nullptr, 16);
  return (mask >> (signal - 1) & 1U) != 0;
}

std::vector<pid_t> stop_targets(pid_t leader, int signal) {
  if (handles(leader, signal) || !is_wrapper(leader)) return {leader};
  std::vector<pid_t> found;
  collect(leader, signal, children_by_parent(), 0, found);
  if (found.empty()) found.push_back(leader);
  return found;
}

}  // namespace dts::launch
