// SPDX-License-Identifier: Apache-2.0
// Runs Slurm's own commands.
#pragma once

#include "plugins/slurm_shared/failure.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace slurm_plugin {

struct SlurmCommand {
  std::vector<std::string> words{};                       // the first is the command's name
  std::optional<std::vector<std::string>> environment{};  // nullopt: plain_environment()
  std::string folder{};                                   // working directory; empty: ours
  std::string input{};                                    // its standard input
  std::chrono::seconds limit{20};  // scontrol takes 9 s if the controller is down
  std::string* err = nullptr;  // gets CommandOutput::err, also of a command that exceeds its limit
};

struct CommandOutput {
  int exit_code = 0;
  std::string out;
  std::string err;  // see plain()
};

// Runs the command to its end, whatever its exit code. "unreachable" if it cannot be started, is
// ended by a signal, or exceeds its limit, after which it is killed: the outcome of an order is
// then unknown. Thread-safe.
[[nodiscard]] Outcome<CommandOutput> run_command(SlurmCommand command);

// The standard output of a command that must succeed. Otherwise the command's message, interpreted
// by failed_command() and preceded by "WHAT: " unless `what` is empty.
[[nodiscard]] Outcome<std::string> output_of(std::vector<std::string> words,
                                             const std::string& what = {},
                                             std::chrono::seconds limit = SlurmCommand().limit);

// Finds one of Slurm's commands in PATH, or in the folders where sites install Slurm.
[[nodiscard]] std::optional<std::string> find_command(const std::string& name);

// Our environment without the variables that change what Slurm's commands do or print. Times are
// then in Unix seconds (SLURM_TIME_FORMAT), and lists of array tasks complete (SLURM_BITSTR_LEN).
[[nodiscard]] std::vector<std::string> plain_environment();

// True for a user's variable that plain_environment() omits. Pure.
[[nodiscard]] bool changes_output(std::string_view variable);

// "sbatch: error: Invalid qos" -> "Invalid qos", lines joined by "; ". Pure.
[[nodiscard]] std::string plain(std::string_view said);

}  // namespace slurm_plugin
