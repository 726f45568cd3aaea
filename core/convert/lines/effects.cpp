// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/effects.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/nodes.hpp"
#include "core/convert/lines/tools.hpp"
#include "core/lint/script/program.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// Whatever their arguments, they leave nothing behind that a job would miss.
constexpr std::string_view k_readers[] = {"echo",       "printf",
                                          "cat",        "date",
                                          "hostname",   "basename",
                                          "dirname",    "realpath",
                                          "readlink",   "pwd",
                                          "head",       "tail",
                                          "cut",        "sed",
                                          "awk",        "gawk",
                                          "grep",       "egrep",
                                          "tr",         "wc",
                                          "sort",       "uniq",
                                          "seq",        "expr",
                                          "bc",         "scontrol",
                                          "squeue",     "sinfo",
                                          "sacct",      "sacctmgr",
                                          "nproc",      "nvidia-smi",
                                          "rocm-smi",   "id",
                                          "whoami",     "uname",
                                          "which",      "type",
                                          "command",    "test",
                                          "[",          "true",
                                          "false",      ":",
                                          "ls",         "find",
                                          "stat",       "du",
                                          "df",         "env",
                                          "printenv",   "getent",
                                          "ip",         "ifconfig",
                                          "nslookup",   "host",
                                          "dig",        "ss",
                                          "netstat",    "comm",
                                          "shuf",       "jq",
                                          "mktemp",     "ps",
                                          "pgrep",      "git",
                                          "conda",      "mamba",
                                          "module",     "perl",
                                          "md5sum",     "sha256sum",
                                          "numfmt",     "tac",
                                          "rev",        "paste",
                                          "column",     "od",
                                          "hexdump",    "strings",
                                          "file",       "curl",
                                          "openssl",    "uuidgen",
                                          "base64",     "free",
                                          "lscpu",      "lspci",
                                          "lsblk",      "tput",
                                          "fold",       "nl",
                                          "sleep",      "nvcc",
                                          "cd",         "pip",
                                          "lsof",       "getconf",
                                          "arch",       "ulimit",
                                          "umask",      "eval",
                                          "source",     ".",
                                          "exit",       "return",
                                          "export",     "read",
                                          "local",      "declare",
                                          "typeset",    "readonly",
                                          "mapfile",    "readarray",
                                          "let",        "set",
                                          "shift",      "trap",
                                          "nodeset",    "timeout",
                                          "time",       "tee",
                                          "xargs",      "ping",
                                          "users",      "groups",
                                          "locale",     "showquota",
                                          "quota",      "ldconfig",
                                          "pkg-config", "mpirun",
                                          "ssh",        "wait",
                                          "break",      "continue",
                                          "kill",       "unset",
                                          "shopt",      "pushd",
                                          "popd",       "dnsdomainname",
                                          "logname",    "tty",
                                          "diff",       "cmp"};

bool only_reads(const shell::Command& command) {
  if (command.words.empty() || command.kind != shell::Command::Kind::simple) return true;
  const std::string verb = lint::base_name(first_word(command));
  const auto has_reader = [&] {  // srun -N1 -n1 hostname
    return std::any_of(command.words.begin(), command.words.end(), [](const shell::Word& word) {
      return is_one_of(k_readers, literal_of(word));
    });
  };
  const bool asks =
      command.words.size() > 1 && (literal_of(command.words[1]).starts_with("--version") ||
                                   literal_of(command.words[1]) == "-c");
  if (lint::is_python(verb)) return asks;
  return is_one_of(k_readers, verb) || asks || (verb == "srun" && has_reader());
}

// Commands of substitutions, at any depth.
void each_inside(const Item& item, const std::function<void(const shell::Command&)>& see) {
  const auto in_word = [&see](const shell::Word& word) {
    for (const shell::Piece& piece : word.pieces) each_command(piece.commands, see);
  };
  each_command(*item.statement, [&](const shell::Command& command) {
    for (const shell::Assignment& one : command.assignments) {
      in_word(one.value);
      std::for_each(one.elements.begin(), one.elements.end(), in_word);
    }
    std::for_each(command.words.begin(), command.words.end(), in_word);
  });
}

}  // namespace

namespace {

// > FILE, &> FILE; not 2>&1 and > /dev/null
bool writes(const shell::Redirection& one) {
  const std::string target = literal_of(one.target);
  const bool is_descriptor =
      one.sign == ">&" && !target.empty() &&
      (target == "-" || target.find_first_not_of("0123456789") == std::string::npos);
  const bool is_stream =
      target == "/dev/null" || target == "/dev/stderr" || target == "/dev/stdout";
  return one.sign.find('>') != std::string::npos && !is_descriptor && !is_stream;
}

// sed -i, perl -pi -e
bool edits_in_place(const shell::Command& command) {
  const std::string verb = lint::base_name(first_word(command));
  return (verb == "sed" || verb == "perl") &&
         std::any_of(command.words.begin(), command.words.end(), [](const shell::Word& word) {
           const std::string text = literal_of(word);
           const std::size_t letters = std::min(text.find_first_not_of("-npEr"), text.size());
           return text.starts_with("--in-place") ||
                  (text.starts_with('-') && text.substr(letters).starts_with('i'));
         });
}

// Of a file that lists hosts.
bool is_name_of_list(const shell::Word& file) {
  const shell::Piece* only = only_piece(file);
  if (only != nullptr && only->kind == shell::Piece::Kind::parameter) return true;
  std::string name;
  for (const shell::Piece& piece : file.pieces) name += piece.text;
  name = in_lower_case(name);
  constexpr std::string_view k_of_lists[] = {
      "host", "node", "machine", "list", "addr", "ip", "master", "rank"};
  return std::any_of(std::begin(k_of_lists), std::end(k_of_lists), [&name](std::string_view part) {
    return name.find(part) != std::string::npos;
  });
}

}  // namespace

