// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/find_launched.hpp"

#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/launch/program/stacks.hpp"
#include "core/plan/program/own_launcher.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace dts::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How often to look at first: a short training may end within a second of its launcher's start.
constexpr milliseconds k_often{250};
constexpr seconds k_often_for{30};
constexpr seconds k_look{1};
// How long short-lived processes are remembered, so that the agent can compare them.
constexpr seconds k_remember{10};
constexpr std::size_t k_longest_command = 200;
constexpr std::uint64_t k_most_ranks = 10'000'000;

// A set of variables from which a process takes its rank and rendezvous.
struct Family {
  const char* rank;
  const char* size;
  const char* address;
  const char* port;
  const char* launcher;  // the only launcher that sets these variables; empty: several launchers do
};

constexpr Family k_families[] = {
    {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", ""},
    {"HOROVOD_RANK",
     "HOROVOD_SIZE",
     "HOROVOD_GLOO_RENDEZVOUS_ADDR",
     "HOROVOD_GLOO_RENDEZVOUS_PORT",
     "horovodrun"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "", "", "mpirun"},
    {"PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "", "", ""},
};

// Variables that identify a launcher in its processes even if it runs under another name, for
// instance as a Python file.
constexpr std::pair<const char*, const char*> k_signs[] = {{"TORCHELASTIC_RUN_ID", "torchrun"}};

using Variables = std::map<std::string, std::string, std::less<>>;

Variables variables_of(pid_t pid) {
  Variables variables;
  for (const std::string& entry : split(environment_of(pid), '\0'))
    if (const std::size_t equals = entry.find('='); equals != std::string::npos)
      variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  return variables;
}

std::string value_of(const Variables& variables, std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

std::optional<unsigned> number_of(const Variables& variables, const char* name) {
  const auto number = parse_number(value_of(variables, name));
  if (!number || *number > k_most_ranks) return std::nullopt;
  return static_cast<unsigned>(*number);
}

// The same text for all processes that the same command started in the same folder.
std::string started_as(pid_t pid) {
  std::error_code failed;
  const auto folder = std::filesystem::read_symlink(proc_path(pid, "cwd"), failed);
  return to_hex(hash64(read_file(proc_path(pid, "cmdline")).value_or("") + folder.string()));
}

struct Found {
  LaunchedProcess process;
  std::string launcher;  // according to its variables; empty: they do not show it
};

// The launcher that a process's variables identify, unless it is the one that started the program.
std::string sign_of(const Variables& variables, const OwnVariables& own) {
  for (const auto& [variable, launcher] : k_signs)
    if (variables.count(variable) > 0 && own.count(variable) == 0) return launcher;
  return {};
}

// Compares with the rank's own values: the process may be the program itself, started as a rank of
// another launcher.
bool is_own(const Variables& variables, const Family& family, const OwnVariables& own) {
  const auto is_same = [&](const char* name) {
    return value_of(variables, name) == value_of(own, name);
  };
  return is_same(family.rank) && is_same(family.size) && is_same(family.address) &&
         is_same(family.port) && sign_of(variables, own).empty();
}

std::optional<Found> foreign_rank(pid_t pid, const OwnVariables& own) {
  const Variables variables = variables_of(pid);
  for (const Family& family : k_families) {
    const auto rank = number_of(variables, family.rank);
    const auto size = number_of(variables, family.size);
    if (!rank || !size || *rank >= *size || is_own(variables, family, own)) continue;
    Found found{{*rank, *size, "", started_as(pid)}, sign_of(variables, own)};
    const std::string address = value_of(variables, family.address);
    const std::string port = value_of(variables, family.port);
    if (!address.empty() && !port.empty()) found.process.master = address + ":" + port;
    if (found.launcher.empty()) found.launcher = family.launcher;
    return found;
  }
  return std::nullopt;
}

// The process that most likely started `pid`: the nearest known launcher above it, or its parent.
pid_t starter_of(pid_t pid, const std::vector<pid_t>& family) {
  pid_t parent = 0;
  for (pid_t above = pid;;) {
    const auto process = process_info(above);
    if (!process) break;
    above = process->parent;
    if (std::find(family.begin(), family.end(), above) == family.end()) break;
    if (parent == 0) parent = above;
    if (plan::find_own_launcher(command_of(above)).kind != plan::OwnLauncher::Kind::none)
      return above;
  }
  return parent == 0 ? pid : parent;
}

void name_starter(Launched& launched, pid_t starter, const std::string& by_its_variables) {
  const std::vector<std::string> words = command_of(starter);
  launched.launcher = plan::find_own_launcher(words).name;
  if (launched.launcher.empty()) launched.launcher = by_its_variables;
  launched.command = printable(join(words, " "), k_longest_command);
  launched.started = started_as(starter);
}

// The launcher closest to the processes that it is about to start.
std::optional<pid_t> last_launcher(const std::vector<pid_t>& family) {
  for (auto pid = family.rbegin(); pid != family.rend(); ++pid)
    if (plan::find_own_launcher(command_of(*pid)).kind != plan::OwnLauncher::Kind::none)
      return *pid;
  return std::nullopt;
}

}  // namespace

std::optional<Launched> find_launched(pid_t program, const OwnVariables& own) {
  const std::vector<pid_t> family = family_of(program);
  Launched launched;
  for (const pid_t pid : family) {
    auto found = foreign_rank(pid, own);
    if (!found) continue;
    if (launched.processes.empty())
      name_starter(launched, starter_of(pid, family), found->launcher);
    // Its own children, such as data loaders, inherit its variables.
    const auto is_same = [&](const LaunchedProcess& one) {
      return one.rank == found->process.rank && one.world_size == found->process.world_size &&
             one.master == found->process.master;
    };
    if (std::none_of(launched.processes.begin(), launched.processes.end(), is_same))
      launched.processes.push_back(std::move(found->process));
  }
  if (!launched.processes.empty()) {
    std::sort(launched.processes.begin(),
              launched.processes.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    return launched;
  }
  const auto launcher = last_launcher(family);
  if (!launcher) return std::nullopt;
  name_starter(launched, *launcher, "");
  return launched;
}

void LaunchedWatch::begin(const plan::Environment& given, Time now) {
  own_.clear();
  const auto remember = [&](const char* name) {
    if (const char* value = std::getenv(name)) own_[name] = value;
  };
  for (const Family& family : k_families) {
    for (const char* name : {family.rank, family.size, family.address, family.port}) remember(name);
  }
  for (const auto& [variable, launcher] : k_signs) remember(variable);
  for (const auto& [name, value] : given) own_[name] = value;
  poll_often_until_ = now + k_often_for;
  next_poll_ = now + k_often;
}

std::optional<Launched> LaunchedWatch::poll(pid_t program, Time now) {
  next_poll_ = program <= 0              ? Time::max()
               : now < poll_often_until_ ? now + k_often
                                         : now + Time::duration(k_look);
  if (program <= 0) return std::nullopt;
  auto found = find_launched(program, own_);
  if (found && !found->processes.empty()) {
    gone_at_ = now + k_remember;
  } else if (last_reported_ && !last_reported_->processes.empty()) {
    if (now < gone_at_) return std::nullopt;
    if (!found) found.emplace();  // report that nothing is left of it
  }
  if (!found || found == last_reported_) return std::nullopt;
  last_reported_ = found;
  return found;
}

}  // namespace dts::launch
