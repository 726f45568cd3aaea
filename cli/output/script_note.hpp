// SPDX-License-Identifier: Apache-2.0
// Detects a program that is a shell script, which may swallow a stop signal, or a batch script.
#pragma once

#include "core/plan/plan.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// True if a shell that runs `script` stays between the rank and its program: the script has neither
// `exec` nor a trap, and more than one command. Pure.
[[nodiscard]] bool keeps_a_shell(const std::string& script);

// A note for the user before a job whose ranks run `command` is submitted; may be empty. Reads the
// script if the command names one. If it is a batch script, the note says that Slurm does not read
// it.
[[nodiscard]] std::string script_note(const std::vector<std::string>& command);

// Notes on launchers of processes, such as torchrun, in the script that the plan's ranks run: on
// what they would do in this layout. Empty if there are none. Reads the script.
[[nodiscard]] std::string launcher_note(const plan::Plan& plan);

// How a job file is made of the batch script `path`; empty if it has no #SBATCH lines.
[[nodiscard]] std::string help_for_batch_script(const std::string& path);

// What to do with `word`, which stands where no program can: how one is written, or, if it is a
// file with #SBATCH lines, how a job file is made of it.
[[nodiscard]] std::string help_for_stray_word(const std::string& word);

}  // namespace dts::cli
