// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/check_step.hpp"

#include "core/base/files/files.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/health/measure_node.hpp"
#include "core/launch/launcher/identity.hpp"
#include "core/launch/wire/node_name.hpp"
#include "core/run/directory/run_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>
#include <utility>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds k_look{10};
constexpr milliseconds k_late{3000};
constexpr milliseconds k_end{1000};  // for srun to end after every node has answered

std::vector<NodeReport> reports_in(const std::string& file) {
  std::vector<NodeReport> reports;
  const std::string text = read_file(file).value_or("");
  for (const std::string& line : split(text.substr(0, text.rfind('\n') + 1), '\n')) {
    if (line.empty()) continue;
    auto report = parse_node_report(line);
    if (report)
      reports.push_back(*std::move(report));
    else
      log("the step that measures the nodes reported: {}", line.substr(0, 200));
  }
  return reports;
}

std::size_t count_lines(const std::string& file) {
  const std::string text = read_file(file).value_or("");
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool has_ended(pid_t pid) {
  return ::waitpid(pid, nullptr, WNOHANG) == pid;
}

}  // namespace

Result<std::vector<NodeReport>> run_check_step(const CheckStep& step) {
  const UniqueFd output(
      ::open(step.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  if (!output.valid()) return fail_errno("cannot create " + step.file);
  Command command;
  command.argv = step.command;
  command.stdout_fd = output.get();
  command.own_group = true;
  command.parent_death_signal = SIGKILL;
  DTS_ASSIGN(const pid_t pid, start_process(command));
  const auto began = Clock::now();
  auto until = began + step.limit;
  std::size_t answers = 0;
  bool over = false;
  while (!over && Clock::now() < until) {
    std::this_thread::sleep_for(k_look);
    over = has_ended(pid);
    const std::size_t before = std::exchange(answers, count_lines(step.file));
    const auto now = Clock::now();
    if (answers >= step.nodes && before < step.nodes)
      until = now + k_end;
    else if (answers >= step.enough && before < step.enough)
      until = std::min<Clock::time_point>(until, now + 2 * (now - began) + k_late);
  }
  if (!over) {
    // On SIGTERM srun ends its step. If srun were killed, the step would keep running.
    ::kill(-pid, SIGTERM);
    const auto patience = Clock::now() + k_end;
    while (!(over = has_ended(pid)) && Clock::now() < patience) std::this_thread::sleep_for(k_look);
  }
  if (!over) {
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  return reports_in(step.file);
}

Result<int> run_measure(const std::string& run_directory, unsigned attempt, GpuUse gpus) {
  NodeReport report;
  report.node = node_name(getenv_lookup, host_name());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  report.milliseconds = std::chrono::duration_cast<milliseconds>(now).count();
  report.facts = measure_node(run::RunDirectory{run_directory}.attempt(attempt), gpus);
  fmt::print("{}\n", to_text(report));
  return 0;
}

}  // namespace dts::launch
