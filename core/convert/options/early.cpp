// SPDX-License-Identifier: Apache-2.0
#include "core/convert/options/early.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/filters.hpp"

#include <algorithm>
#include <functional>

namespace dts::convert {
namespace {

bool has_open_pattern(const shell::Word& word) {
  return std::any_of(word.pieces.begin(), word.pieces.end(), [](const shell::Piece& piece) {
    return piece.kind == shell::Piece::Kind::literal && !piece.quoted &&
           piece.text.find_first_of("*?[") != std::string::npos;
  });
}

bool has_letter(const shell::Command& command, std::string_view letters) {
  return std::any_of(command.words.begin(), command.words.end(), [&](const shell::Word& word) {
    return option_word(word).find_first_of(letters) != std::string::npos;
  });
}

// A command of a substitution says the same in any folder. `is_first`: of its pipeline.
bool is_same_anywhere(const shell::Command& command, bool is_first) {
  constexpr std::string_view k_names[] = {"echo",
                                          "printf",
                                          "scontrol",
                                          "expr",
                                          "seq",
                                          "uuidgen",
                                          "whoami",
                                          "id",
                                          "true",
                                          "nproc",
                                          "hostname",
                                          "basename",
                                          "nvidia-smi",
                                          "dirname"};
  if (command.kind != shell::Command::Kind::simple) return false;
  const auto& redirections = command.redirections;
  if (std::any_of(redirections.begin(), redirections.end(), [](const shell::Redirection& one) {
        return one.sign == "<" || one.sign == "<>";
      }))
    return false;
  if (std::any_of(command.words.begin(), command.words.end(), has_open_pattern)) return false;
  const std::string name = first_word(command);
  if (is_one_of(k_names, name)) return true;
  if (name == "date") return !has_letter(command, "rf");
  if (name == "shuf") return has_letter(command, "ie");
  const bool has_text =
      std::any_of(redirections.begin(), redirections.end(), [](const shell::Redirection& one) {
        return one.sign.starts_with("<<");
      });
  return (!is_first || has_text) && is_filter(command);
}

void each_substitution(const shell::Word& word,
                       const std::function<void(const shell::Pipeline&)>& see) {
  for (const shell::Piece& piece : word.pieces) {
    for (const shell::Statement& statement : piece.commands)
      for (const shell::Pipeline& pipeline : statement.pipelines) see(pipeline);
    for (const shell::Word& inner : piece.words) each_substitution(inner, see);
  }
}

// All substitutions of the item, those within others included.
bool are_same_anywhere(const Item& item) {
  bool are_same = true;
  const auto see = [&](const shell::Pipeline& pipeline) {
    for (const shell::Command& one : pipeline.commands)
      are_same = are_same && is_same_anywhere(one, &one == &pipeline.commands.front());
  };
  each_command(*item.statement, [&](const shell::Command& command) {
    for (const shell::Word& word : command.words) each_substitution(word, see);
    for (const shell::Assignment& one : command.assignments) {
      each_substitution(one.value, see);
      for (const shell::Word& element : one.elements) each_substitution(element, see);
    }
  });
  return are_same;
}

// Its values may be others in another folder.
bool depends_on_folder(const Item& item) {
  const bool has_pattern = item.source.find("=(") != std::string::npos &&
                           item.source.find_first_of("*?") != std::string::npos;
  return has_pattern || item.used.count("PWD") > 0 || item.used.count("OLDPWD") > 0 ||
         !are_same_anywhere(item);
}

class EarlyReader {
 public:
  EarlyReader(const Resolver& resolver, Draft& draft) : resolver_(resolver), draft_(draft) {}

  // False: lines behind this one stay as they are.
  bool read(Part& part) {
    const lint::Run* run = run_of(part.item);
    if (run == nullptr) return false;
    const auto& words = run->words;
    const std::string& name = run->name();
    if ((name == "module" || name == "ml") && !has_environment_) return modules(part, *run);
    const bool activates =
        name == "conda" && words.size() == 3 && words[1].value.text == "activate";
    if (activates && !has_environment_ && words[2].is_literal)
      return environment(part, "conda", words[2].value.text);
    const bool sources = (name == "source" || name == ".") && words.size() == 2;
    constexpr std::string_view k_activate = "/bin/activate";
    if (sources && !has_environment_ && words[1].is_literal &&
        words[1].value.text.starts_with('/') && words[1].value.text.ends_with(k_activate))
      return environment(
          part,
          "venv",
          words[1].value.text.substr(0, words[1].value.text.size() - k_activate.size()));
    if (name == "cd" && words.size() == 2) return !asks_folder_ && folder(part, words[1]);
    return false;
  }

