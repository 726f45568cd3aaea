// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/verdict.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/job/shell_limits.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/steps_beside.hpp"
#include "core/convert/lines/tools.hpp"
#include "core/convert/words/flat.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace dts::convert {
namespace {

using VerdictKind = Verdict::Kind;

// The only command, of no pipeline; null: the item is more than that.
const lint::Run* only_run(const Item& item) {
  return item.runs.size() == 1 && simple_command(*item.statement) != nullptr ? item.runs[0]
                                                                             : nullptr;
}

Verdict on_set(const lint::Run& run) {
  for (std::size_t i = 1; i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    const bool is_name = i > 1 && (word == "pipefail" || word == "errexit" || word == "nounset" ||
                                   word == "xtrace" || word == "errtrace" || word == "verbose");
    const bool is_letters = word.size() > 1 && (word[0] == '-' || word[0] == '+') &&
                            word.find_first_not_of("euxvoET", 1) == std::string::npos;
    if (!is_name && !is_letters) return {};
  }
  return {VerdictKind::unnecessary,
          "if a line of the set-up fails, the run ends and shows its output"};
}

// $SLURM_SUBMIT_DIR, "${SLURM_SUBMIT_DIR:-.}/", ${SLURM_SUBMIT_DIR:?}, not a folder in it or above
// it.
bool is_submit_folder(std::string_view value) {
  const std::string begin = std::string(1, lint::k_unknown) + "{SLURM_SUBMIT_DIR";
  if (!value.starts_with(begin)) return false;
  value.remove_prefix(begin.size());
  const std::size_t end = value.find('}');
  if (end == std::string_view::npos) return false;
  const std::string_view operation = value.substr(0, end);
  const std::string_view rest = value.substr(end + 1);
  const bool is_whole = operation.empty() || operation.starts_with('-') ||
                        operation.starts_with(":-") || operation.starts_with('?') ||
                        operation.starts_with(":?");
  return is_whole && (rest == "/." || rest.find_first_not_of('/') == std::string_view::npos);
}

Verdict on_simple(const Item& item, const lint::Run& run) {
  const std::string& name = run.name();
  if (name == "set" && !writes_file(item)) return on_set(run);
  if (name == "ulimit") {
    const std::vector<std::string> limits = shell_limits(run.words);
    if (item.sets.limits.empty() && !writes_file(item))
      return {VerdictKind::unnecessary, "prints limits"};
    if (limits.empty()) return {};
    Verdict verdict{VerdictKind::option};
    verdict.settings["ulimit"] = {limits, k_no_row};
    return verdict;
  }
  if (name == "umask" && run.words.size() == 2 && !problem_of("umask", {run.words[1].value.text})) {
    Verdict verdict{VerdictKind::option};
    verdict.settings["umask"] = {{run.words[1].value.text}, k_no_row};
    return verdict;
  }
  if (name == "trap")
    return {VerdictKind::unnecessary, "dtsubmit receives the signals, saves and continues"};
  if (name == ":" && run.words.size() == 1) return {VerdictKind::unnecessary, "does nothing"};
  if (name == "exec" && run.words.size() == 1)
    return {VerdictKind::unnecessary, "the logs are in the run directory, see dtsubmit logs"};
  if (name == "wait") return {VerdictKind::unnecessary, "dtsubmit waits for the program"};
  if (name == "cd" && run.words.size() == 2 && is_submit_folder(run.words[1].value.text))
    return {VerdictKind::unnecessary, "the job runs where it is submitted"};
  if (name == "scancel") return {VerdictKind::lost, "cancels jobs: dtsubmit cancel"};
  if (name == "scontrol" && run.words.size() > 1 && run.words[1].value.text == "requeue")
    return {VerdictKind::unnecessary, "dtsubmit requeues the job itself"};
  const bool makes_container = run.launch.option("container-image") != nullptr ||
                               run.launch.option("container-name") != nullptr;
  if (makes_container && verb_of(run) == "true")
    return {VerdictKind::unnecessary, "dtsubmit makes a container for each program"};
  return {};
}

bool sets_something(const Item& item) {
  return !item.sets.variables.empty() || !item.sets.arrays.empty() || item.sets.changes_folder;
}

// Of what only sets variables and functions.
Verdict on_settings(const Item& item, const Rendezvous& rendezvous) {
  const auto is_known_elsewhere = [&](const std::string& name) {
    return is_given(name) || rendezvous.has(name);
  };
  const Names& names = item.sets.variables;
  const bool is_rendezvous = !names.empty() && item.sets.functions.empty() &&
                             std::all_of(names.begin(), names.end(), is_known_elsewhere);
  // The program may read what is exported.
  const bool is_read = !std::all_of(item.sets.exported.begin(),
                                    item.sets.exported.end(),
                                    [](const std::string& name) { return is_given(name); });
  if (is_rendezvous && !is_read) return {VerdictKind::if_needed, k_finds_master};
  if (!item.sets.exported.empty()) return {};
  return {VerdictKind::if_needed, "nothing that is kept uses it"};
}

}  // namespace

