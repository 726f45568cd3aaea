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

bool watches_time(const shell::Statement& statement) {
  bool watches = false;
  each_command(statement, [&watches](const shell::Command& one) {
    if (one.kind != shell::Command::Kind::loop) return;
    for (const auto* lists : {&one.conditions, &one.bodies})
      for (const shell::Statements& all : *lists)
        each_command(all, [&watches](const shell::Command& inner) {
          watches = watches || first_word(inner) == "date";
        });
  });
  return watches;
}

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

namespace {

// ${HOSTNAME%%.*}, ${HOSTNAME%.*} and ${HOSTNAME}
bool is_name_of_node(const shell::Piece& piece) {
  return is_one_of(k_names_of_node, piece.text) &&
         (piece.operation.empty() || piece.operation == "%%.*" || piece.operation == "%.*");
}

// awk -F. '{print $4}': it takes a part of a name or address.
bool splits_at_dots(const shell::Command& filter) {
  return std::any_of(filter.words.begin() + 1, filter.words.end(), [](const shell::Word& word) {
    return literal_of(word).find('.') != std::string::npos;
  });
}

// hostname and filters that take one of its words: hostname -I | awk '{print $1}'
OwnPlace place_printed_by(const shell::Pipeline& pipeline) {
  constexpr std::string_view k_hostname[] = {"hostname", "/bin/hostname", "/usr/bin/hostname"};
  constexpr std::string_view k_of_names[] = {"-s", "-f", "--short", "--fqdn", "--long"};
  constexpr std::string_view k_of_addresses[] = {"-i", "-I", "--ip-address", "--all-ip-addresses"};
  constexpr std::string_view k_filters[] = {"awk", "cut", "head", "tr", "xargs"};
  const auto& commands = pipeline.commands;
  const bool is_plain = std::all_of(commands.begin(), commands.end(), [](const auto& one) {
    return one.kind == shell::Command::Kind::simple && one.redirections.empty();
  });
  if (!is_plain || !is_one_of(k_hostname, first_word(commands[0])) ||
      commands[0].words.size() > 2 ||
      !std::all_of(commands.begin() + 1, commands.end(), [&](const auto& one) {
        return is_one_of(k_filters, first_word(one)) && !splits_at_dots(one);
      }))
    return OwnPlace::none;
  const std::string option = commands[0].words.size() > 1 ? literal_of(commands[0].words[1]) : "";
  if (is_one_of(k_of_addresses, option)) return OwnPlace::address;
  const bool is_name = commands[0].words.size() == 1 || is_one_of(k_of_names, option);
  return is_name && commands.size() == 1 ? OwnPlace::name : OwnPlace::none;
}

}  // namespace

OwnPlace own_place(const shell::Piece& piece) {
  if (piece.kind == shell::Piece::Kind::parameter)
    return is_name_of_node(piece) ? OwnPlace::name : OwnPlace::none;
  const bool is_one_pipeline = piece.kind == shell::Piece::Kind::command &&
                               piece.commands.size() == 1 && !piece.commands[0].background &&
                               piece.commands[0].pipelines.size() == 1;
  return is_one_pipeline ? place_printed_by(piece.commands[0].pipelines[0]) : OwnPlace::none;
}

std::string address_of(const std::string& host) {
  return "$(getent ahostsv4 \"" + host + "\" | awk '{ print $1; exit }')";
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
