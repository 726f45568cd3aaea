// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/nodes.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/words/once.hpp"
#include "core/lint/lint.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// Programs, not functions that a sourced file may have set to change the shell.
constexpr std::string_view k_programs[] = {
    "scp",         "ssh",      "rsync",       "pip",
    "pip3",        "git",      "make",        "cmake",
    "wget",        "curl",     "unzip",       "mv",
    "rm",          "python",   "python3",     "huggingface-cli",
    "uv",          "poetry",   "npm",         "aws",
    "gsutil",      "gcc",      "nvcc",        "bash",
    "sh",          "cp",       "tar",         "gzip",
    "gunzip",      "zip",      "ln",          "touch",
    "rclone",      "azcopy",   "s3cmd",       "mail",
    "sed",         "awk",      "chmod",       "find",
    "dvc",         "hf",       "zstd",        "7z",
    "xz",          "sqsh",     "enroot",      "rmdir",
    "perl",        "R",        "julia",       "Rscript",
    "split",       "sort",     "tensorboard", "java",
    "matlab",      "octave",   "docker",      "podman",
    "singularity", "apptainer"};

// They change the shell, which each node's program needs.
constexpr std::string_view k_shell[] = {
    "module", "ml",     "source", ".",     "conda", "mamba",     "micromamba", "spack",
    "cd",     "export", "set",    "unset", "shopt", "umask",     "eval",       "ulimit",
    "alias",  "pyenv",  "pushd",  "popd",  "shift", "deactivate"};

// They do no harm on each node.
constexpr std::string_view k_no_matter_where[] = {
    "mkdir", "echo",     "printf",     "trap",  "[",    "[[",     "test",  "true",  ":",
    "date",  "pwd",      "ls",         "which", "type", "env",    "hash",  "wait",  "sleep",
    "local", "hostname", "stat",       "free",  "df",   "id",     "lscpu", "cat",   "false",
    "read",  "declare",  "nvidia-smi", "wandb", "exit", "return", "let",   "break", "continue"};

constexpr std::string_view k_first_node =
    "$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)";

std::string first_node(OwnPlace place) {
  std::string name(k_first_node);
  return place == OwnPlace::address ? address_of(name) : name;
}

// srun -N1 [-n1] pip install: the script's only such task, on the first node.
bool is_of_one_node(const lint::Launch& step) {
  const auto is_one = [&step](std::string_view name, bool if_absent) {
    const lint::LaunchOption* option = step.option(name);
    return option == nullptr ? if_absent : option->value == "1";
  };
  constexpr std::string_view k_places[] = {
      "nodelist", "relative", "exclude", "nodefile", "distribution"};
  return step.launcher == lint::Launcher::srun && is_one("nodes", false) &&
         is_one("ntasks", true) && is_one("ntasks-per-node", true) &&
         std::none_of(std::begin(k_places), std::end(k_places), [&step](std::string_view name) {
           return step.option(name) != nullptr;
         });
}

bool names_script(std::string_view text) {
  for (const std::string_view part : {"$0", "${0}", "BASH_SOURCE"})
    if (text.find(part) != std::string_view::npos) return true;
  return false;
}

}  // namespace

bool is_program(const lint::Run& run) {
  return run.name().find('/') != std::string::npos || is_one_of(k_programs, verb_of(run)) ||
         run.launch.starts_processes;
}

RunsOn runs_on(const Item& item) {
  const auto any = [&](const auto& has) {
    return std::any_of(
        item.runs.begin(), item.runs.end(), [&](const lint::Run* run) { return has(*run); });
  };
  const auto changes_shell = [](const lint::Run& run) { return is_one_of(k_shell, verb_of(run)); };
  const auto does_more = [&](const lint::Run& run) {
    return !changes_shell(run) && !is_one_of(k_no_matter_where, verb_of(run));
  };
  const auto is_launched = [](const lint::Run& run) {
    return run.launch.launcher != lint::Launcher::none && run.launch.program != "hostname" &&
           !is_of_one_node(run.launch);
  };
  const bool acts = writes_file(item) || acts_inside(item);
  if (any(is_launched) || (!any(does_more) && !acts)) return RunsOn::each;
  const bool sets = !item.is_alone && (!item.sets.variables.empty() || !item.sets.arrays.empty() ||
                                       !item.sets.functions.empty() || item.sets.changes_folder);
  if (sets || any(changes_shell)) return RunsOn::each_unlike;
  if (any(is_program) || acts || !item.calls_function) return RunsOn::first;
  const bool is_unknown = !item.calls_own_function && !named_commands(item).empty();
  return is_unknown ? RunsOn::first_unless_function : RunsOn::each_unlike;
}

std::string named_commands(const Item& item) {
  Names names;
  for (const lint::Run* run : item.runs) {
    if (is_one_of(k_no_matter_where, verb_of(*run))) continue;
    const std::string& name = run->name();
    const bool is_plain = std::all_of(name.begin(), name.end(), [](char one) {
      return shell::is_name_char(one) || one == '-' || one == '.';
    });
    if (name.empty() || !is_plain || name.starts_with('-')) return "";
    names.insert(name);
  }
  return join({names.begin(), names.end()}, " ");
}

