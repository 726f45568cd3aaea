// SPDX-License-Identifier: Apache-2.0
// Shell scripts: any text has a tree whose places lie within it and within each other.
#include "core/shell/parse.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;
using namespace dts::shell;

namespace {

void check(const Statements& all, Span within);

bool lies_in(const Span& span, const Span& within) {
  return span.begin <= span.end && within.begin <= span.begin && span.end <= within.end;
}

void check(const Word& word, Span within) {
  must(lies_in(word.span, within));
  for (const Piece& piece : word.pieces) {
    must(lies_in(piece.span, within));
    check(piece.commands, within);
    for (const Word& part : piece.words) check(part, within);
  }
}

void check(const Command& command, Span within) {
  must(lies_in(command.span, within));
  for (const Assignment& one : command.assignments) {
    must(lies_in(one.span, within) && !one.name.empty());
    check(one.value, within);
    for (const Word& element : one.elements) check(element, within);
  }
  for (const Word& word : command.words) check(word, within);
  for (const Redirection& one : command.redirections) {
    must(lies_in(one.span, within) && !one.sign.empty());
    check(one.target, within);
  }
  for (const Statements& part : command.conditions) check(part, within);
  for (const Statements& part : command.bodies) check(part, within);
}

void check(const Statements& all, Span within) {
  for (const Statement& one : all) {
    must(one.pipelines.size() == one.joints.size() + 1);
    for (const Pipeline& pipeline : one.pipelines) {
      must(!pipeline.commands.empty());
      for (const Command& command : pipeline.commands) check(command, within);
    }
  }
}

}  // namespace

DTS_FUZZ_TARGET(input) {
  const Script script = parse(input);
  const Span whole{0, input.size()};
  check(script.statements, whole);
  for (const HereDocument& one : script.here_documents) check(one.text, whole);
  for (const Span& comment : script.comments)
    must(lies_in(comment, whole) && comment.begin < comment.end && input[comment.begin] == '#');
  for (const Problem& problem : script.problems)
    must(lies_in(problem.span, whole) && !problem.message.empty());
}
