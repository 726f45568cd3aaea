// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/beside_lines.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/roles/waiting.hpp"

#include <algorithm>
#include <initializer_list>

namespace dts::convert {
namespace {

// What they do, they do to the shell, or they find it done.
constexpr std::string_view k_quiet_commands[] = {
    "",        "module",   "ml",     "source", ".",         "conda",   "mamba",   "micromamba",
    "spack",   "eval",     "export", "unset",  "set",       "shopt",   "ulimit",  "umask",
    "declare", "readonly", "local",  "cd",     "pushd",     "popd",    "touch",   "chmod",
    "echo",    "printf",   "test",   "[",      "[[",        "true",    "false",   ":",
    "sleep",   "date",     "exit",   "return", "trap",      "wait",    "read",    "mapfile",
    "let",     "shift",    "break",  "type",   "command",   "which",   "ls",      "cat",
    "pwd",     "hostname", "uname",  "id",     "readarray", "dirname", "basename"};

// mkdir -p, ln -sf
bool accepts_what_is_there(const lint::Run& run) {
  const bool is_link = run.name() == "ln";
  if (run.name() != "mkdir" && !is_link) return false;
  return std::any_of(
      run.words.begin() + 1, run.words.end(), [is_link](const lint::ExpandedWord& word) {
        const std::string& text = word.value.text;
        const bool is_short = text.size() > 1 && text[0] == '-' && text[1] != '-';
        return text == (is_link ? "--force" : "--parents") ||
               (is_short && text.find(is_link ? 'f' : 'p') != std::string::npos);
      });
}

// conda create, spack install
bool changes_files(const lint::Run& run) {
  constexpr std::string_view k_changes[] = {
      "create", "install", "update", "remove", "env", "clean", "build"};
  const std::string& name = run.name();
  const bool is_manager = name == "conda" || name.ends_with("mamba") || name == "spack";
  return is_manager && run.words.size() > 1 && is_one_of(k_changes, run.words[1].value.text);
}

bool is_harmless(const Item& item, const Names& functions) {
  return !writes_file(item) && !item.statement->background &&
         std::all_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
           return (is_one_of(k_quiet_commands, run->name()) && !changes_files(*run)) ||
                  functions.count(run->name()) > 0 || accepts_what_is_there(*run);
         });
}

// RANK=0, also in --export=ALL,RANK=0
bool assigns(const std::string& text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end < text.size() && text[end] == '=' && (at == 0 || !shell::is_name_char(text[at - 1])))
      return true;
  }
  return false;
}

bool assigns_one_of(const Item& item, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&item](std::string_view name) {
    return assigns(item.source, name);
  });
}

bool has_rank_of_its_own(const Item& item) {
  return assigns_one_of(item, {"RANK", "NODE_RANK", "LOCAL_RANK", "GROUP_RANK", "SLURM_PROCID"});
}

// What a line that ends with `exit`, or a failing `wait` under set -e, does to programs for which
// the script has yet to wait.
class Waits {
 public:
  void follow(const Part& part) {
    const bool is_waiting = waits(part.item);
    ends_ = ends_ || (is_waiting && may_end_);
    has_waited_ = has_waited_ || is_waiting;
    std::size_t named = 0;  // wait $A && wait $B
    for (const lint::Run* run : part.item.runs) {
      const bool may_fail = run->name() == "wait" && run->words.size() > 1;
      named += may_fail ? 1 : 0;
      may_end_ = may_end_ || ends_script(*run) ||
                 (part.failures.stop && may_fail && !run->around.is_condition);
      const bool is_repeated = run->around.is_in_loop || run->around.is_in_function;
      ends_ = ends_ || (may_end_ && is_waiting && is_repeated);
    }
    ends_ = ends_ || named > 1;
  }

  [[nodiscard]] bool ends() const { return ends_; }

 private:
  [[nodiscard]] bool ends_script(const lint::Run& run) const {
    return has_waited_ && (run.name() == "exit" || run.name() == "return");
  }

  bool has_waited_ = false;
  bool may_end_ = false;
  bool ends_ = false;
};

}  // namespace

bool prepares_once(const std::vector<Part>& parts, std::size_t end) {
  Names harmless;  // functions of the script
  for (std::size_t i = 0; i < end; ++i) {
    const Part& part = parts[i];
    if (part.role != Role::around) continue;
    const Names& functions = part.item.sets.functions;
    if (!functions.empty()) {
      if (is_harmless(part.item, harmless)) harmless.insert(functions.begin(), functions.end());
      continue;
    }
    if (acts_inside(part.item) || (is_action(part) && !is_harmless(part.item, harmless)))
      return true;
  }
  return false;
}

bool ends_programs(const std::vector<Part>& parts) {
  constexpr std::string_view k_ending[] = {"kill", "pkill", "killall", "scancel"};
  const auto ends = [&](const lint::Run* run) {
    const auto& words = run->words;
    if (is_one_of(k_ending, run->name()))
      return words.size() < 2 || words[1].value.text != "-0";  // which only asks
    if (run->name() != "trap" || words.size() < 2) return false;
    const Names handled =
        words_of(words[words.size() > 2 && words[1].value.text == "--" ? 2 : 1].value.text);
    return std::any_of(std::begin(k_ending), std::end(k_ending), [&](std::string_view one) {
      return handled.count(one) > 0;
    });
  };
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    return std::any_of(part.item.runs.begin(), part.item.runs.end(), ends);
  });
}

bool are_one_training(const std::vector<Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return has_rank_of_its_own(part.item) ||
           assigns_one_of(part.item, {"WORLD_SIZE", "MASTER_ADDR"}) ||
           (part.role == Role::around && assigns_one_of(part.item, {"MASTER_PORT"}));
  });
}

bool numbers_ranks(const std::vector<Part>& parts) {
  return std::count_if(parts.begin(), parts.end(), [](const Part& part) {
           return has_rank_of_its_own(part.item);
         }) > 1;
}

bool ends_on_failure(const std::vector<Part>& parts) {
  Waits all;
  for (const Part& part : parts) all.follow(part);
  return all.ends();
}

bool acts_on_turns(const std::vector<Part>& parts, const std::vector<std::size_t>& places) {
  Names set;
  Names changing;
  for (std::size_t i = 0; i < places.back(); ++i)
    for (const std::string& name : parts[i].item.sets.variables)
      if (!set.insert(name).second && i > places.front()) changing.insert(name);
  return std::any_of(parts.begin() + static_cast<std::ptrdiff_t>(places.front()),
                     parts.end(),
                     [&](const Part& part) {
                       const bool exports = part.role == Role::around &&
                                            part.verdict.kind == Verdict::Kind::kept &&
                                            !part.item.sets.exported.empty();
                       return (exports || is_action(part)) && !waits(part.item) &&
                              meets(part.item.used, changing);
                     });
}

}  // namespace dts::convert
