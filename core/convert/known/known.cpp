// SPDX-License-Identifier: Apache-2.0
#include "core/convert/known/known.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/known/sequence.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;
using TextKind = KnownText::Kind;

// sbatch(1): set in every job's batch script.
constexpr std::string_view k_always_set[] = {"SLURM_JOB_ID",
                                             "SLURM_JOBID",
                                             "SLURM_JOB_NAME",
                                             "SLURM_JOB_NODELIST",
                                             "SLURM_NODELIST",
                                             "SLURM_CLUSTER_NAME",
                                             "SLURM_SUBMIT_DIR",
                                             "SLURM_JOB_PARTITION",
                                             "SLURMD_NODENAME",
                                             "SLURM_NODEID",
                                             "SLURM_PROCID",
                                             "SLURM_LOCALID"};

// bash(1): these change by themselves.
constexpr std::string_view k_changed_by_shell[] = {"RANDOM",
                                                   "SECONDS",
                                                   "BASHPID",
                                                   "LINENO",
                                                   "OLDPWD",
                                                   "EPOCHSECONDS",
                                                   "EPOCHREALTIME",
                                                   "HOSTNAME",
                                                   "BASH_SOURCE",
                                                   "SHLVL",
                                                   "PPID",
                                                   "UID",
                                                   "EUID",
                                                   "BASH_VERSION",
                                                   "SHELLOPTS"};

// A file that sets up a tool of the system, and knows nothing of this script's variables.
bool is_file_of_tool(std::string_view path) {
  if (path.starts_with("/etc/profile") || path == "activate") return true;
  for (const std::string_view end : {"/activate",
                                     "conda.sh",
                                     "mamba.sh",
                                     "modules.sh",
                                     "lmod.sh",
                                     ".bashrc",
                                     ".bash_profile",
                                     ".profile",
                                     "/init/bash",
                                     "/init/sh",
                                     "setvars.sh"})
    if (path.ends_with(end)) return true;
  return false;
}

std::string last_text_of(const shell::Word& word) {
  return word.pieces.empty() || word.pieces.back().kind != Piece::Kind::literal
             ? ""
             : word.pieces.back().text;
}

void add_defaults(const shell::Word& word, Names& names) {
  for (const Piece& one : word.pieces)
    if (sets_default(one)) names.insert(one.text);
}

}  // namespace

Known::Known(const shell::Script& script,
             const Resolver& resolver,
             const std::vector<std::string>& arguments,
             bool has_environment)
    : resolver_(resolver), has_environment_(has_environment), has_one_folder_(true) {
  bool shifts = false;
  for (const shell::Statement& one : script.statements) {
    const SetNames names = set_names(one);
    own_.insert(names.variables.begin(), names.variables.end());
    own_.insert(names.arrays.begin(), names.arrays.end());
    has_one_folder_ = has_one_folder_ && !names.changes_folder;
  }
  each_command(script.statements, [&](const Command& command) {
    for (const shell::Word& word : command.words) add_defaults(word, own_);
    const std::string verb = first_word(command);
    shifts = shifts || verb == "shift" || verb == "set" || verb == "getopts";
  });
  if (arguments.empty() || shifts) return;
  for (std::size_t i = 0; i < arguments.size(); ++i) values_[std::to_string(i + 1)] = arguments[i];
  values_["#"] = std::to_string(arguments.size());
}

void Known::forget(const SetNames& names) {
  for (const auto* all : {&names.variables, &names.arrays})
    for (const std::string& name : *all) {
      values_[name] = std::nullopt;
      arrays_.erase(name);
    }
}

void Known::see(const Command& command) {
  const std::string verb = first_word(command);
  if (verb == "source" || verb == ".") {
    const bool is_of_tool =
        command.words.size() > 1 && is_file_of_tool(last_text_of(command.words[1]));
    trust_ = is_of_tool ? std::max(trust_, Trust::own_names) : Trust::nothing;
  } else if (verb == "eval") {
    trust_ = Trust::nothing;
  } else if (verb == "module" || verb == "ml" || verb == "conda" || verb == "spack" ||
             verb == "mamba" || verb == "micromamba") {
    trust_ = std::max(trust_, Trust::own_names);
  }
}

