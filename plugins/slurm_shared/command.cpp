// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/command.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/text.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace slurm_plugin {
namespace {

// Where sites install Slurm, in case its commands are not in PATH.
constexpr std::array k_folders{"/usr/bin",
                               "/usr/local/bin",
                               "/opt/slurm/bin",
                               "/opt/slurm/current/bin",
                               "/usr/local/slurm/bin",
                               "/cm/shared/apps/slurm/current/bin"};

// Prefixes of the variables that Slurm's commands read as options.
constexpr std::array k_prefixes{
    "SLURM_", "SBATCH_", "SQUEUE_", "SCONTROL_", "SCANCEL_", "SACCT_", "SINFO_"};

// The exceptions, which identify the cluster or the user.
constexpr std::array k_kept{"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_SACK_SOCKET"};

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// A file in memory, positioned at its beginning; invalid on failure.
dts::UniqueFd memory_file(const std::string& text) {
  dts::UniqueFd file(::memfd_create("script", MFD_CLOEXEC));
  const bool whole =
      ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!whole || ::lseek(file.get(), 0, SEEK_SET) != 0) file.reset();
  return file;
}

std::string text_of(const dts::UniqueFd& file) {
  std::array<char, 4096> part;
  std::string text;
  ssize_t n = 0;
  while ((n = ::pread(file.get(), part.data(), part.size(), static_cast<off_t>(text.size()))) > 0)
    text.append(part.data(), static_cast<std::size_t>(n));
  return text;
}

// The line without "sbatch: " and "error: ".
std::string_view without_prefix(std::string_view line) {
  const std::size_t colon = line.find(": ");
  const bool has_name = colon != std::string_view::npos && line.front() == 's' &&
                        line.find(' ') == colon + 1;  // "scancel: ", but not "slurm_load error: "
  if (has_name) line.remove_prefix(colon + 2);
  if (line.starts_with("error: ")) line.remove_prefix(std::strlen("error: "));
  return line;
}

}  // namespace

bool changes_output(std::string_view variable) {
  if (variable == "SLURM_CONF=") return true;  // scontrol would wait a minute for that file
  const std::string_view name = name_of(variable);
  return std::ranges::any_of(k_prefixes,
                             [&](const char* prefix) { return name.starts_with(prefix); }) &&
         std::ranges::find(k_kept, name) == k_kept.end();
}

std::vector<std::string> plain_environment() {
  std::vector<std::string> environment = dts::environment_with(
      {{"LC_ALL", "C"}, {"SLURM_TIME_FORMAT", "%s"}, {"SLURM_BITSTR_LEN", "0"}});
  std::erase_if(environment, [](const std::string& entry) {
    return changes_output(entry) && name_of(entry) != "SLURM_TIME_FORMAT" &&
           name_of(entry) != "SLURM_BITSTR_LEN";
  });
  return environment;
}

std::optional<std::string> find_command(const std::string& name) {
  if (auto found = dts::find_program(name)) return found;
  for (const char* folder : k_folders)
    if (auto found = dts::find_program(std::string(folder) + "/" + name)) return found;
  return std::nullopt;
}

std::string plain(std::string_view said) {
  std::string text;
  for (const std::string& whole : dts::split(said, '\n')) {
    const std::string_view line = without_prefix(dts::trim(whole));
    if (line.empty() || line.starts_with("Try \"sbatch --help\"")) continue;
    text.append(text.empty() ? "" : "; ").append(line);
  }
  return text;
}

Outcome<CommandOutput> run_command(SlurmCommand command) {
  const std::string name = command.words.front();
  const auto file = find_command(name);
  if (!file)
    return failed("unreachable",
                  "no " + name + " here: neither in PATH nor where sites install Slurm",
                  "add the folder of Slurm's commands to PATH (a module may do so)");
  const dts::UniqueFd input = memory_file(command.input);
  if (!input.valid()) return failed("internal", name + ": " + std::strerror(errno));
  dts::Command request;
  request.argv = std::move(command.words);
  request.argv.front() = *file;
  request.env =
      command.environment ? std::move(command.environment) : std::optional(plain_environment());
  request.folder = std::move(command.folder);
  request.stdin_fd = input.get();
  const dts::UniqueFd err = memory_file("");
  if (command.err != nullptr)
    request.in_child = [to = err.get()] { return ::dup2(to, STDERR_FILENO) < 0 ? 1 : 0; };
  auto output = dts::run_process(std::move(request), command.limit);
  if (command.err != nullptr) *command.err = text_of(err);
  // A requeue ends all processes of the job, also the command that asked for it.
  if (output && output->signal != 0)
    return failed(meanings::k_silent,
                  name + " was ended by signal " + std::to_string(output->signal));
  if (output && command.err != nullptr) output->err = *command.err;
  if (output)
    return CommandOutput{output->exit_code, std::move(output->out), std::move(output->err)};
  if (output.error().code != dts::Errc::timed_out)
    return failed("unreachable", name + " cannot be run: " + output.error().message);
  return failed(meanings::k_silent,
                name + " had no answer after " + std::to_string(command.limit.count()) + " s");
}

Outcome<std::string> output_of(std::vector<std::string> words,
                               const std::string& what,
                               std::chrono::seconds limit) {
  auto said = run_command({.words = std::move(words), .limit = limit});
  if (!said) return tl::unexpected<Failure>(std::move(said).error());
  if (said->exit_code == 0) return std::move(said->out);
  const std::string message = plain(said->err.empty() ? said->out : said->err);
  return failed_command(what.empty() ? message : what + ": " + message);
}

}  // namespace slurm_plugin
