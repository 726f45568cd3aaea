// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/process_table.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

namespace dts {
namespace {

constexpr std::string_view k_null("\0", 1);

// proc(5), /proc/PID/stat: "pid (name) state ppid ..."; the name may hold blanks and parentheses.
std::optional<ProcessInfo> parse_stat(const std::string& text) {
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= text.size())
    return std::nullopt;
  const std::vector<std::string> fields = split(std::string_view(text).substr(close + 2), ' ');
  if (fields.size() < 20 || fields[0] == "Z" || fields[0] == "X") return std::nullopt;
  ProcessInfo process;
  process.name = text.substr(open + 1, close - open - 1);
  process.parent = static_cast<pid_t>(parse_number(fields[1]).value_or(0));
  process.started = parse_number(fields[19]).value_or(0);
  process.worked = parse_number(fields[11]).value_or(0) + parse_number(fields[12]).value_or(0);
  return process;
}

std::optional<ProcessInfo> read_stat(const std::string& file) {
  const auto text = read_file(file);
  return text ? parse_stat(*text) : std::nullopt;
}

}  // namespace

std::string proc_path(pid_t pid, std::string_view file) {
  return fmt::format("/proc/{}/{}", pid, file);
}

std::string boot_id() {
  return std::string(trim(read_file("/proc/sys/kernel/random/boot_id").value_or("")));
}

std::optional<ProcessInfo> process_info(pid_t pid) {
  return read_stat(proc_path(pid, "stat"));
}

std::optional<ProcessInfo> thread_info(pid_t pid, pid_t thread) {
  return read_stat(proc_path(pid, fmt::format("task/{}/stat", thread)));
}

std::vector<pid_t> children_of_thread(pid_t pid, pid_t thread) {
  std::vector<pid_t> found;
  const auto text = read_file(proc_path(pid, fmt::format("task/{}/children", thread)));
  for (const std::string& word : split(text.value_or(""), ' '))
    if (const auto child = parse_number(trim(word))) found.push_back(static_cast<pid_t>(*child));
  return found;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> found;
  for (const std::string& name : list_folder(proc_path(pid, "task"))) {
    const auto thread = static_cast<pid_t>(parse_number(name).value_or(0));
    const std::vector<pid_t> more = children_of_thread(pid, thread);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

std::map<pid_t, ProcessInfo> living_processes() {
  std::map<pid_t, ProcessInfo> result;
  for (const std::string& name : list_folder("/proc")) {
    const auto number = parse_number(name);
    if (!number) continue;
    const auto pid = static_cast<pid_t>(*number);
    if (auto process = process_info(pid)) result.emplace(pid, *std::move(process));
  }
  return result;
}

std::string proc_field(const std::string& file, std::string_view key) {
  for (const std::string& line : split(read_file(file).value_or(""), '\n'))
    if (line.starts_with(key) && line.substr(key.size()).starts_with(':'))
      return std::string(trim(std::string_view(line).substr(key.size() + 1)));
  return {};
}

std::vector<std::string> command_of(pid_t pid) {
  std::string text = read_file(proc_path(pid, "cmdline")).value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return split(text, '\0');
}

std::string environment_of(pid_t pid) {
  return read_file(proc_path(pid, "environ")).value_or("");
}

bool has_entry(const std::string& block, const std::string& entry) {
  const std::string inner =
      std::string(k_null) + entry + (entry.back() == '=' ? "" : std::string(k_null));
  return (std::string(k_null) + block).find(inner) != std::string::npos;
}

}  // namespace dts
