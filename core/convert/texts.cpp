// SPDX-License-Identifier: Apache-2.0
#include "core/convert/texts.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/errexit.hpp"
#include "core/convert/options/limits.hpp"
#include "core/convert/words/once.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr const char* k_folder = "SCRIPT_FOLDER";  // where the set-up's cd leads
constexpr const char* k_state = "SCRIPT_STATE";    // its arrays, functions and arguments
constexpr const char* k_code = "SCRIPT_CODE";      // the exit code of its last line
// Without a value, cd "" would stay.
constexpr const char* k_take_folder = "cd \"${SCRIPT_FOLDER:?}\" || exit\n";
constexpr const char* k_take_state = "eval \"$SCRIPT_STATE\"\n";
// $? as behind the set-up's last line, also under set -e.
constexpr const char* k_take_code = "(exit \"${SCRIPT_CODE:?}\") && true\n";
constexpr const char* k_arguments = "printf 'set --'; [ $# -eq 0 ] || printf ' %q' \"$@\"";

// bash(1), Shell Variables: each shell has its own.
constexpr std::string_view k_of_bash[] = {"PWD",
                                          "OLDPWD",
                                          "UID",
                                          "EUID",
                                          "PPID",
                                          "SECONDS",
                                          "RANDOM",
                                          "LINENO",
                                          "FUNCNAME",
                                          "PIPESTATUS",
                                          "IFS",
                                          "OPTARG",
                                          "OPTIND",
                                          "REPLY",
                                          "SHLVL",
                                          "HOSTTYPE"};

// Names of `all` that `text` uses.
std::vector<std::string> used_of(const Names& all, const Names& used) {
  std::vector<std::string> names;
  std::set_intersection(
      all.begin(), all.end(), used.begin(), used.end(), std::back_inserter(names));
  return names;
}

Names names_in(const Program& program, const SetUpText& set_up) {
  Names names = program.exports;
  if (!program.needs_shell()) return names;
  names.merge(used_names(program.source()));
  names.merge(words_of(program.source()));
  if (set_up.bodies == nullptr) return names;
  Names all;
  set_up.bodies->add_used(names, all);
  return all;
}

std::string declarations(const SetUpText& set_up, const Names& used) {
  std::vector<std::string> commands;
  const auto arrays = used_of(set_up.sets.arrays, used);
  const auto functions = used_of(set_up.sets.functions, used);
  if (!arrays.empty()) commands.push_back("declare -p " + join(arrays, " "));
  if (!functions.empty()) commands.push_back("declare -f " + join(functions, " "));
  return join(commands, "; ");
}

// $NAME, ${NAME...
bool expands(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool is_whole = end == text.size() || !shell::is_name_char(text[end]);
    const bool has_sign =
        at > 0 && (text[at - 1] == '$' || (at > 1 && text[at - 1] == '{' && text[at - 2] == '$'));
    if (is_whole && has_sign) return true;
  }
  return false;
}

// Variables of `source` that nothing in sight sets: a file that the set-up reads may.
std::vector<std::string> set_by_files(const SetUpText& set_up,
                                      const std::string& source,
                                      const Options& options) {
  std::vector<std::string> names;
  SetNames own;
  for (const shell::Statement& one : shell::parse(source).statements) {
    const SetNames sets = set_names(one);
    own.variables.insert(sets.variables.begin(), sets.variables.end());
    own.arrays.insert(sets.arrays.begin(), sets.arrays.end());
  }
  const Names calculated = names_in_arithmetic(source);
  for (const std::string& name : used_names(source)) {
    const bool is_seen = own.variables.count(name) + own.arrays.count(name) +
                             set_up.sets.variables.count(name) + set_up.sets.arrays.count(name) +
                             set_up.sets.exported.count(name) >
                         0;
    const bool is_known = is_given(name) || is_of_environment(name) || is_one_of(k_of_bash, name) ||
                          name.starts_with("DTSUBMIT_") || name.starts_with("BASH") ||
                          name.starts_with("SLURM");
    const bool is_used = expands(source, name) || calculated.count(name) > 0;
    if (!is_seen && !is_known && is_used &&
        !(options.environment && options.environment(name.c_str())))
      names.push_back(name);
  }
  return names;
}

