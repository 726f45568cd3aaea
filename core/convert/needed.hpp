// SPDX-License-Identifier: Apache-2.0
// The lines of a script that its remaining parts use. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <string>
#include <vector>

namespace dts::convert {

// Sets Part::is_kept for lines that must run, and for those that programs and such lines use.
void keep_needed(std::vector<Part>& parts,
                 const std::vector<Program>& programs,
                 const Rendezvous& rendezvous);

// Corrects the verdicts on lines for what other lines are. Lost are calls of functions that submit
// jobs, traps that do more than print, end, requeue or pass on a signal, and lines behind the
// programs that act on their exit codes. Unnecessary are functions that only look up the master
// and its port, and their calls. Pauses up to `last`, the last program, stay after lines that
// start something, such as a server.
void settle_others(std::vector<Part>& parts,
                   const Rendezvous& rendezvous,
                   std::size_t last,
                   bool has_many_nodes);

// Lines that are kept for their variables, and start steps to set them, are lost.
void lose_steps(std::vector<Part>& parts, const Rendezvous& rendezvous);

// Adds the names that the text may use: variables, functions and files.
void add_names(const std::string& text, Names& names);

// What a shell text uses, itself or through the script's functions.
[[nodiscard]] Names used_by(const std::string& text, const Bodies& bodies);

// True if it only sets variables derived from the names of the job's nodes.
[[nodiscard]] bool is_rendezvous(const Item& item, const Rendezvous& rendezvous);

}  // namespace dts::convert
