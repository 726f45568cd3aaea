// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/extent.hpp"

#include "core/convert/words/names.hpp"

#include <algorithm>

namespace dts::convert {

using shell::Span;

Span with_sign(std::string_view text, const shell::Statement& statement) {
  Span span = statement.span;
  if (!statement.background) return span;
  const std::size_t sign = text.find_first_not_of(" \t\\\n", span.end);
  if (sign != std::string_view::npos && text[sign] == '&') span.end = sign + 1;
  return span;
}

Span documents_of(std::string_view text,
                  const shell::Script& script,
                  const shell::Statement& statement) {
  Span all{statement.span.end, statement.span.end};
  const auto& documents = script.here_documents;
  each_command(statement, [&](const shell::Command& command) {
    for (const shell::Redirection& one : command.redirections) {
      if (one.here_document < 0 || static_cast<std::size_t>(one.here_document) >= documents.size())
        continue;
      const Span& span = documents[static_cast<std::size_t>(one.here_document)].span;
      if (span.begin < statement.span.end) continue;
      if (all.begin == all.end) all.begin = span.begin;
      const std::size_t end = std::min(text.find('\n', span.end), text.size());
      all.end = std::max(all.end, std::max(end, span.end));
    }
  });
  return all;
}

Span extent_of(std::string_view text,
               const shell::Script& script,
               const shell::Statements& statements) {
  Span all = statements.front().span;
  for (const shell::Statement& one : statements)
    all.end = std::max({all.end, with_sign(text, one).end, documents_of(text, script, one).end});
  return all;
}

std::vector<Span> rest_of(const Span& whole, const std::vector<Span>& parts) {
  std::vector<Span> rest;
  std::size_t at = whole.begin;
  for (const Span& part : parts) {
    if (at < part.begin) rest.push_back({at, part.begin});
    at = std::max(at, part.end);
  }
  if (at < whole.end) rest.push_back({at, whole.end});
  return rest;
}

}  // namespace dts::convert
