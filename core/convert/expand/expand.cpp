// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/expand.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/expand/condition.hpp"
#include "core/convert/expand/shapes.hpp"
#include "core/convert/expand/turns.hpp"
#include "core/convert/known/node_values.hpp"
#include "core/convert/words/extent.hpp"
#include "core/shell/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Statement;
using shell::Statements;

constexpr int k_deepest_list = 64;
constexpr std::size_t k_most_programs = 300;  // that loops may make; a job has 99 steps at most

class Expander {
 public:
  Expander(std::string_view text,
           const shell::Script& script,
           const std::vector<Span>& programs,
           Known& known,
           std::size_t nodes,
           bool decides)
      : text_(text),
        script_(script),
        programs_(programs),
        known_(known),
        nodes_(nodes, known),
        all_nodes_(nodes),
        decides_(decides),
        made_{Rewrite(text)} {}

  Expanded run() {
    list(script_.statements, {0, text_.size()}, 0);
    return std::move(made_);
  }

 private:
  // The statements in `range`, with what is between them.
  void list(const Statements& statements, const Span& range, int depth) {
    std::size_t at = range.begin;
    for (const Statement& one : statements) {
      const Span span = with_sign(text_, one);
      made_.script.keep({at, span.begin});
      if (!rewrite(one, span, depth)) {
        keep(one, span);
        follow(one);
      }
      at = std::max(at, span.end);
    }
    made_.script.keep({at, range.end});
  }

  // With the numbers of nodes in arrays, ${#NODES[@]}: its programs may be of roles, which see
  // other nodes.
  void keep(const Statement& one, const Span& span) {
    const SetNames sets = set_names(one);
    std::map<std::size_t, std::pair<std::string, Span>> counts;  // arrays, by where they stand
    if (decides_ && sets.functions.empty() && !has_documents(one))
      each_expansion({one}, [&](const shell::Piece& piece) {
        if (counts_elements(piece) && sets.arrays.count(piece.text) == 0 &&
            nodes_.nodes_of_array(piece.text))
          counts[piece.span.begin] = {piece.text, piece.span};
      });
    std::size_t at = span.begin;
    for (const auto& [begin, count] : counts) {
      const auto& [array, place] = count;
      if (begin < at || place.end > span.end) continue;
      made_.script.keep({at, begin});
      const std::size_t size = nodes_.nodes_of_array(array)->size();
      made_.script.insert(size == all_nodes_ ? "${SLURM_NNODES}" : std::to_string(size));
      at = place.end;
      for (std::size_t i = begin; i < at; ++i) made_.script.drop(i);
    }
    made_.script.keep({at, span.end});
  }

  void follow(const Statement& one) { convert::follow(one, known_, nodes_); }

  // False: it stays as it is.
  bool rewrite(const Statement& one, const Span& span, int depth) {
    if (!decides_ || has_documents(one) || depth > k_deepest_list) return false;
    if (one.pipelines.size() == 2 && !one.background) return joined(one);
    if (const Command* piped = piped_list(one)) return without_tee(*piped, span, depth);
    const Command* command = whole_command(one);
    if (command == nullptr) return false;
    if (command->kind == Command::Kind::simple && defaulted(*command)) {
      follow(one);
      return true;
    }
    if (command->kind == Command::Kind::branch) return branch(*command, depth);
    if (command->kind == Command::Kind::choice) return choice(*command, depth);
    if (command->kind == Command::Kind::each) return loop(*command, depth);
    return false;
  }

  [[nodiscard]] bool has_documents(const Statement& one) const {
    const Span documents = documents_of(text_, script_, one);
    return documents.begin < documents.end;
  }

  bool without_tee(const Command& list, const Span& span, int depth) {
    const Span body = extent_of(text_, script_, list.bodies[0]);
    drop(rest_of(span, {body}), "tee: each rank's output is in the run directory");
    this->list(list.bodies[0], body, depth + 1);
    return true;
  }

  // : ${NAME:=value} of a NAME that has none.
  bool defaulted(const Command& command) {
    if (command.words.size() != 2 || first_word(command) != ":") return false;
    const shell::Piece* piece = only_piece(command.words[1]);
    if (piece == nullptr || !sets_default(*piece)) return false;
    const shell::Piece& one = *piece;
    const std::size_t sign = one.operation.starts_with(":=") ? 2 : 1;
    const KnownText value = known_.variable(one.text);
    if (!value.is_exact() || (sign == 2 ? !value.text.empty() : value.is_set) ||
        one.span.end <= one.span.begin + 3)
      return false;
    const Span kept{one.span.begin + 2 + one.text.size() + sign, one.span.end - 1};
    if (kept.begin > kept.end) return false;
    const std::string quote = one.quoted ? "\"" : "";
    drop(rest_of(command.span, {kept}),
         "decided when the script is converted: " + reason(one.span));
    made_.script.insert(one.text + "=" + quote);
    made_.script.keep(kept);
    made_.script.insert(quote);
    return true;
  }