namespace {

// True if one of them is no program, but a function.
std::string are_functions(const std::string& commands) {
  return "[[ $(type -t " + commands + ") == *function* ]]";
}

// wait $PID: on other nodes, this process is one of theirs, which the script does not wait for.
bool waits_for_some(const Item& item) {
  return std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
    return run->name() == "wait" && run->words.size() > 1;
  });
}

}  // namespace

std::string in_turn(const Item& item, const std::string& text, const Turn& turn) {
  const RunsOn where = runs_on(item);
  const bool is_open = where == RunsOn::first_unless_function;
  const bool is_pause = where == RunsOn::each && waits(item);  // for what this node has started
  if (where != RunsOn::first && !is_open && !is_pause) return text + "\n";
  if (is_pause && turn.others == Others::ignore) return text + "\n";
  // A failure that counts has ended the set-up in the line itself.
  const std::string end =
      std::to_string(turn.number) + (turn.is_code_read ? " && true\n" : " || true\n");
  const bool has_own = is_pause && !waits_for_some(item);
  const std::string waits = (has_own ? "wait\n" : "") + ("await_first_node " + end);
  if (turn.others == Others::lead && !is_open) return waits;
  const bool takes_code = reads_exit_code(item);  // which the question for the node would replace
  std::string made = takes_code ? "SCRIPT_CODE=$?\nif " : "if ";
  if (is_open) made += are_functions(named_commands(item));
  if (turn.others != Others::lead) made += std::string(is_open ? " || " : "") + "on_first_node";
  made += "; then\n";
  if (takes_code) made += "(exit \"$SCRIPT_CODE\") && true\n";
  made += text + "\n";
  if (turn.others == Others::wait) made += "first_node_did " + end;
  if (turn.others != Others::ignore) made += "else\n" + waits;
  return made + "fi\n";
}

std::string with_turns(std::string text, bool are_roles) {
  // Where there is no scontrol, each node runs the lines.
  constexpr std::string_view k_first =
      "on_first_node() { local first; first=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | "
      "head -n 1); [ \"$SLURMD_NODENAME\" = \"${first:-$SLURMD_NODENAME}\" ]; }\n";
  // The first role may be done before the others, and is then not in later attempts.
  const std::string folder =
      are_roles ? "$DTSUBMIT_JOB_DIR" : "$DTSUBMIT_RUN_DIR/attempt-$DTSUBMIT_ATTEMPT";
  const std::string file = "file=\"" + folder + "/first-node-$1\"";
  std::string functions;
  if (text.find("on_first_node; then") != std::string::npos) functions += k_first;
  if (text.find("first_node_did ") != std::string::npos)
    // Of a function, each node writes it, all at once.
    functions += "first_node_did() { local code=$? " + file +
                 "; local new=\"$file.$SLURMD_NODENAME.$$\"; echo $code >|\"$new\" && "
                 "mv \"$new\" \"$file\" || exit; return $code; }\n";
  // Opening the folder makes NFS ask for what is new in it.
  if (text.find("await_first_node ") != std::string::npos)
    functions += "await_first_node() { local " + file +
                 "; until [ -e \"$file\" ]; do ls \"${file%/*}\" >/dev/null; sleep 0.5; done; "
                 "return \"$(cat \"$file\")\"; }\n";
  return functions + text;
}

std::string with_first_node(const Item& item, std::string text) {
  if (!item.only_sets() || !item.sets.functions.empty() || !item.tail.empty()) return text;
  std::vector<lint::Finding> edits(1);
  each_expansion(shell::parse(text).statements, [&edits](const shell::Piece& piece) {
    const OwnPlace place = own_place(piece);
    if (place != OwnPlace::none) edits[0].edits.push_back({piece.span, first_node(place)});
  });
  return edits[0].edits.empty() ? text : lint::apply_edits(text, edits);
}

std::string note_on(const Item& item, bool has_many_nodes, bool is_tear_down) {
  const RunsOn where = has_many_nodes ? runs_on(item) : RunsOn::each;
  std::vector<std::string> notes;
  if (names_script(item.source))
    notes.emplace_back("$0 and BASH_SOURCE name the set-up's shell, not the script");
  if (where == RunsOn::first) notes.emplace_back("on the first node only, as in the script");
  if (where == RunsOn::first_unless_function)
    notes.emplace_back("on the first node only, as in the script, or on each if it is a function");
  // A tear-down has the time of its own.
  const bool watches = item.statement->background && watches_time(*item.statement);
  if (!is_tear_down && !watches && !same_for_all(item.source).empty())
    notes.emplace_back(k_same_for_all);
  const std::string source = has_many_nodes ? with_first_node(item, item.source) : item.source;
  if (source != item.source)
    notes.emplace_back("its node's name or address becomes that of the first node");
  std::vector<std::string> anew = computed_anew(source);
  for (const std::string& name : variables_of_node(source)) anew.push_back("$" + name);
  if (where != RunsOn::first && has_many_nodes && !item.sets.variables.empty() && !anew.empty())
    notes.push_back(join(anew, ", ") + ": each node computes its own; the script does so once");
  else if (where == RunsOn::each_unlike)
    notes.emplace_back("on each node; the script runs it on the first only");
  return join(notes, "; ");
}

std::string note_on_tear_down(const Item& item, const std::string& note) {
  if (item.only_sets() && !acts_inside(item)) return note;
  return "killed after 30 s, and a failure is only noted" + (note.empty() ? "" : "; " + note);
}

}  // namespace dts::convert
