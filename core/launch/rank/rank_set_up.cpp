// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/rank_set_up.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/run/directory/rank_logs.hpp"
#include "core/stage/stage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <map>

namespace dts::launch {
namespace {

constexpr int k_results_fd = 200;  // results pipe of the shell, a number that scripts do not use
constexpr std::size_t k_most_results = std::size_t{3} << 20;  // less than k_longest_line
constexpr std::chrono::seconds k_look_every{5};
constexpr std::size_t k_last_lines = 5;
constexpr std::size_t k_longest_shown = 1200;

// True for variables that the shell changes by itself, or that our script has set under `set -a`.
bool is_of_shell(const std::string& name) {
  for (const std::string_view own : {"_", "SHLVL", "PWD", "OLDPWD"})
    if (name == own) return true;
  return name.empty() || name.rfind("dts_", 0) == 0;
}

std::map<std::string, std::string> by_name(const std::vector<std::string>& entries) {
  std::map<std::string, std::string> named;
  for (const std::string& entry : entries)
    if (const std::string name(variable_name(entry)); !is_of_shell(name)) named[name] = entry;
  return named;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 65536> bytes{};
  for (ssize_t n;
       (n = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(text.size()))) > 0;)
    text.append(bytes.data(), static_cast<std::size_t>(n));
  return text;
}

}  // namespace

EnvironmentChanges changes_of_environment(const std::vector<std::string>& before,
                                          const std::vector<std::string>& after) {
  const auto old_entries = by_name(before);
  const auto new_entries = by_name(after);
  EnvironmentChanges changes;
  for (const auto& [name, entry] : new_entries)
    if (const auto old = old_entries.find(name); old == old_entries.end() || old->second != entry)
      changes.set.push_back(entry);
  for (const auto& [name, entry] : old_entries)
    if (new_entries.count(name) == 0) changes.unset.push_back(name);
  return changes;
}

void apply(const EnvironmentChanges& changes) {
  for (const std::string& name : changes.unset) ::unsetenv(name.c_str());
  for (const std::string& entry : changes.set) {
    const std::string name(variable_name(entry));
    if (name.size() < entry.size()) ::setenv(name.c_str(), entry.c_str() + name.size() + 1, 1);
  }
}

// Opens the folder for staged files, and tells the set-up's processes where it is.
Result<void> RankSetUp::open_stage(std::vector<std::string>& environment) {
  const Lookup variables = [&](const char* name) -> std::optional<std::string> {
    for (const std::string& entry : environment)
      if (variable_name(entry) == name) return entry.substr(entry.find('=') + 1);
    return std::nullopt;
  };
  DTS_ASSIGN(stage_, stage::open_stage_folder(place_, variables));
  DTS_TRY(stage::record_stage(record_, stage_.path));
  std::erase_if(environment, [](const std::string& entry) {
    return variable_name(entry) == "DTSUBMIT_STAGE_DIR";
  });
  environment.push_back("DTSUBMIT_STAGE_DIR=" + stage_.data());
  environment.push_back("dts_program=" + program_path());
  next_poll_ = std::chrono::steady_clock::now() + k_look_every;
  return {};
}

Result<void> RankSetUp::start(const SetUp& order) {
  order_ = order;
  if (order.script.empty()) return {};
  const UniqueFd log(::open(order.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log.valid()) return fail_errno("cannot open " + order.log);
  results_ = UniqueFd(::memfd_create("dtsubmit-set-up", MFD_CLOEXEC));
  if (!results_.valid()) return fail_errno("cannot make a file in memory");
  before_ = environment_with(order.environment);
  Command command;
  command.argv = {"bash", "-c", order.script, "dtsubmit-set-up", std::to_string(k_results_fd)};
  command.env = before_;
  if (order.stages)
    if (auto opened = open_stage(*command.env); !opened)
      return tl::unexpected<Error>(std::move(opened).error().during("--stage"));
  command.stdout_fd = log.get();
  command.stderr_fd = log.get();
  command.own_group = true;
  command.parent_death_signal = SIGKILL;
  command.in_child = [fd = results_.get()] { return ::dup2(fd, k_results_fd) < 0 ? 1 : 0; };
  DTS_ASSIGN(pid_, start_process(command));
  return {};
}

std::optional<Staging> RankSetUp::poll(Time now) {
  next_poll_ = now + k_look_every;
  const auto progress = stage::read_progress(stage_.path);
  if (!progress || *progress == staged_) return std::nullopt;
  staged_ = *progress;
  return Staging{staged_.done, staged_.total};
}

std::optional<SetUpEnded> RankSetUp::reap() {
  int status = 0;
  if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = 0;
  next_poll_ = Time::max();
  return read_results(status);
}

// Why staging failed, if `words` from the shell say that it was staging. The line that ran it would
// mean nothing to users.
std::string RankSetUp::staging_failure(const std::vector<std::string>& words) const {
  if (words.front() != "failed" || words.size() < 5 || !words[1].starts_with("--stage ")) return {};
  if (std::string failure = stage::read_failure(stage_.path); !failure.empty()) return failure;
  return fmt::format(
      "{} exited {}: {} ({} has all of it)", words[1], words[4], last_output(), order_.log);
}

SetUpEnded RankSetUp::read_results(int wait_status) {
  std::vector<std::string> words = split(read_all(results_.get()), '\0');
  results_ = UniqueFd();
  const int code = exit_code_of_wait_status(wait_status);
  const std::string output = last_output();
  SetUpEnded ended;
  if (words.front() == "done" && code == 0) {
    ended.changes = changes_of_environment(before_, {words.begin() + 1, words.end()});
    std::size_t bytes = 0;
    for (const std::string& entry : ended.changes.set) bytes += entry.size();
    if (bytes <= k_most_results) return ended;
    ended.changes = {};
    ended.failure =
        fmt::format("it sets {} bytes of variables, more than {}", bytes, k_most_results);
    return ended;
  }
  if (const std::string failure = staging_failure(words); !failure.empty()) {
    ended.failure = printable(failure, k_longest_shown);
    return ended;
  }
  if (words.front() == "failed" && words.size() >= 5) {
    const std::string& command = words[2];
    const std::string& where = words[3];
    ended.failure = fmt::format("{}{}{} exited {}",
                                words[1],
                                command.empty() ? "" : fmt::format(": `{}`", command),
                                where.empty() ? "" : fmt::format(" ({})", where),
                                words[4]);
  } else {
    ended.failure = fmt::format("its shell ended with code {}", code);
  }
  if (!output.empty()) ended.failure += ": " + output;
  ended.failure = printable(ended.failure, k_longest_shown);
  return ended;
}

// The lines of the log that report what failed, joined to one line.
std::string RankSetUp::last_output() const {
  std::vector<std::string> lines = run::last_lines_of_set_up(order_.log, k_last_lines);
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  return join(lines, " / ");
}

void RankSetUp::kill() {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

void RankSetUp::remove_staged() {
  if (stage_.path.empty()) return;
  if (const auto removed = stage::remove_staged(record_); !removed)
    log("{}", removed.error().message);
}

void RankSetUp::tear_down(std::chrono::milliseconds limit) {
  if (order_.tear_down.empty()) return;
  Command command;
  command.argv = {"bash", "-c", order_.tear_down, "dtsubmit-tear-down"};
  command.env = environment_with(order_.environment);
  const auto done = run_process(command, limit);
  if (!done) return log("tear-down: {}", done.error().message);
  if (const std::string said = done->out + done->err; !said.empty())
    if (const auto written = append_line(order_.log, said); !written)
      log("{}", written.error().message);
}

}  // namespace dts::launch
