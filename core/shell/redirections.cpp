// SPDX-License-Identifier: Apache-2.0
// Redirections and here-documents.
#include "core/base/text/text.hpp"
#include "core/shell/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::shell {
namespace {

// Longer signs first.
constexpr std::string_view k_signs[] = {
    "&>>", "<<<", "<<-", "&>", ">&", "<&", ">>", ">|", "<>", "<<", ">", "<"};

std::size_t digits_at(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos ? text.size() : end;
}

}  // namespace

bool Reader::at_redirection() const {
  const std::string_view rest = text_.substr(at_, std::min<std::size_t>(end_ - at_, 12));
  const std::size_t digits = digits_at(rest);
  const char sign = digits < rest.size() ? rest[digits] : '\0';
  const char next = digits + 1 < rest.size() ? rest[digits + 1] : '\0';
  if (digits == 0 && sign == '&') return next == '>';
  if (sign != '<' && sign != '>') return false;
  return digits > 0 || next != '(';  // otherwise a process substitution
}

Redirection Reader::redirection() {
  Redirection one;
  one.span.begin = at_;
  const std::size_t digits = digits_at(text_.substr(at_, end_ - at_));
  if (const auto number = parse_number(text_.substr(at_, digits)); number && *number < 1024)
    one.descriptor = static_cast<int>(*number);
  at_ += digits;
  for (const std::string_view sign : k_signs)
    if (take(sign)) {
      one.sign = sign;
      break;
    }
  skip_blanks();
  one.target = word(WordEnd::operators);
  one.span.end = at_;
  if (one.target.span.begin == one.target.span.end)
    complain(one.span, fmt::format("`{}` names no file", one.sign));
  if (one.sign != "<<" && one.sign != "<<-") return one;
  HereDocument document;
  PendingDocument pending{script_.here_documents.size(), "", one.sign == "<<-"};
  for (const Piece& piece : one.target.pieces) {
    pending.delimiter +=
        piece.kind == Piece::Kind::literal
            ? piece.text
            : std::string(text_.substr(piece.span.begin, piece.span.end - piece.span.begin));
    document.is_literal = document.is_literal || piece.quoted;
  }
  one.here_document = static_cast<int>(pending.index);
  document.span = {at_, at_};
  script_.here_documents.push_back(std::move(document));
  pending_.push_back(std::move(pending));
  return one;
}

void Reader::redirections(Command& command) {
  for (skip_blanks(); at_redirection(); skip_blanks()) {
    command.redirections.push_back(redirection());
    command.span.end = at_;
  }
}

void Reader::read_here_documents() {
  std::vector<PendingDocument> now;
  now.swap(pending_);  // a here-document within an expansion has a list of its own
  for (const PendingDocument& pending : now) read_here_document(pending);
}

void Reader::read_here_document(const PendingDocument& pending) {
  const std::size_t begin = at_;
  std::size_t end = end_;
  for (bool found = false; !found && !done();) {
    const std::size_t line_begin = at_;
    const std::size_t line_end = end_of_run("\n");
    std::string_view line = text_.substr(at_, line_end - at_);
    if (pending.strips_tabs)
      line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    at_ = std::min(line_end + 1, end_);
    found = line == pending.delimiter;
    end = found ? line_begin : end_;
  }
  if (end == end_ && begin != end_)
    complain({begin, begin}, fmt::format("the here-document has no end `{}`", pending.delimiter));
  const std::size_t behind = at_;
  Word text = expanded_text(begin, end, script_.here_documents[pending.index].is_literal);
  at_ = behind;
  HereDocument& document = script_.here_documents[pending.index];
  document.span = {begin, end};
  document.text = std::move(text);
}

}  // namespace dts::shell
