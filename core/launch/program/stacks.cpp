// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/stacks.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

namespace dts::launch {
namespace {

using std::chrono::seconds;

std::string proc(pid_t pid, const std::string& name) {
  return read_file(proc_path(pid, name)).value_or("");
}

// The state letter in the text of a stat file (proc(5)). The name before it may hold any character.
char state_in(const std::string& stat) {
  const std::size_t after = stat.rfind(") ");
  return after == std::string::npos || after + 2 >= stat.size() ? '?' : stat[after + 2];
}

std::string kernel_view(pid_t pid) {
  std::string text;
  std::error_code failed;
  for (const auto& task : std::filesystem::directory_iterator(proc_path(pid, "task"), failed)) {
    const std::string thread = task.path().filename();
    const std::string at = fmt::format("task/{}/", thread);
    text += fmt::format("thread {} ({}): state {}, waits in {}\n",
                        thread,
                        trim(proc(pid, at + "comm")),
                        state_in(proc(pid, at + "stat")),
                        proc(pid, at + "wchan"));
  }
  return text;
}

// The output of `argv` if the program is installed. A tool that fails reports the reason itself.
std::string view_of(std::vector<std::string> argv, std::chrono::milliseconds limit) {
  if (!find_program(argv[0])) return fmt::format("({} is not installed)\n", argv[0]);
  const std::string name = argv[0];
  Command command;
  command.argv = std::move(argv);
  const auto output = run_process(std::move(command), limit);
  if (!output) return fmt::format("({}: {})\n", name, output.error().message);
  return output->out + output->err;
}

bool is_python(pid_t pid) {
  std::error_code failed;
  const auto file = std::filesystem::read_symlink(proc_path(pid, "exe"), failed).filename();
  return file.string().starts_with("python");
}

// py-spy beside the interpreter of a process, as in a virtual environment that is not in our PATH;
// otherwise the one in PATH.
std::string py_spy_for(pid_t pid) {
  const std::string command = proc(pid, "cmdline");
  const std::filesystem::path interpreter = command.substr(0, command.find('\0'));
  if (!interpreter.has_parent_path()) return "py-spy";
  const std::filesystem::path from = proc_path(pid, "cwd");
  const auto beside = (from / interpreter.parent_path() / "py-spy").string();
  return find_program(beside) ? beside : "py-spy";
}

// The stacks of each process of Python in the program's family: torchrun's workers, or what a
// script runs.
std::string python_view(pid_t pid, bool saving) {
  std::vector<pid_t> family = family_of(pid);
  std::erase_if(family, [](pid_t one) { return !is_python(one); });
  if (family.empty()) family.push_back(pid);  // it may embed an interpreter
  // A program that may be saving is killed 3 s after this begins, and so are we.
  const auto until = std::chrono::steady_clock::now() + seconds(saving ? 2 : 8);
  std::string text;
  for (const pid_t one : family) {
    const auto left = until - std::chrono::steady_clock::now();
    if (left <= seconds(0)) break;
    std::vector<std::string> words{py_spy_for(one), "dump", "--pid", std::to_string(one)};
    if (saving) words.emplace_back("--nonblocking");
    text += "== py-spy\n" +
            view_of(std::move(words), std::chrono::duration_cast<std::chrono::milliseconds>(left));
  }
  return text;
}

}  // namespace

std::vector<pid_t> family_of(pid_t pid) {
  constexpr std::size_t k_most = 64;
  std::vector<pid_t> family{pid};
  for (std::size_t i = 0; i < family.size() && family.size() < k_most; ++i)
    for (const pid_t child : children_of(family[i])) family.push_back(child);
  return family;
}

std::uint64_t ticks_worked(pid_t pid) {
  std::uint64_t ticks = 0;
  for (const pid_t one : family_of(pid))
    if (const auto process = process_info(one)) ticks += process->worked;
  return ticks;
}

bool is_asleep(pid_t pid) {
  // proc(5), /proc/PID/syscall: "running", or the number of the call and its arguments.
  const auto sleeps = [](pid_t one) {
    const std::string words = proc(one, "syscall");
    const auto number = parse_number(words.substr(0, words.find(' ')));
    return number && (*number == SYS_nanosleep || *number == SYS_clock_nanosleep);
  };
  const std::vector<pid_t> family = family_of(pid);
  return std::any_of(family.begin(), family.end(), sleeps);
}

char process_state(pid_t pid) {
  return state_in(proc(pid, "stat"));
}

Result<void> write_stacks(pid_t pid, const std::string& file, bool saving) {
  const std::string number = std::to_string(pid);
  std::string text;
  for (const pid_t one : family_of(pid)) {
    std::string words = proc(one, "cmdline");
    std::replace(words.begin(), words.end(), '\0', ' ');
    text += fmt::format("== process {}: {}\n{}", one, words, kernel_view(one));
  }
  text += python_view(pid, saving);
  if (saving) return write_file(file, text);
  text += "== gdb\n" +
          view_of({"gdb", "-p", number, "-batch", "-nx", "-ex", "thread apply all backtrace 40"},
                  seconds(15));
  return write_file(file, text);
}

}  // namespace dts::launch
