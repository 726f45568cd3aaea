// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/item.hpp"

#include "core/lint/rules/facts.hpp"
#include "core/lint/script/program.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// The text of the statement's here-documents as far as it is behind the statement, up to the end of
// the last one's delimiter.
Span documents_of(const lint::Subject& subject, const shell::Statement& statement) {
  Span all{statement.span.end, statement.span.end};
  const auto& documents = subject.script.here_documents;
  each_command({statement}, [&](const shell::Command& command) {
    for (const shell::Redirection& one : command.redirections) {
      if (one.here_document < 0 || static_cast<std::size_t>(one.here_document) >= documents.size())
        continue;
      const Span& span = documents[static_cast<std::size_t>(one.here_document)].span;
      if (span.begin < statement.span.end) continue;
      if (all.begin == all.end) all.begin = span.begin;
      const std::size_t end = std::min(subject.text.find('\n', span.end), subject.text.size());
      all.end = std::max(all.end, std::max(end, span.end));
    }
  });
  return all;
}

// With the & behind it.
Span with_sign(std::string_view text, const shell::Statement& statement) {
  Span span = statement.span;
  if (!statement.background) return span;
  const std::size_t sign = text.find_first_not_of(" \t\\\n", span.end);
  if (sign != std::string_view::npos && text[sign] == '&') span.end = sign + 1;
  return span;
}

Item item_of(const lint::Subject& subject, const shell::Statement& statement) {
  Item item;
  item.statement = &statement;
  item.spans.push_back(with_sign(subject.text, statement));
  item.source = std::string(
      subject.text.substr(statement.span.begin, statement.span.end - statement.span.begin));
  const Span documents = documents_of(subject, statement);
  if (documents.begin < documents.end) {
    item.spans.push_back(documents);
    item.tail =
        "\n" + std::string(subject.text.substr(documents.begin, documents.end - documents.begin));
    item.source += item.tail;
  }
  item.used = used_names(item.source);
  item.words = words_of(item.source);
  item.sets = set_names(statement);
  return item;
}

}  // namespace

bool Item::only_sets() const {
  const shell::Command* command = simple_command(*statement);
  if (statement->background) return false;
  if (command == nullptr)
    return statement->pipelines.size() == 1 && statement->pipelines[0].commands.size() == 1 &&
           statement->pipelines[0].commands[0].kind == shell::Command::Kind::function;
  if (!command->redirections.empty()) return false;
  if (command->words.empty()) return !command->assignments.empty();
  const std::string verb = literal_of(command->words[0]);
  return verb == "declare" || verb == "typeset" || verb == "readonly" || verb == "export" ||
         verb == "read" || verb == "mapfile" || verb == "readarray" || verb == "let";
}

std::vector<Item> items_of(const lint::Subject& subject) {
  std::vector<Item> items;
  for (const shell::Statement& statement : subject.script.statements)
    items.push_back(item_of(subject, statement));
  for (const lint::Run& run : subject.runs.runs)
    if (run.around.inner == 0 && !run.around.is_in_substitution && run.statement < items.size())
      items[run.statement].runs.push_back(&run);
  for (const lint::Run* run : lint::outer_work_of(subject))
    if (run->around.inner == 0 && !run->around.is_in_substitution && run->statement < items.size())
      items[run->statement].mains.push_back(run);
  return items;
}

std::string verb_of(const lint::Run& run) {
  const lint::Launch& launch = run.launch;
  return launch.launcher == lint::Launcher::none ? lint::base_name(run.name()) : launch.program;
}

}  // namespace dts::convert