// The script's shell expands $PWD, before its launcher changes to the folder in the container.
std::vector<FlatWord> from_folder_before(std::vector<FlatWord> words) {
  for (FlatWord& word : words)
    for (Segment& one : word)
      if (one.kind == Segment::Kind::source && (one.text == "$PWD" || one.text == "${PWD}"))
        one.text = "$OLDPWD";
  return words;
}

// Hands on all functions if one of `names` is a function.
std::string functions_of_files(const Names& names, const std::string& state) {
  const std::string all = state.empty() ? "declare -f" : state + "; declare -f";
  return "if [ -n \"$(declare -F " +
         join(std::vector<std::string>(names.begin(), names.end()), " ") + ")\" ]; then\nexport " +
         k_state + "=\"$(" + all + ")\"\nfi\n";
}

// The program's shell begins with what the set-up hands on in SCRIPT_STATE.
bool takes_state(const Program& program, const SetUpText& set_up) {
  return program.takes_arguments || !program.functions.empty() ||
         !declarations(set_up, names_in(program, set_up)).empty();
}

// A failure within one of them ends the shell only by set -e.
bool uses_functions(const Program& program, const SetUpText& set_up) {
  return !program.functions.empty() ||
         !used_of(set_up.sets.functions, names_in(program, set_up)).empty();
}

// The settings of patterns that the shell of `text` needs, before it takes over functions among
// `names`; empty: there is no pattern.
std::string patterns_for(const std::string& text, const SetUpText& set_up, const Names& names) {
  const bool has_pattern = text.find_first_of("*?[(") != std::string::npos ||
                           !used_of(set_up.sets.functions, names).empty();
  return has_pattern ? set_up.patterns : "";
}

bool uses_own_arguments(const std::string& text) {
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
    std::size_t next = at + 1;
    if (next < text.size() && text[next] == '{') ++next;
    if (next < text.size() &&
        std::string_view("0123456789@*#").find(text[next]) != std::string::npos)
      return true;
  }
  return false;
}

// Empty: there are none.
std::string arguments_line(const Options& options) {
  if (options.arguments.empty()) return "";
  std::string line = "set --";
  for (const std::string& one : options.arguments) line += " " + shell_quote(one);
  return line + "\n";
}

}  // namespace

std::string with_exports(const SetUpText& set_up,
                         const Program& program,
                         const SetUpText& tear_down,
                         const Names& later,
                         const Options& options) {
  std::string text = same_for_all(set_up.text) + set_up.text;
  const Names words = words_of(text);
  const bool needs_arguments =
      uses_own_arguments(text) || words.count("shift") + words.count("getopts") > 0;
  if (needs_arguments) text = arguments_line(options) + text;
  Names used = names_in(program, set_up);
  used.insert(later.begin(), later.end());
  std::string state = declarations(set_up, used);
  if (program.takes_arguments) state += (state.empty() ? "" : "; ") + std::string(k_arguments);
  std::vector<std::string> names = used_of(set_up.sets.variables, used);
  std::erase_if(names, [&](const std::string& name) {
    return set_up.sets.exported.count(name) > 0 && set_up.sets.inherited.count(name) == 0;
  });
  if (set_up.reads_settings)  // also in a text for a shell: bash -c '... $NAME'
    for (const std::string& name :
         set_by_files(set_up, program.source() + "\n" + tear_down.text, options))
      names.push_back(name);
  if (!names.empty()) text += "export " + join(names, " ") + "\n";
  if (!state.empty()) text += std::string("export ") + k_state + "=\"$(" + state + ")\"\n";
  Names functions = program.functions;
  functions.insert(tear_down.of_files.begin(), tear_down.of_files.end());
  if (!functions.empty()) text += functions_of_files(functions, state);
  if (set_up.sets.changes_folder) text += std::string("export ") + k_folder + "=$PWD\n";
  if (!set_up.sets.limits.empty()) text += hand_on_limits(set_up.sets.limits);
  return text;
}

