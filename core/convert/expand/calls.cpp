// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/calls.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/expand/shapes.hpp"
#include "core/convert/words/extent.hpp"
#include "core/convert/words/names.hpp"
#include "core/convert/words/positional.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;
using shell::Statement;
using shell::Statements;

// Words of a body that mean something else outside of a function.
bool needs_function(const Statements& body, const std::string& name) {
  constexpr std::string_view k_needing[] = {
      "return", "shift", "set", "getopts", "trap", "eval", "declare", "typeset"};
  bool needs = false;
  each_command(body, [&](const Command& command) {
    const std::string verb = first_word(command);
    needs = needs || verb == name || is_one_of(k_needing, verb) ||
            command.kind == Command::Kind::function ||
            (verb == "local" && command.words.size() > 1);
  });
  return needs;
}

class CallWriter {
 public:
  CallWriter(std::string_view text,
             const shell::Script& script,
             const std::vector<Span>& programs,
             const Names& outside)
      : text_(text), script_(script), outside_(outside), made_{Rewrite(text)} {
    for (const Statement& one : script.statements) {
      const Command* function = whole_command(one);
      if (function == nullptr || function->kind != Command::Kind::function) continue;
      if (has_within(programs, function->span) || calls_one(*function))
        functions_[function->name] = functions_.count(function->name) > 0 ? nullptr : function;
    }
  }

  Expanded run() {
    list(script_.statements, {0, text_.size()});
    return std::move(made_);
  }

 private:
  // One of those that start programs, and that are defined before it.
  [[nodiscard]] bool calls_one(const Command& function) const {
    bool calls = false;
    each_command(function.bodies[0], [&](const Command& command) {
      calls = calls || functions_.count(first_word(command)) > 0;
    });
    return calls;
  }

  void list(const Statements& statements, const Span& range) {
    std::size_t at = range.begin;
    for (const Statement& one : statements) {
      const Span span = with_sign(text_, one);
      made_.script.keep({at, span.begin});
      if (!write(one)) made_.script.keep(span);
      at = std::max(at, span.end);
    }
    made_.script.keep({at, range.end});
  }

  // False: it stays as it is.
  bool write(const Statement& one) {
    const Command* command = whole_command(one);
    if (command == nullptr || command->kind == Command::Kind::function) return false;
    if (command->kind == Command::Kind::simple) return call(*command);
    if (command->bodies.empty()) return false;
    std::size_t at = command->span.begin;
    for (const Statements& body : command->bodies) {
      if (body.empty()) continue;
      const Span extent = extent_of(text_, script_, body);
      made_.script.keep({at, extent.begin});
      list(body, extent);
      at = extent.end;
    }
    made_.script.keep({at, command->span.end});
    return true;
  }

  bool call(const Command& call) {
    if (call.words.empty() || !call.assignments.empty()) return false;
    const auto found = functions_.find(first_word(call));
    if (found == functions_.end() || found->second == nullptr) return false;
    const Statements* body = body_of(*found->second);
    if (body == nullptr || found->second->span.end > call.span.begin ||
        changes_other(*body, found->first, call))
      return false;
    const Span extent = extent_of(text_, script_, *body);
    const auto edits = edits_for(*body, extent, call, text_);
    if (!edits || made_.script.text().size() + extent.end - extent.begin > k_longest_script)
      return false;
    std::size_t at = extent.begin;
    for (const Edit& edit : *edits) {
      made_.script.keep({at, edit.span.begin});
      made_.script.insert(edit.text);
      at = edit.span.end;
    }
    made_.script.keep({at, extent.end});
    made_.rows.push_back({{call.span}, Became::program, "", "the function's lines, written out"});
    return true;
  }

  // null: it cannot be written out.
  [[nodiscard]] const Statements* body_of(const Command& function) const {
    if (function.bodies.size() != 1 || function.bodies[0].size() != 1) return nullptr;
    const Statement& whole = function.bodies[0][0];
    const Command* group = whole_command(whole);
    if (group == nullptr || group->kind != Command::Kind::group || group->bodies.size() != 1 ||
        group->bodies[0].empty())
      return nullptr;
    const Statements& body = group->bodies[0];
    const bool has_documents = std::any_of(body.begin(), body.end(), [&](const Statement& one) {
      const Span documents = documents_of(text_, script_, one);
      return documents.begin < documents.end;
    });
    return has_documents || needs_function(body, function.name) ? nullptr : &body;
  }

  // A variable that is local to the body is another one outside of it.
  [[nodiscard]] bool changes_other(const Statements& body,
                                   const std::string& name,
                                   const Command& call) const {
    Names outside = outside_;
    for (const auto& [other, function] : functions_)
      if (function != nullptr && other != name) outside.merge(used_but_not_local(*function));
    bool changes = false;
    each_local(body, [&](const shell::Assignment& one) {
      changes = changes || (outside.count(one.name) > 0 && !keeps_value(one, call));
    });
    return changes;
  }

  [[nodiscard]] Names used_but_not_local(const Command& function) const {
    const Span& span = function.span;
    Names names = used_names(text_.substr(span.begin, span.end - span.begin));
    each_local(function.bodies[0],
               [&names](const shell::Assignment& one) { names.erase(one.name); });
    return names;
  }

  // local lr=$1 in a call with $lr.
  static bool keeps_value(const shell::Assignment& one, const Command& call) {
    const Piece* value = only_piece(one.value);
    if (value == nullptr || !is_positional(*value) || !value->operation.empty()) return false;
    const auto number = parse_number(value->text);
    if (!number || *number >= call.words.size()) return false;
    const Piece* argument = only_piece(call.words[*number]);
    return argument != nullptr && argument->kind == Piece::Kind::parameter &&
           argument->text == one.name && argument->operation.empty();
  }

  std::string_view text_;
  const shell::Script& script_;
  const Names& outside_;
  std::map<std::string, const Command*> functions_;  // null: there are several of that name
  Expanded made_;
};

}  // namespace

Names names_outside_functions(std::string_view text, const shell::Script& script) {
  Names names;
  for (const Statement& one : script.statements) {
    const Command* command = whole_command(one);
    if (command == nullptr || command->kind != Command::Kind::function)
      names.merge(used_names(text.substr(one.span.begin, one.span.end - one.span.begin)));
  }
  return names;
}

Expanded with_calls_written_out(std::string_view text,
                                const shell::Script& script,
                                const std::vector<Span>& programs,
                                const Names& outside) {
  return CallWriter(text, script, programs, outside).run();
}

}  // namespace dts::convert
