// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/mpiexec.hpp"

#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace dts::launch {
namespace {

constexpr const char* k_mpich_extra = "HYDRA_LAUNCHER_EXTRA_ARGS";
constexpr const char* k_intel_extra = "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS";

// The part of `text` that follows `label`, up to the end of the line or a comma.
std::string_view behind(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == text.npos) return {};
  const std::string_view rest = text.substr(at + label.size());
  return trim(rest.substr(0, rest.find('\n')));
}

// Hydra splits its extra arguments at blanks and has no quoting, so if our path contains a blank,
// the proxy runs without the shield.
bool can_shield(const LaunchRequest& request) {
  return !request.dtsubmit.empty() && request.dtsubmit.find(' ') == std::string::npos;
}

void add_bootstrap(LauncherCommand& command,
                   const LaunchRequest& request,
                   const Hydra& hydra,
                   const std::string& given) {
  std::vector<std::string> extra;
  if (hydra.of_intel && can_shield(request)) {
    command.argv.insert(command.argv.end(), {"-launcher-exec", request.dtsubmit});
    extra.emplace_back(k_hydra_srun);
  }
  if (!given.empty()) extra.push_back(given);
  if (request.plan.component)
    extra.push_back(fmt::format("--het-group={}", *request.plan.component));
  // If a proxy is killed, its step ends, too. mpiexec itself would only notice in MPI_Finalize.
  extra.insert(extra.end(), {"--ntasks-per-node=1", "--kill-on-bad-exit=1", "--mpi=none"});
  if (!hydra.of_intel && can_shield(request))
    extra.insert(extra.end(), {request.dtsubmit, "hydra"});
  command.environment.emplace_back(hydra.of_intel ? k_intel_extra : k_mpich_extra,
                                   join(extra, " "));
  // Read by the srun that starts the proxies.
  if (request.may_meet_steps()) command.environment.emplace_back("SLURM_OVERLAP", "1");
}

}  // namespace

std::optional<Hydra> hydra_of(std::string_view answer) {
  Hydra hydra;
  const std::size_t end = answer.find('\n');
  hydra.program = std::string(answer.substr(0, end));
  const std::string_view version = end == answer.npos ? "" : answer.substr(end);
  constexpr std::string_view k_intel = "Intel(R) MPI Library";
  if (version.find(k_intel) != version.npos) {
    const std::string_view number = behind(version, "Version ");
    hydra.of_intel = true;
    hydra.release = fmt::format("{} {}", k_intel, number.substr(0, number.find(' ')));
    return hydra;
  }
  if (version.find("HYDRA") == version.npos) return std::nullopt;
  hydra.release = fmt::format("HYDRA {}", behind(version, "Version:"));
  return hydra;
}

LauncherCommand mpiexec_command(const LaunchRequest& request,
                                const Hydra& hydra,
                                const std::string& extra) {
  const plan::Plan& plan = request.plan;
  LauncherCommand command;
  // With -rmk user, Hydra uses the nodes named here, whatever the SLURM_* variables say.
  command.argv = {hydra.program,
                  "-launcher",
                  request.local ? "fork" : "slurm",
                  "-rmk",
                  "user",
                  "-bind-to",
                  "none",
                  "-genvnone"};
  if (!request.local) add_bootstrap(command, request, hydra, extra);
  // Intel MPI's library binds a rank itself, in MPI_Init.
  if (hydra.of_intel) command.environment.emplace_back("I_MPI_PIN", "off");
  const unsigned on_each = request.local ? plan.world_size : plan.ntasks_per_node;
  command.argv.insert(command.argv.end(),
                      {"-hosts",
                       request.local ? "localhost" : join(request.all_nodes, ","),
                       "-ppn",
                       std::to_string(on_each),
                       "-n",
                       std::to_string(plan.world_size)});
  command.argv.insert(command.argv.end(), request.rank_command.begin(), request.rank_command.end());
  command.description = fmt::format("{} ({})", hydra.program, hydra.release);
  return command;
}

std::vector<std::string> shielded_srun(std::vector<std::string> arguments,
                                       const std::string& dtsubmit) {
  const auto is_proxy = [](const std::string& word) {
    return word.substr(word.rfind('/') + 1).starts_with("hydra_");
  };
  std::erase(arguments, k_hydra_srun);
  const auto proxy = std::find_if(arguments.begin(), arguments.end(), is_proxy);
  if (proxy != arguments.end()) {
    const auto at = arguments.insert(proxy, "hydra");
    arguments.insert(at, dtsubmit);
  }
  arguments.insert(arguments.begin(), "srun");
  return arguments;
}

namespace {

constexpr const char* k_no_hydra = "no mpiexec of MPICH or Intel MPI";

// The name of the first Hydra in PATH, and the output of its --version.
Result<std::string> ask_mpiexec() {
  std::string why = k_no_hydra;
  for (const char* name : {"mpiexec", "mpiexec.hydra", "mpiexec.mpich"}) {
    const auto program = find_program(name);
    if (!program) continue;
    std::error_code failed;
    const auto real = std::filesystem::canonical(*program, failed).filename();
    if (real == "orterun" || real == "prterun") continue;  // Open MPI's: no need to ask it
    Command ask;
    ask.argv = {name, "--version"};
    const auto version = run_process(std::move(ask), k_question_limit);
    if (!version) {
      why = fmt::format("{} --version: {}", name, version.error().message);
      continue;
    }
    std::string answer = fmt::format("{}\n{}", name, version->out);
    if (hydra_of(answer)) return answer;
  }
  return fail(Errc::not_found, std::move(why));
}

Result<void> mpiexec_available(const Result<std::string>& answer, bool local) {
  if (answer && hydra_of(*answer)) return {};
  const std::string why = answer ? k_no_hydra : answer.error().message;
  return fail(Errc::not_found,
              fmt::format("{} on this {}", why, local ? "machine" : "node"),
              fmt::format("install MPICH (mpich){} or load the module of your MPI; Open MPI's "
                          "mpiexec is --launcher mpirun",
                          local ? "" : " on the nodes"));
}

Result<LauncherCommand> start_by_mpiexec(const LaunchRequest& request,
                                         const std::string& answer,
                                         const Lookup& environment) {
  const Hydra hydra = hydra_of(answer).value_or(Hydra{});
  const char* name = hydra.of_intel ? k_intel_extra : k_mpich_extra;
  return mpiexec_command(request, hydra, environment(name).value_or(""));
}

}  // namespace

// No source of its own: its variables include those of srun --mpi=pmi2, and identify()
// distinguishes the two.
const LauncherType k_mpiexec_launcher{
    ask_mpiexec, mpiexec_available, start_by_mpiexec, nullptr, Mpi::mpich, nullptr};

}  // namespace dts::launch
