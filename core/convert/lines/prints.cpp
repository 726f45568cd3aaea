// SPDX-License-Identifier: Apache-2.0
// Lines that only print what the job's own records have as well.
#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/tools.hpp"
#include "core/convert/lines/verdict.hpp"
#include "core/convert/words/filters.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr std::string_view k_printers[] = {
    "echo",   "printf",   "date",        "hostname", "clear",    "pwd",        "whoami",   "uptime",
    "squeue", "sinfo",    "sacct",       "sstat",    "scontrol", "tput",       "id",       "uname",
    "lscpu",  "free",     "which",       "type",     "command",  "nvidia-smi", "rocm-smi", "nvcc",
    "env",    "printenv", "module-list", "sleep",    "figlet",   "df",         "sprio"};

// Of a text for another shell: [2]> but for those to /dev/null and other streams.
bool writes_inside(std::string text) {
  for (const std::string_view stream : {">/dev/null", "> /dev/null", ">&1", ">&2"})
    for (std::size_t at = text.find(stream); at != std::string::npos; at = text.find(stream))
      text.erase(at, stream.size());
  return text.find('>') != std::string::npos;
}

// bash -c 'echo $(hostname)'
bool prints_by_shell(const Item& item, const lint::Run& run) {
  static constexpr std::string_view k_text[] = {
      "cat", "head", "tail", "grep", "awk", "tr", "cut", "sort", "wc", "strings", "ls", "true"};
  const bool writes = std::any_of(run.words.begin(), run.words.end(), [](const auto& word) {
    return writes_inside(word.value.text);
  });
  return run.runs_script && !writes &&
         std::all_of(item.inside.begin(), item.inside.end(), [](const auto* one) {
           const std::string verb = verb_of(*one);
           return is_one_of(k_printers, verb) || is_one_of(k_text, verb);
         });
}

constexpr std::string_view k_print_filters[] = {
    "grep", "egrep", "fgrep", "sort", "head", "tail", "cut", "tr", "uniq", "wc", "column", "cat"};

// grep -q PATTERN, grep PATTERN > /dev/null
bool only_checks(const shell::Command& command) {
  const auto is_quiet = [](const shell::Word& word) {
    const std::string option = option_word(word);
    return option == "--quiet" || option == "--silent" ||
           (!option.starts_with("--") && option.find('q') != std::string::npos);
  };
  return first_word(command).ends_with("grep") &&
         (std::any_of(command.words.begin(), command.words.end(), is_quiet) ||
          std::any_of(
              command.redirections.begin(), command.redirections.end(), [](const auto& one) {
                return one.descriptor != 2 && one.sign.find('>') != std::string::npos;
              }));
}

// env | grep SLURM | sort: what the filters print is of the job, not of a file.
bool only_filters(const Item& item) {
  for (const shell::Pipeline& pipeline : item.statement->pipelines)
    for (std::size_t i = 0; i < pipeline.commands.size(); ++i) {
      const shell::Command& command = pipeline.commands[i];
      if (command.kind != shell::Command::Kind::simple || only_checks(command)) return false;
      const bool filters = is_one_of(k_print_filters, first_word(command));
      if (filters != (i > 0) || (filters && !is_filter(command))) return false;
    }
  return true;
}

// cat <<EOF, of a text in which no command runs.
bool prints_document(const Item& item) {
  if (item.source.find("$(") != std::string::npos || item.source.find('`') != std::string::npos)
    return false;
  const shell::Command* command = simple_command(*item.statement);
  return command != nullptr && command->words.size() == 1 && first_word(*command) == "cat" &&
         command->redirections.size() == 1 && command->redirections[0].sign.starts_with("<<");
}

// nvidia-smi dmon -c 3, whose options have meanings of their own. Not -f FILE.
bool watches_gpus(const lint::Run& run, std::size_t at) {
  constexpr std::string_view k_watching[] = {"dmon", "pmon"};
  if (at + 1 >= run.words.size() || !is_one_of(k_watching, run.words[at + 1].value.text))
    return false;
  return std::none_of(run.words.begin(), run.words.end(), [](const lint::ExpandedWord& word) {
    return word.value.text == "-f" || word.value.text.starts_with("--filename");
  });
}

// nvidia-smi -pm 1, -c EXCLUSIVE_PROCESS, mig -cgi 9; rocm-smi --setperflevel high
bool changes_gpus(const lint::Run& run) {
  constexpr std::string_view k_options[] = {
      "-ac",  "-acp", "-am",  "-c",   "-caa", "-cci", "-cgi", "-dci", "-dgi", "-e",   "-f",
      "-gom", "-lgc", "-lmc", "-mig", "-p",   "-pl",  "-pm",  "-r",   "-rac", "-rgc", "-rmc"};
  constexpr std::string_view k_reads[] = {"--query",
                                          "--format",
                                          "--id",
                                          "--loop",
                                          "--list",
                                          "--display",
                                          "--help",
                                          "--version",
                                          "--xml",
                                          "--unit",
                                          "--show",
                                          "--alldevices",
                                          "--json",
                                          "--csv"};
  const bool is_launched = run.launch.launcher != lint::Launcher::none;
  const std::size_t begin = is_launched ? run.launch.command_at : 0;
  if (watches_gpus(run, begin)) return false;
  for (std::size_t i = begin; i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    const bool is_read = std::any_of(std::begin(k_reads), std::end(k_reads), [&](const auto& one) {
      return word.starts_with(one);
    });
    if (is_one_of(k_options, word.substr(0, word.find('='))) ||
        (word.starts_with("--") && !is_read))
      return true;
  }
  return false;
}

bool prints(const Item& item, const lint::Run& run) {
  const std::string verb = verb_of(run);
  if (verb == "bash" || verb == "sh") return prints_by_shell(item, run);
  if (verb == "scontrol") return run.words.size() > 1 && run.words[1].value.text == "show";
  if (verb == "nvcc") return asks_version(run);
  if (verb == "nvidia-smi" || verb == "rocm-smi") return !changes_gpus(run);
  if (verb == "env") return run.words.size() == 1;
  if (verb.empty() && run.launch.launcher != lint::Launcher::none) return asks_version(run);
  if (verb == "command" || verb == "hostname")
    return run.words.size() == 1 || run.words[1].value.text.starts_with('-');
  if (verb == "module" || verb == "ml" || verb == "conda" || verb == "pip")
    return run.words.size() > 1 &&
           (run.words[1].value.text == "list" || run.words[1].value.text == "info");
  return is_one_of(k_printers, verb) ||
         (run.around.is_conditional && (verb == "[" || verb == "test"));
}

}  // namespace

bool only_prints(const Item& item) {
  if (item.runs.empty() || writes_file(item) || acts_inside(item) || !item.sets.variables.empty() ||
      !item.sets.functions.empty() || item.statement->background)
    return false;
  if (prints_document(item)) return true;
  const bool has_filters = only_filters(item);
  return std::all_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
    return prints(item, *run) || (has_filters && is_one_of(k_print_filters, verb_of(*run)));
  });
}

}  // namespace dts::convert
