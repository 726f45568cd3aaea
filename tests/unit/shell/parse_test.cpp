// SPDX-License-Identifier: Apache-2.0
// The shell's grammar, as a tree in words.
#include "core/shell/parse.hpp"

#include "core/shell/arithmetic.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace dts::shell;

namespace {

std::string shown(const Statements& all);

std::string shown(const Word& word) {
  std::string text;
  for (const Piece& piece : word.pieces) switch (piece.kind) {
      case Piece::Kind::literal:
        text += piece.quoted ? "'" + piece.text + "'" : piece.text;
        break;
      case Piece::Kind::parameter:
        text += "$" + piece.text + (piece.operation.empty() ? "" : "[" + piece.operation + "]");
        break;
      case Piece::Kind::command:
        text += "$(" + shown(piece.commands) + ")";
        break;
      case Piece::Kind::process:
        text += "<(" + shown(piece.commands) + ")";
        break;
      case Piece::Kind::arithmetic:
        text += "$((" + piece.text + "))";
    }
  return text;
}

std::string kind_of(Command::Kind kind) {
  constexpr const char* k_names[] = {
      "", "subshell", "group", "loop", "each", "if", "case", "function", "arithmetic", "test"};
  return k_names[static_cast<int>(kind)];
}

std::string shown(const Command& command) {
  std::string text = kind_of(command.kind);
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  if (!command.name.empty()) add(command.name);
  for (const Assignment& one : command.assignments) {
    std::string value = shown(one.value);
    for (const Word& element : one.elements) value += "<" + shown(element) + ">";
    add(one.name + (one.appends ? "+=" : "=") + value);
  }
  for (const Word& word : command.words) add(shown(word));
  for (const Statements& part : command.conditions) add("?{" + shown(part) + "}");
  for (std::size_t i = 0; i < command.bodies.size(); ++i) {
    if (i < command.choices.size())
      for (const Word& one : command.choices[i].patterns) add(shown(one) + ")");
    add("{" + shown(command.bodies[i]) + "}");
    if (i < command.choices.size()) text += command.choices[i].ending;
  }
  for (const Redirection& one : command.redirections)
    add((one.descriptor < 0 ? "" : std::to_string(one.descriptor)) + one.sign + shown(one.target));
  return text;
}

std::string shown(const Statements& all) {
  std::string text;
  for (const Statement& one : all) {
    if (!text.empty()) text += "; ";
    for (std::size_t i = 0; i < one.pipelines.size(); ++i) {
      if (i > 0) text += " " + one.joints[i - 1] + " ";
      if (one.pipelines[i].negated) text += "! ";
      for (std::size_t k = 0; k < one.pipelines[i].commands.size(); ++k)
        text += (k > 0 ? " | " : "") + shown(one.pipelines[i].commands[k]);
    }
    if (one.background) text += " &";
  }
  return text;
}

std::string tree(std::string_view text) {
  const Script script = parse(text);
  std::string all = shown(script.statements);
  for (const Problem& problem : script.problems) all += " !! " + problem.message;
  return all;
}

}  // namespace

TEST_CASE("simple commands, words and quotes") {
  CHECK(tree("") == "");
  CHECK(tree("a b  c\n") == "a b c");
  CHECK(tree("a; b & c && d || e | f") == "a; b &; c && d || e | f");
  CHECK(tree("a 'b c' \"d $e\" \\f") == "a 'b c' 'd '$e'' 'f'");
  CHECK(tree("a \\\n  b # c\nd") == "a b; d");
  CHECK(tree("a $'x\\ty'") == "a 'x\ty'");
  CHECK(tree("a b#c #d") == "a b#c");
  CHECK(tree("! a |& b") == "! a | b");
  CHECK(tree("time a") == "a");
}

TEST_CASE("expansions") {
  CHECK(tree("a $1 $@ ${b} ${c:-d} ${#e} ${f[@]} $") == "a $1 $@ $b $c[:-d] $e[#] $f[[@]] $");
  CHECK(tree("a $(b | c) `d $e`") == "a $(b | c) $(d $e)");
  CHECK(tree("a \"$(b \"c d\")\"") == "a ''$(b 'c d')''");
  CHECK(tree("a $((1 + $b * (2))) <(c)") == "a $((1 + $b * (2))) <(c)");
  CHECK(tree("a ${b:-\"}\"}x") == "a $b[:-\"}\"]x");
  CHECK(tree("a {1,2}.txt @(b|c) ?(d)") == "a {1,2}.txt @(b|c) ?(d)");
}

TEST_CASE("assignments") {
  CHECK(tree("a=b c+=d e") == "a=b c+=d e");
  CHECK(tree("a=(b \"c d\" # e\n f)") == "a=<b><'c d'><f>");
  CHECK(tree("export a=(b) c") == "a=<b> export c");
  CHECK(tree("echo a=b") == "echo a=b");
  CHECK(tree("a[1]=b") == "a=b");
  CHECK(tree("a[b[0]]=c") == "a=c");
  CHECK(tree("declare -A m=([x]=1)") == "m=<[x]=1> declare -A");
  CHECK(tree("eval a=(b c) d=e") == "a=<b><c> eval d=e");
  CHECK(tree("eval \"a=(b c)\"") == "eval 'a=(b c)'");
}