std::string with_state(const SetUpText& tear_down,
                       const SetUpText& set_up,
                       const Names& used,
                       const Options& options) {
  const std::string& text = tear_down.text;
  std::string made = patterns_for(text, set_up, used);
  if (!tear_down.of_files.empty() || !declarations(set_up, used).empty()) made += k_take_state;
  if (uses_own_arguments(text)) made += arguments_line(options);
  if (set_up.sets.changes_folder) made += k_take_folder;
  if (!set_up.sets.limits.empty()) made += k_take_limits;
  return made + text;
}

std::vector<std::string> command_of(const Program& program,
                                    const SetUpText& set_up,
                                    const Options& options) {
  if (program.words.empty() && program.text.empty()) return {};  // the program is lost
  std::vector<std::string> command;
  if (!program.needs_shell() && !set_up.sets.changes_folder && set_up.sets.limits.empty() &&
      program.folder.empty()) {
    for (const FlatWord& word : program.words) command.push_back(*plain(word));
    const bool lacks_name =
        command.size() == 3 && command[1] == "-c" && uses_own_arguments(command[2]);
    if (lacks_name) command.push_back(options.path.empty() ? "script" : options.path);
    return command;
  }
  std::string text = patterns_for(program.source(), set_up, names_in(program, set_up));
  if (takes_state(program, set_up)) text += k_take_state;
  if (set_up.sets.changes_folder) text += k_take_folder;
  if (!set_up.sets.limits.empty()) text += k_take_limits;
  if (!program.folder.empty()) text += "cd " + program.folder + " || exit\n";
  const std::string code = set_up.hands_on_code ? k_take_code : "";
  const std::string words =
      to_source(program.folder.empty() ? program.words : from_folder_before(program.words));
  text += program.text.empty()
              ? same_for_all(words) + code + "exec " + words
              : failure_line(program.text, program.failures, uses_functions(program, set_up)) +
                    code + program.text;
  command = {"bash", "-c", text};
  if (program.takes_arguments || !uses_own_arguments(program.source())) return command;
  const auto& arguments = program.arguments ? *program.arguments : options.arguments;
  command.push_back(options.path.empty() ? "script" : options.path);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

void note_what_is_computed(Program& program) {
  if (!program.text.empty() || !program.needs_shell()) return;
  const std::string words = to_source(program.words);
  if (!same_for_all(words).empty()) program.notes.emplace_back(k_same_for_all);
  if (const auto anew = computed_anew(words); !anew.empty())
    program.notes.push_back(join(anew, ", ") +
                            ": each rank computes its own; the script does so once");
}

Names handed_on(const Program& program, const SetUpText& set_up) {
  Names names = set_up.sets.exported;
  names.insert(program.exports.begin(), program.exports.end());
  const std::string source = program.needs_shell() ? program.source() : "";
  Names used = used_names(source);
  // Where there is arithmetic, every word may be a name.
  const Names calculated = names_in_arithmetic(source);
  std::erase_if(used, [&](const std::string& name) {
    return set_up.sets.variables.count(name) + calculated.count(name) == 0 &&
           !expands(source, name);
  });
  used.merge(used_names(program.folder));
  for (const std::string& name : used)
    if (!is_given(name) && shell::is_name_begin(name[0])) names.insert(name);
  if (takes_state(program, set_up)) names.insert(k_state);
  if (set_up.sets.changes_folder) names.insert(k_folder);
  if (!set_up.sets.limits.empty()) names.insert(k_limits_handed_on);
  if (set_up.hands_on_code) names.insert(k_code);
  return names;
}

std::string shell_text_of(const std::vector<std::string>& command) {
  constexpr std::size_t k_longest_shown = 200;
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(shell_quote(word));
  std::string text = join(words, " ");
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > k_longest_shown) text = text.substr(0, k_longest_shown - 4) + " ...";
  return text;
}

}  // namespace dts::convert