  // The part is a line of the set-up if what it sets is needed: OUT=$PWD, OUT=$(pwd),
  // FILES=(*.txt).
  void pass(const Part& part) {
    asks_folder_ = asks_folder_ ||
                   (part.verdict.kind == Verdict::Kind::if_needed && depends_on_folder(part.item));
  }

  // Exports do not depend on modules, but a folder must not change what they say.
  [[nodiscard]] static bool is_passed(const Part& part) {
    if (part.verdict.kind != Verdict::Kind::kept) return true;
    const shell::Command* command = simple_command(*part.item.statement);
    return command != nullptr && part.item.only_sets() &&
           part.item.source.find_first_of("`(") == std::string::npos &&
           part.item.used.count("PATH") == 0 && part.item.used.count("LD_LIBRARY_PATH") == 0 &&
           part.item.used.count("PYTHONPATH") == 0 && part.item.used.count("PWD") == 0;
  }

 private:
  static const lint::Run* run_of(const Item& item) {
    const shell::Command* command = simple_command(*item.statement);
    const bool is_plain = item.runs.size() == 1 && command != nullptr &&
                          command->redirections.empty() && command->assignments.empty() &&
                          !item.statement->background;
    return is_plain ? item.runs[0] : nullptr;
  }

  bool modules(Part& part, const lint::Run& run) {
    const bool is_load = run.name() == "module" && run.words.size() > 2 &&
                         (run.words[1].value.text == "load" || run.words[1].value.text == "add");
    if (!is_load) return false;
    std::vector<std::string> names;
    for (std::size_t i = 2; i < run.words.size(); ++i) {
      const std::string& one = run.words[i].value.text;
      if (!run.words[i].is_literal || one.starts_with('-') || one.find(',') != std::string::npos)
        return false;
      names.push_back(one);
    }
    std::vector<std::string>& all = draft_.settings["module"].texts;
    all.insert(all.end(), names.begin(), names.end());
    settle(part, "module", names);
    return true;
  }

  bool environment(Part& part, const std::string& option, const std::string& value) {
    has_environment_ = true;
    if (problem_of(option, {value})) return false;
    draft_.settings[option].texts = {value};
    settle(part, option, {value});
    return true;
  }

  bool folder(Part& part, const lint::ExpandedWord& word) {
    FlatWord flat{{Segment::Kind::literal, word.value.text, true}};
    if (!word.value.is_known() || !word.value.is_certain) return false;
    const auto path = resolver_.text(flat);
    if (!path || !path->starts_with('/') || problem_of("chdir", {*path})) return false;
    draft_.settings["chdir"].texts = {*path};
    settle(part, "chdir", {*path});
    return true;
  }

  static void settle(Part& part, const std::string& option, const std::vector<std::string>& texts) {
    part.verdict.kind = Verdict::Kind::option;
    part.verdict.why = shown(option, texts);
  }

  const Resolver& resolver_;
  Draft& draft_;
  bool has_environment_ = false;
  bool asks_folder_ = false;  // a line above depends on the folder, so cd stays behind it
};

// Keeps cd $SLURM_SUBMIT_DIR behind another cd: only without one is it unnecessary. `has_moved`:
// the job starts in another folder.
void keep_returns(std::vector<Part>& parts, bool has_moved) {
  for (Part& part : parts) {
    if (!part.item.sets.changes_folder) continue;
    if (has_moved && part.role == Role::around && part.verdict.kind == Verdict::Kind::unnecessary &&
        part.item.used.count("SLURM_SUBMIT_DIR") > 0)
      part.verdict = {};
    has_moved = has_moved || part.verdict.kind != Verdict::Kind::unnecessary;
  }
}

}  // namespace

void early_options(std::vector<Part>& parts, const Resolver& resolver, Draft& draft) {
  keep_returns(parts, draft.settings.count("chdir") > 0);
  if (draft.settings.count("chdir") > 0) return;
  EarlyReader reader(resolver, draft);
  for (Part& part : parts) {
    if (part.role != Role::around) return;
    if (EarlyReader::is_passed(part))
      reader.pass(part);
    else if (!reader.read(part))
      return;
  }
}

}  // namespace dts::convert
