// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/tools.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/remote.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr std::string_view k_tidying[] = {"scp",
                                          "ssh",
                                          "gzip",
                                          "gunzip",
                                          "zip",
                                          "zstd",
                                          "xz",
                                          "7z",
                                          "mail",
                                          "mutt",
                                          "sendmail",
                                          "find",
                                          "sort",
                                          "du",
                                          "head",
                                          "tail",
                                          "wc",
                                          "tr",
                                          "cut",
                                          "diff",
                                          "jq",
                                          "xargs",
                                          "basename",
                                          "dirname",
                                          "ls",
                                          "stat",
                                          "ps",
                                          "top",
                                          "pkill",
                                          "killall",
                                          "sync",
                                          "rmdir",
                                          "umount",
                                          "wandb",
                                          "fusermount",
                                          "deactivate",
                                          "rclone",
                                          "aws",
                                          "gsutil",
                                          "azcopy",
                                          "s3cmd",
                                          "dvc",
                                          "hf",
                                          "squeue",
                                          "sinfo",
                                          "sacct",
                                          "sstat",
                                          "seff",
                                          "uptime",
                                          "date",
                                          "hostname",
                                          "whoami",
                                          "id",
                                          "uname",
                                          "lscpu",
                                          "free",
                                          "df",
                                          "which",
                                          "type",
                                          "env",
                                          "printenv",
                                          "clear",
                                          "tput",
                                          "figlet",
                                          "sleep",
                                          "echo",
                                          "printf",
                                          "pwd",
                                          "command",
                                          "time",
                                          "nvidia-smi",
                                          "rocm-smi",
                                          "nvcc",
                                          "sprio",
                                          "dcgmi",
                                          "beep",
                                          "paste",
                                          "uniq",
                                          "column",
                                          "split",
                                          "getopts",
                                          "builtin",
                                          "huggingface-cli",
                                          "sbcast",
                                          "sgather",
                                          "jobs",
                                          "disown",
                                          "cmp",
                                          "pgrep",
                                          "lsof",
                                          "ping",
                                          "nc",
                                          "ss",
                                          "netstat"};

// python -c TEXT, --version
bool only_asks_python(const lint::Run& run) {
  if (!lint::is_python(verb_of(run)) || run.words.size() < 2) return false;
  const std::size_t at = run.words.size() > 2 && run.words[1].value.text == "-u" ? 2 : 1;
  const std::string& word = run.words[at].value.text;
  return word == "-c" || word == "-V" || word == "--version";
}

// A command that runs another, and those of its options whose value is a word of its own.
struct Wrapper {
  std::string_view name;
  std::string_view with_value;  // between blanks
};

constexpr Wrapper k_wrappers[] = {{"command", ""},
                                  {"env", " -u --unset -C --chdir "},
                                  {"exec", " -a "},
                                  {"time", " -o --output -f --format "},
                                  {"xargs", " -a -d -E -I -L -n -P -s --arg-file --delimiter "}};

// "prog" for env A=1 prog, command prog, /usr/bin/time -v prog and xargs -n 1 prog. Empty if `run`
// is none of these or has no program.
std::string behind_wrapper(const lint::Run& run) {
  const std::string verb = verb_of(run);
  const auto* const wrapper =
      std::find_if(std::begin(k_wrappers), std::end(k_wrappers), [&verb](const Wrapper& one) {
        return one.name == verb;
      });
  if (wrapper == std::end(k_wrappers)) return "";
  for (std::size_t i = 1; i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    if (verb == "command" && (word == "-v" || word == "-V")) return "";
    const bool has_value = wrapper->with_value.find(" " + word + " ") != std::string_view::npos;
    const bool is_option = word.starts_with('-') || word.find('=') != std::string::npos;
    if (has_value) ++i;
    if (!is_option) return lint::base_name(word);
  }
  return "";
}

// The first word that is no option, of those from `at` on; empty: there is none.
std::string verb_behind(const lint::Run& run, std::size_t at) {
  while (at < run.words.size() && run.words[at].value.text.starts_with('-')) ++at;
  return at < run.words.size() ? run.words[at].value.text : "";
}

// conda env create, mamba install x; not conda env list
bool makes_environment(const lint::Run& run) {
  constexpr std::string_view k_tools[] = {"conda", "mamba", "micromamba"};
  constexpr std::string_view k_verbs[] = {"create", "install", "update"};
  const std::string verb = is_one_of(k_tools, verb_of(run)) ? verb_behind(run, 1) : "";
  return is_one_of(k_verbs, verb) || (verb == "env" && is_one_of(k_verbs, verb_behind(run, 2)));
}

// ray stop, docker rm, stop-all.sh
bool ends_service(const lint::Run& run) {
  if (verb_of(run).starts_with("stop")) return true;
  if (run.words.size() < 2) return false;
  constexpr std::string_view k_ends[] = {
      "stop", "shutdown", "down", "rm", "remove", "kill", "instance", "--shutdown", "logout"};
  return is_one_of(k_ends, run.words[1].value.text);
}

}  // namespace

bool is_tidying(const lint::Run& run) {
  return is_one_of(k_tidying, verb_of(run)) || ends_service(run);
}

