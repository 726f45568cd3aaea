// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/made_names.hpp"

#include "core/base/text/text.hpp"
#include "core/base/variable_name.hpp"
#include "core/convert/words/once.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>

namespace dts::convert {
namespace {

// It computes one of these anew: "mktemp", "$$".
bool computes(const Item& item, const Names& what) {
  const std::vector<std::string> anew = computed_anew(item.source);
  return meets(Names(anew.begin(), anew.end()), what);
}

// The variables that lines set which make something, directly or as parts of paths and lists.
Names names_made_by(const std::vector<Part>& parts, const std::function<bool(const Item&)>& makes) {
  Names names;
  for (const Part& part : parts) {
    if (part.role != Role::around || !part.is_kept) continue;
    if (!makes(part.item) && !(part.item.only_sets() && meets(part.item.used, names))) continue;
    for (const auto* all : {&part.item.sets.variables, &part.item.sets.arrays})
      names.insert(all->begin(), all->end());
  }
  return names;
}

// Of `names`, those that every program gets by its environment.
Names exported_of(const std::vector<Part>& parts, const Names& names) {
  Names exported;
  for (const Part& part : parts)
    if (part.role == Role::around && part.is_kept)
      for (const std::string& name : part.item.sets.exported)
        if (names.count(name) > 0) exported.insert(name);
  return exported;
}

// Each program and each node may have its own: TMPDIR, TRITON_CACHE_DIR, MPLCONFIGDIR.
bool is_scratch(const std::string& name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  return name == "TMP" || has("TMPDIR") || (has("TEMP") && !has("TEMPLATE") && !has("TEMPERA")) ||
         has("CACHE") || has("CONFIGDIR");
}

// The set-up of each program runs mktemp again.
void lose_temporary_names(const std::vector<Part>& parts,
                          std::vector<Program>& programs,
                          const std::vector<std::size_t>& places) {
  const Names names =
      names_made_by(parts, [](const Item& item) { return computes(item, {"mktemp"}); });
  const Names exported = exported_of(parts, names);
  const bool is_for_all = !std::all_of(exported.begin(), exported.end(), is_scratch);
  std::vector<Program*> users;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (is_for_all || meets(parts[places[i]].item.used, names)) users.push_back(&programs[i]);
  if (users.size() < 2) return;
  for (Program* program : users)
    program->losses.emplace_back(
        "the set-up of each step runs mktemp again, so that steps do not find each other's files: "
        "write a name with $SLURM_JOB_ID in it");
}

// Where a path begins on the node's own disk, as far as its name says.
bool is_of_node(std::string_view path) {
  constexpr std::string_view k_disks[] = {
      "/tmp", "/var/tmp", "/dev/shm", "/local", "/lscratch", "/raid"};
  constexpr std::string_view k_names[] = {"tmp", "local", "lscratch", "jobscratch"};
  if (!path.starts_with('$'))
    return std::any_of(std::begin(k_disks), std::end(k_disks), [&](std::string_view disk) {
      return path.starts_with(disk);
    });
  path.remove_prefix(path.starts_with("${") ? 2 : 1);
  const auto* const end = std::find_if_not(path.begin(), path.end(), &shell::is_name_char);
  const auto length = static_cast<std::size_t>(end - path.begin());
  const std::string name = in_lower_case(path.substr(0, length));
  return std::any_of(std::begin(k_names), std::end(k_names), [&](std::string_view part) {
    return name.find(part) != std::string::npos;
  });
}

// Without quotes, and `$$` for arithmetic with it: "${SCRATCH}/run_$$".
std::string written_in(const shell::Word& word) {
  using Kind = shell::Piece::Kind;
  std::string text;
  for (const shell::Piece& piece : word.pieces) {
    const bool is_parameter = piece.kind == Kind::parameter;
    const bool is_process = piece.kind == Kind::arithmetic
                                ? piece.text.find("$$") < std::string::npos
                                : is_parameter && piece.text == "$";
    if (piece.kind == Kind::literal)
      text += piece.text;
    else if (is_process)
      text += "$$";
    else
      text += is_parameter ? "${" + piece.text + piece.operation + "}" : "$()";
  }
  return text;
}

// Of -p FOLDER, -dpFOLDER and --tmpdir=FOLDER. Empty: that of TMPDIR; nullopt: another option.
std::optional<std::string> folder_in(const std::string& option, const std::string& next) {
  if (option.starts_with("--tmpdir"))
    return option.substr(std::min(option.find('='), option.size() - 1) + 1);
  if (option.starts_with("--")) return std::nullopt;
  const std::size_t at = option.find('p');
  if (at != std::string::npos) return at + 1 < option.size() ? option.substr(at + 1) : next;
  return option.find('t') != std::string::npos ? std::optional<std::string>("") : std::nullopt;
}

// The folder in which mktemp(1) makes a file, or the path with which its name begins.
std::string place_of_mktemp(const shell::Command& command) {
  std::string folder;
  std::string name;
  bool is_below_tmpdir = false;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string word = written_in(command.words[i]);
    const std::string next = i + 1 < command.words.size() ? written_in(command.words[i + 1]) : "";
    if (!word.starts_with('-')) {
      name = word;
    } else if (const auto value = folder_in(word, next)) {
      is_below_tmpdir = true;
      if (!value->empty()) folder = *value;
    }
    const bool has_value =
        word == "--suffix" ||
        (word.starts_with('-') && !word.starts_with("--") && word.find('p') == word.size() - 1);
    if (has_value) ++i;
  }
  if (!folder.empty()) return folder;
  return is_below_tmpdir || name.empty() ? "/tmp" : name;
}

// What each node makes for itself.
struct Made {
  bool is_shared_name = false;  // mktemp -d -p $SCRATCH, out/run_$$: in a folder of all nodes
  bool is_number = false;       // SEED=$$
};

void see_process(const shell::Word& word, bool is_expression, Made& made) {
  std::string text = written_in(word);
  if (text.find("$$") == std::string::npos) return;
  const std::size_t equals = text.find('=');  // eval NAME=$$
  if (equals != std::string::npos && is_variable_name(text.substr(0, equals)))
    text.erase(0, equals + 1);
  // ${NAME:-/tmp/run_$$}
  const std::size_t sign = text.starts_with("${") ? text.find_first_of("-=+") : std::string::npos;
  const bool is_default = sign < std::min(text.find("$$"), text.find('}'));
  if (is_expression || text.find_first_not_of("$0123456789") == std::string::npos)
    made.is_number = true;
  else if (!is_of_node(text) &&
           !(is_default && is_of_node(std::string_view(text).substr(sign + 1))))
    made.is_shared_name = true;
}

// read NAME <<< $$, printf -v NAME, eval NAME=$$, ((NAME = $$)), for NAME in run_$$
bool sets_by_words(const shell::Command& command) {
  constexpr std::string_view k_setters[] = {
      "read", "mapfile", "readarray", "printf", "let", "eval"};
  return command.kind != shell::Command::Kind::simple || is_one_of(k_setters, first_word(command));
}

Made made_by(const Item& item) {
  Made made;
  if (item.source.find("mktemp") == std::string::npos &&
      item.source.find("$$") == std::string::npos)
    return made;
  std::set<const shell::Command*> own;  // of no substitution: what they print sets nothing
  for (const shell::Pipeline& pipeline : item.statement->pipelines)
    for (const shell::Command& one : pipeline.commands) own.insert(&one);
  each_command(*item.statement, [&](const shell::Command& one) {
    for (const shell::Assignment& part : one.assignments) {
      see_process(part.value, false, made);
      for (const shell::Word& element : part.elements) see_process(element, false, made);
    }
    if (first_word(one) == "mktemp") {
      made.is_shared_name = made.is_shared_name || !is_of_node(place_of_mktemp(one));
    } else if (own.count(&one) == 0 || sets_by_words(one)) {
      const bool is_expression =
          one.kind == shell::Command::Kind::arithmetic || first_word(one) == "let";
      for (const shell::Word& word : one.words) see_process(word, is_expression, made);
      for (const shell::Redirection& to : one.redirections) see_process(to.target, false, made);
    }
  });
  return made;
}

// Each node runs the set-up, where the script's shell made one name for all of them.
void lose_names_of_nodes(const std::vector<Part>& parts,
                         std::vector<Program>& programs,
                         const std::vector<std::size_t>& places) {
  const auto lose = [&](bool Made::*what, const char* why) {
    const Names names =
        names_made_by(parts, [what](const Item& item) { return made_by(item).*what; });
    const Names exported = exported_of(parts, names);
    const bool is_for_all = !std::all_of(exported.begin(), exported.end(), is_scratch);
    for (std::size_t i = 0; i < places.size(); ++i)
      if (number_in(programs[i].settings, "nodes") != 1 &&
          (is_for_all || meets(parts[places[i]].item.used, names)))
        programs[i].losses.emplace_back(why);
  };
  lose(&Made::is_shared_name,
       "the set-up of each node makes a name of its own with mktemp or $$, so that nodes do not "
       "find each other's files: write a name with $SLURM_JOB_ID in it");
  lose(&Made::is_number,
       "the set-up of each node computes $$ anew, and theirs differ: write $SLURM_JOB_ID");
}

}  // namespace

void lose_made_names(const std::vector<Part>& parts,
                     std::vector<Program>& programs,
                     const std::vector<std::size_t>& places,
                     bool has_many_nodes) {
  lose_temporary_names(parts, programs, places);
  if (has_many_nodes) lose_names_of_nodes(parts, programs, places);
}

void lose_values_of_roles(const std::vector<Part>& parts, std::vector<Program>& programs) {
  const Names names = names_made_by(parts, [](const Item& item) {
    return computes(item, {"mktemp", "netstat", "openssl", "shuf", "ss"});
  });
  const Names exported = exported_of(parts, names);
  for (const std::string& name : names) {
    const bool is_for_all = exported.count(name) > 0 && !is_scratch(name);
    std::vector<Program*> users;
    for (Program& program : programs)
      if (is_for_all || used_names(program.source()).count(name) > 0) users.push_back(&program);
    if (users.size() < 2) continue;
    users.back()->losses.push_back(
        "the set-up of each role computes " + name +
        " for itself, and theirs differ: write a fixed value, or, for a port of a role, "
        "DTSUBMIT_ROLE_NAME_PORT");
  }
}

}  // namespace dts::convert
