// SPDX-License-Identifier: Apache-2.0
// Which lines of a script are used by what remains of it. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <string>
#include <vector>

namespace dts::convert {

// Sets Part::is_kept of what has to be run, and of what programs and such lines use.
void keep_needed(std::vector<Part>& parts,
                 const std::vector<Program>& programs,
                 const Rendezvous& rendezvous);

// Calls of functions that submit jobs are lost.
void lose_submissions(std::vector<Part>& parts);

// Traps that do more than to print, end, requeue or hand a signal on are lost.
void lose_traps(std::vector<Part>& parts);

// Pauses up to `end` stay behind lines that start something: a server, say.
void keep_pauses(std::vector<Part>& parts, std::size_t end);

// Lines behind the programs that act on their exit codes, which dtsubmit does not hand on, are
// lost.
void lose_exit_codes(std::vector<Part>& parts);

// Lines that are kept for what they set, and start steps for it, are lost.
void lose_steps(std::vector<Part>& parts, const Rendezvous& rendezvous);

// Adds the names that the text may use: variables, functions and files.
void add_names(const std::string& text, Names& names);

// It sets what only the names of the job's nodes are made into.
[[nodiscard]] bool is_rendezvous(const Item& item, const Rendezvous& rendezvous);

}  // namespace dts::convert