bool asks_python(const lint::Run& run) {
  constexpr std::size_t k_longest_question = 120;
  return only_asks_python(run) &&
         std::all_of(run.words.begin(), run.words.end(), [](const lint::ExpandedWord& word) {
           return word.value.text.size() < k_longest_question;
         });
}

// mpirun --version
bool asks_version(const lint::Run& run) {
  constexpr std::string_view k_questions[] = {"--version", "-V", "--help", "-h"};
  return run.words.size() == 2 && is_one_of(k_questions, run.words[1].value.text);
}

bool is_command_of_shell(std::string_view command) {
  constexpr std::string_view k_commands[] = {
      "cd",       "source", ".",    "export", "set",   "unset",   "ulimit",   "umask",
      "exit",     "wait",   "trap", "shift",  "read",  "alias",   "declare",  "typeset",
      "readonly", "pushd",  "popd", "shopt",  "let",   "hash",    "mapfile",  "module",
      "ml",       ":",      "type", "return", "local", "getopts", "readarray"};
  return is_one_of(k_commands, command);
}

bool is_auxiliary(const std::string& verb) {
  constexpr std::string_view k_auxiliary[] = {
      "",       "export",   "set",      "unset",   "cd",        "module", "ml",         "source",
      ".",      "mkdir",    "test",     "[",       "[[",        "true",   "false",      ":",
      "exit",   "return",   "read",     "wait",    "trap",      "shift",  "declare",    "shopt",
      "conda",  "readonly", "let",      "local",   "typeset",   "ulimit", "umask",      "cp",
      "mv",     "rm",       "ln",       "touch",   "chmod",     "tar",    "pip",        "pip3",
      "rsync",  "unzip",    "wget",     "curl",    "git",       "kill",   "cat",        "sed",
      "awk",    "grep",     "egrep",    "fgrep",   "tee",       "pushd",  "popd",       "eval",
      "sbatch", "scancel",  "scontrol", "mapfile", "readarray", "alias",  "micromamba", "mamba",
      "pyenv",  "spack",    "hash",     "break",   "continue"};
  return is_one_of(k_auxiliary, verb);
}

bool installs(const lint::Run& run) {
  if (run.around.is_in_function || run.words.size() < 2) return false;
  const std::string verb = verb_of(run);
  const std::string second = verb_behind(run, 1);
  constexpr std::string_view k_pip[] = {"install", "download", "wheel"};
  if (verb == "pip" || verb == "pip3") return is_one_of(k_pip, second);
  return makes_environment(run) ||
         (verb == "git" && verb_behind(run, run.words[1].value.text == "-C" ? 3 : 1) == "clone");
}

bool only_prepares(const lint::Run& run) {
  constexpr std::string_view k_runners[] = {"apptainer",
                                            "cargo",
                                            "docker",
                                            "enroot",
                                            "go",
                                            "npm",
                                            "pixi",
                                            "podman",
                                            "podman-hpc",
                                            "poetry",
                                            "singularity",
                                            "uv"};
  constexpr std::string_view k_running[] = {"exec", "run", "start"};
  return is_one_of(k_runners, verb_of(run)) && run.words.size() > 1 &&
         !is_one_of(k_running, run.words[1].value.text);
}

bool is_tool(const lint::Run& run) {
  constexpr std::string_view k_tools[] = {"cat",
                                          "cp",
                                          "curl",
                                          "git",
                                          "grep",
                                          "egrep",
                                          "fgrep",
                                          "awk",
                                          "mv",
                                          "pip",
                                          "pip3",
                                          "rsync",
                                          "rm",
                                          "sed",
                                          "tar",
                                          "wget",
                                          "unzip"};
  return is_one_of(k_tools, verb_of(run)) || makes_environment(run);
}

bool makes_file(const Item& item) {
  return writes_file(item) && std::any_of(item.mains.begin(),
                                          item.mains.end(),
                                          [](const lint::Run* run) { return is_tool(*run); });
}

bool is_work_by_name(std::string_view command) {
  const std::string verb = lint::base_name(std::string(command.substr(0, command.find(' '))));
  return !is_auxiliary(verb) && !is_one_of(k_tidying, verb);
}

bool works_anywhere(const lint::Run& run) {
  if (run.words.empty() || run.name().starts_with('-')) return false;
  const std::string verb = verb_of(run);
  constexpr std::string_view k_environments[] = {
      "conda", "mamba", "micromamba", "uv", "poetry", "pixi"};
  if (is_one_of(k_environments, verb) && run.words.size() > 2 && run.words[1].value.text == "run")
    return true;
  if (verb == "parallel" || trains_elsewhere(run)) return true;
  if (run.launch.launcher != lint::Launcher::none) return false;
  if (const std::string inner = behind_wrapper(run); !inner.empty())
    return !is_auxiliary(inner) && !is_one_of(k_tidying, inner);
  return !is_auxiliary(verb) && !is_one_of(k_tidying, verb) && !ends_service(run) &&
         !only_asks_python(run);
}

bool does_work(const lint::Run& run) {
  return !run.around.is_in_function && works_anywhere(run);
}

bool only_ends_services(const Item& item) {
  return std::all_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
    const std::string verb = verb_of(*run);
    return ends_service(*run) || verb == "kill" || verb == "pkill" || verb == "echo";
  });
}

}  // namespace dts::convert