void Known::follow(const shell::Statement& statement) {
  const SetNames names = set_names(statement);
  each_command(statement, [this](const Command& command) { see(command); });
  changing_.insert(names.converted.begin(), names.converted.end());
  if (!names.functions.empty()) {
    changing_.insert(names.variables.begin(), names.variables.end());
    changing_.insert(names.arrays.begin(), names.arrays.end());
    return;
  }
  const Command* command = simple_command(statement);
  const bool is_plain =
      command != nullptr && !statement.background && command->redirections.empty();
  if (!is_plain || !follow_plain(*command, names)) forget(names);
}

// False: the command is not one whose effect on variables is known.
bool Known::follow_plain(const Command& command, const SetNames& names) {
  const std::string verb = first_word(command);
  const bool is_declaration =
      verb == "export" || verb == "declare" || verb == "readonly" || verb == "typeset";
  if (command.words.empty() || is_declaration) {
    follow_assignments(command, names);
    return true;
  }
  if (verb == ":") {
    set_defaults(command, names);
    return true;
  }
  if (verb != "unset" || !names.arrays.empty()) return false;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string name = literal_of(command.words[i]);
    own_.insert(name);
    values_[name] = std::string();
    arrays_.erase(name);
  }
  return true;
}

void Known::follow_assignments(const Command& command, const SetNames& names) {
  SetNames others = names;  // N in M=$((N++))
  for (const shell::Assignment& one : command.assignments) {
    assign(one);
    for (const std::string& name : set_within(one))
      if (name != one.name) values_[name] = std::nullopt;
    others.variables.erase(one.name);
    others.arrays.erase(one.name);
  }
  forget(others);
}

void Known::assign(const shell::Assignment& one) {
  const auto before = arrays_.find(one.name);
  if (one.is_array) {
    const auto elements = spent_ < k_most_of_values ? words(one.elements) : std::nullopt;
    std::vector<std::string> all;
    if (one.appends && before != arrays_.end()) all = before->second;
    const bool is_known = elements && (!one.appends || before != arrays_.end());
    values_[one.name] = std::nullopt;
    if (!is_known) return (void)arrays_.erase(one.name);
    all.insert(all.end(), elements->begin(), elements->end());
    for (const std::string& element : *elements) spent_ += element.size();
    arrays_[one.name] = std::move(all);
    return;
  }
  arrays_.erase(one.name);
  const KnownText before_text = one.appends ? variable(one.name) : KnownText{TextKind::exact};
  const KnownText value = text(one.value);
  spent_ += value.text.size();
  const bool is_known = !one.is_element && value.is_exact() && before_text.is_exact() &&
                        spent_ < k_most_of_values &&
                        before_text.text.size() + value.text.size() <= k_longest_value;
  values_[one.name] =
      is_known ? std::optional<std::string>(before_text.text + value.text) : std::nullopt;
}

// : ${NAME:=value}
void Known::set_defaults(const Command& command, const SetNames& names) {
  SetNames others = names;
  Names defaults;
  for (const shell::Word& word : command.words) add_defaults(word, defaults);
  for (const std::string& name : defaults) others.variables.erase(name);
  forget(others);
  for (const shell::Word& word : command.words)
    for (const Piece& one : word.pieces)
      if (sets_default(one)) {
        shell::Word alone;
        alone.pieces.push_back(one);
        const KnownText value = text(alone);
        values_[one.text] =
            value.is_exact() ? std::optional<std::string>(value.text) : std::nullopt;
      }
}

