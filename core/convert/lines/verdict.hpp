// SPDX-License-Identifier: Apache-2.0
// The verdict on a statement that does not start the program. Pure.
#pragma once

#include "core/convert/job/draft.hpp"
#include "core/convert/lines/item.hpp"
#include "core/convert/lines/rendezvous.hpp"

#include <string>

namespace dts::convert {

inline constexpr const char* k_acts_on_exit =
    "acts on the program's exit code; dtsubmit --on sets what to do after failures";

inline constexpr const char* k_reads_file_late =
    "what the file does may take longer than a tear-down, which is killed after 30 s: source it "
    "in the program's own script";

inline constexpr const char* k_finds_master =
    "dtsubmit finds the ranks' numbers, the master and a free port itself";

inline constexpr const char* k_cut_short =
    "it begins with an option: is a backslash missing at the end of the line before?";

inline constexpr const char* k_submits = "submits another job: dtsubmit --after RUN, or --chain";

struct Verdict {
  enum class Kind {
    kept,       // has to be run
    if_needed,  // only sets what other lines may use
    unnecessary,
    option,  // `settings` say the same
    lost,
  };

  Kind kind = Kind::kept;
  std::string why{};        // of what is unnecessary or lost; of `if_needed`: if it is not needed
  std::string text{};       // what to run instead of the statement's source; empty: that
  std::string step_loss{};  // why it is lost if it has to be run: a step that no set-up can start
  Settings settings{};
};

// `is_before`: it is run before the program.
[[nodiscard]] Verdict verdict_on(const Item& item,
                                 const Rendezvous& rendezvous,
                                 const lint::Job& job,
                                 bool is_before);

// True if it prints, ends the script or requeues the job, under any condition.
[[nodiscard]] bool ends_only(const Item& item);

// True for a line with the word requeue, as in scontrol requeue $SLURM_JOB_ID.
[[nodiscard]] bool requeues(const Item& item);

// True if the statement only prints: echo, nvidia-smi, env | grep SLURM, cat <<EOF.
[[nodiscard]] bool only_prints(const Item& item);

// True if the item runs a file or text whose use of variables is not visible.
[[nodiscard]] bool reads_anything(const Item& item);

}  // namespace dts::convert