bool writes_file(const Item& item) {
  bool found = false;
  each_command(*item.statement, [&](const shell::Command& command) {
    found = found || first_word(command) == "tee" ||
            std::any_of(command.redirections.begin(), command.redirections.end(), writes);
  });
  return found;
}

bool updates_job(const Item& item) {
  return std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
    return run->name() == "scontrol" && run->words.size() > 1 &&
           run->words[1].value.text == "update";
  });
}

bool only_writes_lists(const Item& item) {
  bool are_lists = true;
  each_command(*item.statement, [&](const shell::Command& command) {
    for (const shell::Redirection& one : command.redirections)
      are_lists = are_lists && (!writes(one) || is_name_of_list(one.target));
    if (edits_in_place(command)) are_lists = are_lists && is_name_of_list(command.words.back());
  });
  return are_lists;
}

bool reads_settings(const Item& item) {
  constexpr std::string_view k_environments[] = {"activate",
                                                 "deactivate",
                                                 ".bashrc",
                                                 ".bash_profile",
                                                 ".profile",
                                                 "bashrc",
                                                 "profile",
                                                 "conda.sh",
                                                 "mamba.sh",
                                                 "modules.sh",
                                                 "lmod.sh",
                                                 "bash"};
  return std::any_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
    return (run->name() == "source" || run->name() == ".") && run->words.size() > 1 &&
           !is_one_of(k_environments, lint::base_name(run->words[1].value.text));
  });
}

bool reads_only(const std::string& command) {
  return is_one_of(k_readers, command);
}

bool is_run_once(const Item& item) {
  constexpr std::string_view k_removers[] = {"rm", "mv", "rmdir"};
  const SetNames& sets = item.sets;
  const bool sets_nothing = sets.variables.empty() && sets.arrays.empty() &&
                            sets.functions.empty() && sets.exported.empty() &&
                            sets.limits.empty() && !sets.changes_folder;
  const auto removes = [&](const lint::Run* run) { return is_one_of(k_removers, run->name()); };
  if (sets_nothing && std::any_of(item.runs.begin(), item.runs.end(), removes)) return true;
  if ((!sets_nothing && !item.is_alone) || item.statement->background) return false;
  const std::string source = in_lower_case(item.source);
  for (const std::string_view own : {"tmp",
                                     "/dev/shm",
                                     "local",
                                     "slurm_",
                                     "scontrol",
                                     "hostname",
                                     "start",
                                     "serve",
                                     "daemon",
                                     "mps",
                                     "ray ",
                                     "dask",
                                     "redis",
                                     "mongo"})
    if (source.find(own) != std::string::npos) return false;
  // A function of a file, or $ACTIVATE from it, may change the shell, which the next step needs,
  // too.
  return writes_file(item) || std::any_of(item.runs.begin(), item.runs.end(), [&](const auto* run) {
           const std::string& name = run->name();
           const bool is_open = name.starts_with(lint::k_unknown)
                                    ? name.find('/') == std::string::npos
                                    : item.calls_function && is_work_by_name(name);
           return does_work(*run) && (is_program(*run) || !is_open);
         });
}

bool overwrites(const Item& item) {
  constexpr std::string_view k_copying[] = {
      "cp", "dd", "gunzip", "install", "rsync", "scp", "tar", "unzip"};
  return !item.only_sets() &&
         (writes_file(item) ||
          std::any_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
            return !run->around.is_in_function && is_one_of(k_copying, verb_of(*run));
          }));
}

bool acts_inside(const Item& item) {
  bool acts = false;
  each_inside(item,
              [&acts](const shell::Command& command) { acts = acts || !only_reads(command); });
  return acts;
}

bool reads_exit_code(const Item& item) {
  for (const std::string_view code : {"$?", "${?}", "PIPESTATUS"})
    if (item.source.find(code) != std::string::npos) return true;
  return false;
}

bool submits(const Item& item) {
  bool submits = false;
  each_command(*item.statement, [&submits](const shell::Command& command) {
    submits = submits || first_word(command) == "sbatch";
  });
  return submits;
}

bool starts_ranks(std::string_view text) {
  for (const std::string& line : split(text, '\n')) {
    const std::string_view code = trim(line);
    if (code.starts_with('#')) continue;
    const Names words = words_of(code);
    if (words.count("srun") + words.count("mpirun") + words.count("mpiexec") > 0) return true;
  }
  return false;
}

}  // namespace dts::convert