KnownText Known::variable(const std::string& name) const {
  if (changing_.count(name) > 0) return {};
  if (name.size() > 1 && name[0] == '#') {
    const auto count = elements(name.substr(1));
    return count ? KnownText{TextKind::exact, std::to_string(*count)} : KnownText{};
  }
  if (const auto found = values_.find(name); found != values_.end())
    return found->second ? KnownText{TextKind::exact, *found->second} : KnownText{};
  if (name.empty() || !shell::is_name_begin(name[0]) || is_one_of(k_changed_by_shell, name))
    return {};
  if (is_one_of(k_always_set, name)) return {TextKind::some};
  const auto value = resolver_.variable(name);
  const bool is_sized = name.starts_with("SLURM_");
  if (is_sized || (name == "PWD" && has_one_folder_))
    return value ? KnownText{TextKind::exact, *value} : KnownText{};
  const bool is_trusted =
      trust_ == Trust::all || (trust_ == Trust::own_names && own_.count(name) > 0);
  if (!has_environment_ || !is_trusted || name.starts_with("SLURM") || name == "PWD") return {};
  return {TextKind::exact, value.value_or(""), value.has_value()};
}

std::optional<std::size_t> Known::elements(const std::string& array) const {
  if (changing_.count(array) > 0) return std::nullopt;
  if (const auto all = arrays_.find(array); all != arrays_.end()) return all->second.size();
  const auto count = counts_.find(array);
  return count == counts_.end() ? std::nullopt : count->second;
}

KnownText Known::text(const shell::Word& word) const {
  return text_of(word, variables());
}

std::optional<std::int64_t> Known::number(std::string_view expression) const {
  return number_of(expression, variables());
}

// "${NAME[@]}", {1..4}, $(seq 4); nullopt: another word.
std::optional<bool> Known::add_several(const Piece& one, std::vector<std::string>& words) const {
  if (one.kind == Piece::Kind::parameter && one.operation == "[@]") {
    const auto array = arrays_.find(one.text);
    if (array == arrays_.end() || changing_.count(one.text) > 0) return false;
    words.insert(words.end(), array->second.begin(), array->second.end());
    return true;
  }
  if (one.kind == Piece::Kind::parameter &&
      (one.operation == "![@]" || (one.operation == "![*]" && !one.quoted))) {
    const auto count = elements(one.text);
    if (!count || *count > k_most_turns) return false;
    for (std::size_t i = 0; i < *count; ++i) words.push_back(std::to_string(i));
    return true;
  }
  if (one.quoted) return std::nullopt;
  if (one.kind == Piece::Kind::literal && is_range(one.text)) return add_range(one.text, words);
  const auto numbers = one.kind == Piece::Kind::command ? sequence_of(one, *this) : std::nullopt;
  if (!numbers) return std::nullopt;
  words.insert(words.end(), numbers->begin(), numbers->end());
  return true;
}

bool Known::add_word(const shell::Word& word, std::vector<std::string>& words) const {
  const Piece* piece = only_piece(word);
  if (piece != nullptr)
    if (const auto added = add_several(*piece, words)) return *added;
  const KnownText value = text(word);
  if (!value.is_exact()) return false;
  const bool is_quoted = std::all_of(
      word.pieces.begin(), word.pieces.end(), [](const Piece& one) { return one.quoted; });
  if (!word.pieces.empty() && is_quoted) {
    words.push_back(value.text);
    return true;
  }
  if (value.text.find_first_of("*?[{~") != std::string::npos) return false;
  for (const std::string& line : split(value.text, '\n'))
    for (const std::string& part : split(line, ' '))
      if (const std::string_view one = trim(part); !one.empty()) words.emplace_back(one);
  return true;
}

std::optional<std::vector<std::string>> Known::words(const std::vector<shell::Word>& words) const {
  std::vector<std::string> all;
  for (const shell::Word& word : words)
    if (!add_word(word, all) || all.size() > k_most_turns) return std::nullopt;
  return all;
}

}  // namespace dts::convert