bool requeues(const Item& item) {
  const auto says = [](const lint::Run& run) {
    return run.name() != "echo" && run.name() != "printf" &&
           std::any_of(run.words.begin(), run.words.end(), [](const lint::ExpandedWord& word) {
             return words_of(word.value.text).count("requeue") > 0;
           });
  };
  return item.words.count("requeue") > 0 &&
         std::any_of(
             item.runs.begin(), item.runs.end(), [&](const lint::Run* run) { return says(*run); });
}

// if [ $code -ne 0 ]; then scontrol requeue; exit $code; fi
bool ends_only(const Item& item) {
  constexpr std::string_view k_ends[] = {"echo",
                                         "printf",
                                         "exit",
                                         "scontrol",
                                         "[",
                                         "[[",
                                         "test",
                                         "sleep",
                                         "date",
                                         "true",
                                         ":",
                                         "set",
                                         "wait",
                                         "kill"};
  return !item.runs.empty() && !writes_file(item) && item.sets.functions.empty() &&
         std::all_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
           return is_one_of(k_ends, verb_of(*run));
         });
}

bool reads_anything(const Item& item) {
  return std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
    return run->name() == "source" || run->name() == "." || run->name() == "eval" ||
           run->name() == "envsubst";
  });
}

namespace {

// Of a line behind the programs; std::nullopt if it is like any other.
std::optional<Verdict> on_end(const Item& item) {
  const bool is_of_end = item.source.find("$?") != std::string::npos || requeues(item);
  if (!is_of_end && !ends_only(item)) return std::nullopt;
  if (!is_of_end && sets_something(item))
    return item.sets.exported.empty()
               ? Verdict{VerdictKind::if_needed, "nothing that is kept uses it"}
               : Verdict{};
  return item.only_sets() || ends_only(item)
             ? Verdict{VerdictKind::unnecessary,
                       "the run's end follows from the programs' exit codes, and dtsubmit "
                       "requeues"}
             : Verdict{VerdictKind::lost, k_acts_on_exit};
}

// if [ -f done ]; then exit 0; fi. What reads the script's arguments, of which there are none,
// comes to no --help.
bool ends_as_done(const Item& item) {
  for (const char* arguments : {"$#", "$*", "$@", "getopts"})
    if (item.source.find(arguments) != std::string::npos) return false;
  return item.sets.functions.empty() &&
         std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
           return run->name() == "exit" && run->words.size() == 2 &&
                  run->words[1].value.text == "0";
         });
}

Verdict judged(const Item& item, const Rendezvous& rendezvous, bool is_before) {
  if (is_before && ends_as_done(item))
    return {VerdictKind::lost,
            "ends the script before its program starts, with success; a set-up cannot: have the "
            "program do it"};
  if (begins_with_option(item)) return {VerdictKind::lost, k_cut_short};
  if (submits(item) && item.sets.functions.empty()) return {VerdictKind::lost, k_submits};
  if (only_prints(item))
    return {VerdictKind::unnecessary,
            verb_of(*item.runs[0]) == "sleep"
                ? "a pause: dtsubmit starts programs when their nodes are ready"
                : "only prints; the run directory has start, end, nodes and environment"};
  if (const lint::Run* run = only_run(item); run != nullptr && !item.only_sets()) {
    Verdict verdict = on_simple(item, *run);
    if (verdict.kind != VerdictKind::kept || !verdict.text.empty()) return verdict;
    if (run->name() == "exit" && !is_before)
      return {VerdictKind::unnecessary, "the run's end follows from the programs' exit codes"};
  }
  if (!is_before && reads_settings(item)) return {VerdictKind::lost, k_reads_file_late};
  if (!is_before)
    if (const auto verdict = on_end(item)) return *verdict;
  const bool is_of_hosts =
      asks_for_hosts(item.source) ||
      std::any_of(item.used.begin(), item.used.end(), [&](const std::string& name) {
        return rendezvous.has(name);
      });
  if (item.only_sets()) return on_settings(item, rendezvous);
  constexpr std::string_view k_host_tools[] = {
      "scontrol", "echo", "printf", "hostname", "head", "sed",  "awk",  "getent",
      "ssh",      "srun", "cat",    "rm",       "perl", "cut",  "sort", "tr",
      "touch",    "for",  "test",   "[",        "read", "grep", "true", "sleep"};
  const bool lists_hosts =
      is_of_hosts && is_before && only_writes_lists(item) && !updates_job(item) &&
      std::all_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
        return is_one_of(k_host_tools, verb_of(*run));
      });
  if (lists_hosts) return {VerdictKind::if_needed, "dtsubmit knows the job's nodes"};
  return {};
}

}  // namespace

Verdict verdict_on(const Item& item,
                   const Rendezvous& rendezvous,
                   const lint::Job& job,
                   bool is_before) {
  Verdict verdict = judged(item, rendezvous, is_before);
  settle_steps(item, job, verdict);
  return verdict;
}

}  // namespace dts::convert