  // A && B, A || B
  bool joined(const Statement& one) {
    const auto outcome = outcome_of(one.pipelines[0], known_);
    if (!outcome) return false;
    const std::string why = reason(one.pipelines[0].span);
    const Span& second = one.pipelines[1].span;
    if (*outcome != (one.joints[0] == "&&")) {
      drop({one.span}, "not run: " + why);
      made_.script.insert(":");
      return true;
    }
    drop({{one.span.begin, second.begin}}, "decided when the script is converted: " + why);
    made_.script.keep({second.begin, one.span.end});
    Statement rest;
    rest.span = second;
    rest.pipelines.push_back(one.pipelines[1]);
    follow(rest);
    return true;
  }

  bool branch(const Command& command, int depth) {
    std::size_t taken = 0;
    std::string why;
    for (; taken < command.conditions.size(); ++taken) {
      const Statements& condition = command.conditions[taken];
      const auto outcome = outcome_of(condition, known_);
      if (!outcome) return false;
      const std::string facts = reason(condition[0].span);
      if (why.find(facts) == std::string::npos) why += (why.empty() ? "" : ", ") + facts;
      if (*outcome) break;
    }
    return only_body(command, taken, why, depth);
  }

  bool choice(const Command& command, int depth) {
    const auto taken = choice_of(command, known_);
    return taken && only_body(command, *taken, reason(command.words[0].span), depth);
  }

  // One of the bodies is run, or none.
  bool only_body(const Command& command, std::size_t taken, const std::string& why, int depth) {
    // That the script ends here is left to the shell: the set-up then fails with its message.
    if (taken < command.bodies.size() && ends_script(command.bodies[taken])) return false;
    std::vector<Span> bodies;
    for (const Statements& body : command.bodies)
      bodies.push_back(body.empty() ? Span{command.span.end, command.span.end}
                                    : extent_of(text_, script_, body));
    drop(rest_of(command.span, bodies), "decided when the script is converted: " + why);
    for (std::size_t i = 0; i < bodies.size(); ++i)
      if (i != taken && bodies[i].begin < bodies[i].end) drop({bodies[i]}, "not run: " + why);
    if (taken < bodies.size() && bodies[taken].begin < bodies[taken].end)
      list(command.bodies[taken], bodies[taken], depth + 1);
    else
      made_.script.insert(":");
    return true;
  }

  bool loop(const Command& command, int depth) {
    if (!has_within(programs_, command.span) || command.bodies.size() != 1 ||
        command.bodies[0].empty())
      return false;
    const auto turns = turns_of(command, text_, known_, nodes_);
    if (!turns) return false;
    const Statements& body = command.bodies[0];
    const Span range = extent_of(text_, script_, body);
    if (turns->second.empty()) {
      drop({command.span},
           "not run: the loop has no iterations, " + reason({command.span.begin, range.begin}));
      made_.script.insert(":");
      return true;
    }
    const std::size_t size = turns->second.size() * (range.end - range.begin);
    const std::size_t programs = turns->second.size() * programs_within(command.span);
    const bool are_roles = names_nodes(body) || starts_steps_beside(body);
    if (leaves_loop(body) || (has_background(body) && !are_roles) ||
        made_.script.text().size() + size > k_longest_script ||
        programs_made_ + programs > k_most_programs)
      return false;
    programs_made_ += programs;
    made_.rows.push_back({rest_of(command.span, {range}),
                          Became::program,
                          "",
                          fmt::format("its {} iterations are written out", turns->second.size())});
    for (const std::string& value : turns->second) {
      const std::string line = turns->first + "=" + value + "\n";
      made_.script.insert(line);
      for (const Statement& one : shell::parse(line).statements) follow(one);
      list(body, range, depth + 1);
      made_.script.insert("\n");
    }
    if (ends_with_semicolon(command.span.end)) made_.script.insert(":");
    return true;
  }

  // done; wait
  [[nodiscard]] bool ends_with_semicolon(std::size_t end) const {
    const std::size_t next = text_.find_first_not_of(" \t", end);
    return next != std::string_view::npos && text_[next] == ';' && text_.substr(next, 2) != ";;";
  }

  [[nodiscard]] std::size_t programs_within(const Span& span) const {
    return static_cast<std::size_t>(
        std::count_if(programs_.begin(), programs_.end(), [&span](const Span& one) {
          return one.begin >= span.begin && one.end <= span.end;
        }));
  }

  [[nodiscard]] std::string reason(const Span& span) const {
    const std::string facts = facts_of(text_.substr(span.begin, span.end - span.begin), known_);
    return facts.empty() ? "the condition is constant" : facts;
  }

  void drop(std::vector<Span> spans, std::string why) {
    made_.rows.push_back({std::move(spans), Became::unnecessary, "", std::move(why)});
  }

  std::string_view text_;
  const shell::Script& script_;
  const std::vector<Span>& programs_;
  Known& known_;
  NodeValues nodes_;
  std::size_t all_nodes_;
  std::size_t programs_made_ = 0;  // by loops, as if no condition omitted any
  bool decides_;
  Expanded made_;
};

}  // namespace

Expanded expanded(std::string_view text,
                  const shell::Script& script,
                  const std::vector<Span>& programs,
                  Known& known,
                  std::size_t nodes,
                  bool decides) {
  return Expander(text, script, programs, known, nodes, decides).run();
}

}  // namespace dts::convert