TEST_CASE("compound commands") {
  CHECK(tree("if a; then b; elif c; then d; else e; fi > f") == "if ?{a} ?{c} {b} {d} {e} >f");
  CHECK(tree("while read x; do a; done < b") == "loop ?{read x} {a} <b");
  CHECK(tree("for i in 1 2; do a $i; done") == "each i 1 2 {a $i}");
  CHECK(tree("for ((i = 0; i < 3; i++)); do a; done") == "each 'i = 0; i < 3; i++' {a}");
  CHECK(tree("case $a in (b | c) d ;; *) e ;& esac") == "case $a b) c) {d};; *) {e};&");
  CHECK(tree("f() { a; }; function g { b; }") == "function f {group {a}}; function g {group {b}}");
  CHECK(tree("(a; b) | { c; }") == "subshell {a; b} | group {c}");
  CHECK(tree("[[ $a =~ ^(b|c)$ && -n d ]] && e") == "test $a =~ ^(b|c)$ && -n d && e");
  CHECK(tree("((a + 1)) || b") == "arithmetic 'a + 1' || b");
  CHECK(tree("a $[b + 1]c \"$[d[0] * 2]\"") == tree("a $((b + 1))c \"$((d[0] * 2))\""));
  CHECK(tree("a $[b") == "a $[b");
  CHECK(tree("((a); b)") == "subshell {subshell {a}; b}");
}

TEST_CASE("redirections and here-documents") {
  CHECK(tree("a > b 2>&1 < c &> d >> e") == "a >b 2>&1 <c &>d >>e");
  CHECK(tree("a 2> >(b)") == "a 2><(b)");
  const Script script = parse("a <<E | b <<-'F'\n$x\nE\n\t$y\n\tF\nc\n");
  CHECK(shown(script.statements) == "a <<E | b <<-'F'; c");
  REQUIRE(script.here_documents.size() == 2);
  CHECK(shown(script.here_documents[0].text) == "$x'\n'");
  CHECK(shown(script.here_documents[1].text) == "'\t$y\n'");
  CHECK(script.problems.empty());
  CHECK(tree("a <<< $b") == "a <<<$b");
}

TEST_CASE("every node has its place, comments too") {
  const Script script = parse("a b # c\nd=e f\n");
  REQUIRE(script.statements.size() == 2);
  CHECK(script.statements[1].span.begin == 8);
  CHECK(script.statements[1].span.end == 13);
  const Command& command = script.statements[1].pipelines[0].commands[0];
  CHECK(command.assignments[0].value.span.begin == 10);
  CHECK(command.words[0].span.begin == 12);
  REQUIRE(script.comments.size() == 1);
  CHECK(script.comments[0].begin == 4);
}

TEST_CASE("broken text has a tree as well, and its problems have places") {
  CHECK(tree("a 'b") == "a 'b' !! the quote `'` is not closed");
  CHECK(tree("a \"b") == "a 'b' !! the quote `\"` is not closed");
  CHECK(tree("a $(b") == "a $(b) !! `$(` has no `)`");
  CHECK(tree("a ${b") == "a $b !! `${` has no `}`");
  CHECK(tree("if a; then b") == "if ?{a} {b} !! `if` has no `fi`");
  CHECK(tree("while a; b; done") == "loop ?{a; b} {} !! `while` has no `do`");
  CHECK(tree("a; done; b") == "a; b !! `done` ends nothing that has begun");
  CHECK(tree("(a") == "subshell {a} !! `(` has no `)`");
  CHECK(tree("a )") == "a !! `)` ends nothing that has begun");
  CHECK(tree("a > \n") == "a > !! `>` names no file");
  CHECK(tree("a <<E\nb\n") == "a <<E !! the here-document has no end `E`");
  CHECK(parse("a\nb 'c\n").problems.at(0).span.begin == 4);
}

TEST_CASE("which variables an arithmetic expression sets") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> table{
      {"i++", {"i"}},
      {"-- i", {"i"}},
      {"a = b == 2, c <<= 1", {"a", "c"}},
      {"a[i] += 1", {"a"}},
      {"a[b[0]] = 1", {"a"}},
      {"a[ b[c[1]] = 2 ] ++, d[0] == 1", {"a", "b"}},
      {"a[b[0] = 1", {"b"}},
      {"a] = b[1", {}},
      {"a == 1 && b >= 2 && c != 3 && d <= 4", {}},
      {"$a = 1 + 2x", {}},
      {"a ++ + b", {"a"}},
      {"", {}},
  };
  for (const auto& row : table) {
    CAPTURE(row.first);
    CHECK(names_set_by(row.first) == row.second);
  }
  std::string open;  // in linear time
  while (open.size() < 2'000'000) open += "a[";
  CHECK(names_set_by(open + "=1").empty());
}

TEST_CASE("deep nesting, long lines and strange bytes end") {
  for (const std::string& part : {std::string("("),
                                  std::string("$("),
                                  std::string("`"),
                                  std::string("(("),
                                  std::string("$(("),
                                  std::string("{ "),
                                  std::string("if "),
                                  std::string("a=("),
                                  std::string("${a:-"),
                                  std::string("\"$("),
                                  std::string("<<E "),
                                  std::string("case a in "),
                                  std::string("[[ "),
                                  std::string("'"),
                                  std::string("f() "),
                                  std::string("# `"),
                                  std::string("@("),
                                  std::string(1, '\0')}) {
    CAPTURE(part);
    std::string text;
    while (text.size() < 200'000) text += part;
    const Script script = parse(text);
    CHECK(script.problems.size() <= 100);
    CHECK(parse(text + "\n" + text).problems.size() <= 100);
  }
}
