// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/once.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/names.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr std::string_view k_of_a_node[] = {
    "mktemp", "hostname", "shuf", "openssl", "ss", "netstat", "python", "python3"};

// srun(1), OUTPUT ENVIRONMENT VARIABLES.
constexpr std::string_view k_of_a_rank[] = {
    "SLURM_PROCID", "SLURM_NODEID", "SLURM_LOCALID", "SLURM_TASK_PID", "SLURM_TOPOLOGY_ADDR"};

// date(1): what prints another time than now.
bool is_of_now(const shell::Command& command) {
  return std::none_of(command.words.begin() + 1, command.words.end(), [](const shell::Word& word) {
    if (word.pieces.empty() || word.pieces[0].text.starts_with("+")) return false;  // a format
    const std::string text = literal_of(word);
    return text.empty() || (text.starts_with("-") && text != "-u" && text != "--utc" &&
                            !text.starts_with("-I") && !text.starts_with("--iso"));
  });
}

struct Dates {
  std::size_t seconds = 0;  // date +%s, whose differences are times
  std::size_t others = 0;
  bool are_of_now = true;
};

Dates dates_in(const shell::Statements& statements) {
  Dates dates;
  each_command(statements, [&](const shell::Command& command) {
    if (first_word(command) != "date") return;
    const bool is_seconds =
        command.words.size() == 2 && literal_of(command.words[1]).starts_with("+%s");
    (is_seconds ? dates.seconds : dates.others) += 1;
    dates.are_of_now = dates.are_of_now && is_of_now(command);
  });
  return dates;
}

// Of numbers, whose program takes its random bytes from a file.
constexpr const char* k_shuf =
    "shuf() { command shuf --random-source=<(while printf \"$(printf %s \"$DTSUBMIT_RUN_BEGAN\" | "
    "md5sum | sed 's/ .*//; s/../\\\\x&/g')\"; do :; done) \"$@\"; }\n";

constexpr const char* k_uuidgen =
    "uuidgen() { printf %s \"$USER$DTSUBMIT_RUN_BEGAN\" | md5sum | sed -E "
    "'s/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/\\1-\\2-\\3-\\4-\\5/'; }\n";

bool runs_one(const shell::Script& script, std::string_view verb) {
  bool runs = false;
  each_command(script.statements,
               [&](const shell::Command& one) { runs = runs || first_word(one) == verb; });
  return runs;
}

// shuf -i 10000-60000 -n 1, and nothing else by shuf.
bool chooses_number(const shell::Script& script) {
  bool chooses = false;
  bool is_only = true;
  each_command(script.statements, [&](const shell::Command& one) {
    if (first_word(one) != "shuf") return;
    chooses = true;
    is_only =
        is_only && std::any_of(one.words.begin(), one.words.end(), [](const shell::Word& word) {
          const std::string text = word.pieces.empty() ? "" : word.pieces[0].text;
          return text.starts_with("-i") || text.starts_with("--input-range");
        });
  });
  return chooses && is_only;
}

}  // namespace

std::string same_for_all(std::string_view text) {
  std::string lines;
  const shell::Script script = shell::parse(text);
  const Dates dates = dates_in(script.statements);
  if (dates.are_of_now && dates.seconds < 2 && dates.seconds + dates.others > 0)
    lines += "date() { command date -d \"@$DTSUBMIT_RUN_BEGAN\" \"$@\"; }\n";
  if (runs_one(script, "uuidgen")) lines += k_uuidgen;
  if (chooses_number(script)) lines += k_shuf;
  if (used_names(text).count("RANDOM") > 0) lines += "RANDOM=$DTSUBMIT_RUN_BEGAN\n";
  return lines;
}

std::size_t size_of_own_name(std::string_view text) {
  constexpr std::string_view k_options[] = {"",
                                            " -s",
                                            " -f",
                                            " -i",
                                            " -I",
                                            " --short",
                                            " --fqdn",
                                            " --long",
                                            " --ip-address",
                                            " --all-ip-addresses"};
  for (const auto& [open, close] : {std::pair{"$(", ")"}, {"`", "`"}})
    for (const std::string_view path : {"hostname", "/bin/hostname", "/usr/bin/hostname"})
      for (const std::string_view option : k_options) {
        const std::string whole = std::string(open).append(path).append(option) + close;
        if (text.starts_with(whole)) return whole.size();
      }
  for (const std::string_view name : k_names_of_node) {
    for (const std::string_view short_name : {"", "%%.*", "%.*"}) {
      const std::string whole = "${" + std::string(name).append(short_name) + "}";
      if (text.starts_with(whole)) return whole.size();
    }
    const std::size_t end = name.size() + 1;
    if (text.starts_with('$') && text.substr(1).starts_with(name) &&
        (text.size() == end || !shell::is_name_char(text[end])))
      return end;
  }
  return 0;
}

Names variables_of_node(std::string_view text) {
  Names names;
  each_expansion(shell::parse(text).statements, [&](const shell::Piece& piece) {
    const bool is_parameter = piece.kind == shell::Piece::Kind::parameter;
    if (is_parameter &&
        (is_one_of(k_names_of_node, piece.text) || is_one_of(k_of_a_rank, piece.text)))
      names.insert(piece.text);
  });
  return names;
}

std::vector<std::string> computed_anew(std::string_view text) {
  Names names;
  const shell::Script script = shell::parse(text);
  const bool is_number = chooses_number(script);
  const auto see = [&](const shell::Command& command) {
    if (command.words.empty()) return;
    const std::string verb = first_word(command);
    if (is_one_of(k_of_a_node, verb) && !(verb == "shuf" && is_number)) names.insert(verb);
  };
  const auto see_substitutions = [&](const shell::Word& word) {
    for (const shell::Piece& piece : word.pieces) each_command(piece.commands, see);
  };
  each_command(script.statements, [&](const shell::Command& command) {
    for (const shell::Assignment& one : command.assignments) see_substitutions(one.value);
    for (const shell::Word& word : command.words) see_substitutions(word);
  });
  if (text.find("$$") != std::string_view::npos) names.insert("$$");
  return {names.begin(), names.end()};
}

}  // namespace dts::convert
