// SPDX-License-Identifier: Apache-2.0
#include "core/script/template/parse.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::script {
namespace {

using Kind = TemplateNode::Kind;

constexpr std::size_t k_deepest_section = 64;
constexpr std::string_view k_blanks = " \t";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(k_blanks) == std::string_view::npos;
}

struct Tag {
  char kind = 0;             // # ^ / > ! = & {, or 0 for {{name}}
  std::string_view content;  // without surrounding blanks
  std::size_t begin = 0;     // of its opening delimiter
  std::size_t end = 0;       // after its closing delimiter
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Result<TemplateTree> parse() {
    while (true) {
      const std::size_t begin = text_.find(open_, at_);
      if (begin == std::string_view::npos) break;
      DTS_ASSIGN(const Tag tag, read_tag(begin));
      DTS_TRY(take(tag));
    }
    add_text(text_.size());
    if (!sections_.empty())
      return bad(sections_.back().at,
                 fmt::format("the section `{}` has no end", sections_.back().text),
                 fmt::format("add {{{{/{}}}}}", sections_.back().text));
    return std::move(tree_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> bad(std::size_t at,
                                          std::string message,
                                          std::string hint = {}) const {
    return bad_template(text_, name_, at, std::move(message), std::move(hint));
  }

  Result<Tag> read_tag(std::size_t begin) const {
    Tag tag;
    tag.begin = begin;
    std::size_t inside = begin + open_.size();
    std::string close = close_;
    constexpr std::string_view k_kinds = "#^/>!=&{";
    if (inside < text_.size() && k_kinds.find(text_[inside]) != std::string_view::npos)
      tag.kind = text_[inside++];
    if (tag.kind == '{') close = "}" + close;
    if (tag.kind == '=') close = "=" + close;
    const std::size_t found = text_.find(close, inside);
    if (found == std::string_view::npos)
      return bad(begin, fmt::format("`{}` without `{}`", open_, close));
    tag.content = trim(text_.substr(inside, found - inside));
    tag.end = found + close.size();
    if (tag.content.empty() && tag.kind != '!')
      return bad(
          begin, "a tag without a name", fmt::format("write e.g. {}run_dir{}", open_, close_));
    return tag;
  }

  [[nodiscard]] std::size_t begin_of_line(std::size_t at) const {
    return text_.substr(0, at).rfind('\n') + 1;  // npos + 1 is 0
  }

  // The end of the tag's line, past its newline, if nothing else is on the line.
  [[nodiscard]] std::optional<std::size_t> end_of_own_line(const Tag& tag) const {
    const std::size_t line = begin_of_line(tag.begin);
    if (line < at_ || !is_blank(text_.substr(line, tag.begin - line))) return std::nullopt;
    const std::size_t newline = text_.find('\n', tag.end);
    std::string_view rest = text_.substr(
        tag.end, newline == std::string_view::npos ? std::string_view::npos : newline - tag.end);
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    if (!is_blank(rest)) return std::nullopt;
    return newline == std::string_view::npos ? text_.size() : newline + 1;
  }

  [[nodiscard]] TemplateTree& siblings() {
    return sections_.empty() ? tree_ : sections_.back().children;
  }

  void add_text(std::size_t end) {
    if (end > at_)
      siblings().push_back({Kind::text, std::string(text_.substr(at_, end - at_)), at_});
    at_ = std::max(at_, end);
  }

  Result<void> take(const Tag& tag) {
    const bool is_value = tag.kind == 0 || tag.kind == '&' || tag.kind == '{';
    const auto line_end = is_value ? std::nullopt : end_of_own_line(tag);
    const std::size_t line = begin_of_line(tag.begin);
    add_text(line_end ? line : tag.begin);
    at_ = line_end.value_or(tag.end);
    TemplateNode node{
        is_value ? value_kind(tag.kind) : Kind::text, std::string(tag.content), tag.begin};
    switch (tag.kind) {
      case '!':
        return {};
      case '=':
        return set_delimiters(tag);
      case '/':
        return close_section(tag);
      case '>':
        node.kind = Kind::partial;
        if (line_end) node.indent = text_.substr(line, tag.begin - line);
        break;
      case '#':
      case '^':
        node.kind = tag.kind == '#' ? Kind::section : Kind::inverted;
        if (sections_.size() == k_deepest_section)
          return bad(tag.begin, fmt::format("sections nested deeper than {}", k_deepest_section));
        sections_.push_back(std::move(node));
        return {};
      default:
        break;
    }
    siblings().push_back(std::move(node));
    return {};
  }

  static Kind value_kind(char kind) { return kind == 0 ? Kind::value : Kind::raw; }

  Result<void> close_section(const Tag& tag) {
    if (sections_.empty())
      return bad(tag.begin, fmt::format("no section `{}` is open here", tag.content));
    TemplateNode section = std::move(sections_.back());
    if (section.text != tag.content)
      return bad(tag.begin,
                 fmt::format("this ends `{}`, but the section is `{}`", tag.content, section.text),
                 fmt::format("end `{}` first", section.text));
    sections_.pop_back();
    siblings().push_back(std::move(section));
    return {};
  }

  // {{=<% %>=}}
  Result<void> set_delimiters(const Tag& tag) {
    const std::size_t blank = tag.content.find_first_of(" \t\r\n");
    if (blank == std::string_view::npos)
      return bad(tag.begin, "new delimiters are two words", "write e.g. {{=<% %>=}}");
    const std::string_view close = trim(tag.content.substr(blank));
    if (tag.content.find('=') != std::string_view::npos ||
        close.find_first_of(" \t\r\n") != std::string_view::npos)
      return bad(tag.begin, "delimiters are two words without `=`", "write e.g. {{=<% %>=}}");
    open_ = tag.content.substr(0, blank);
    close_ = close;
    return {};
  }

  std::string_view text_;
  const std::string& name_;
  std::string open_ = "{{", close_ = "}}";
  std::size_t at_ = 0;  // everything before it is in the tree
  TemplateTree tree_;
  std::vector<TemplateNode> sections_;  // open sections, the innermost last
};

}  // namespace

tl::unexpected<Error> bad_template(std::string_view text,
                                   const std::string& name,
                                   std::size_t at,
                                   std::string message,
                                   std::string hint) {
  at = std::min(at, text.size());
  const std::size_t begin = text.substr(0, at).rfind('\n') + 1;
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  std::string source(text.substr(begin, text.find('\n', begin) - begin));
  if (source.size() > 160 || !is_printable(source)) source.clear();
  const std::size_t column = at - begin + 1;
  return tl::unexpected(to_error({{fmt::format("{}:{}:{}", name, line, column),
                                   std::move(message),
                                   std::move(hint),
                                   source,
                                   source.empty() ? 0 : static_cast<int>(column)}}));
}

Result<TemplateTree> parse_template(std::string_view text, const std::string& name) {
  return Parser(text, name).parse();
}

}  // namespace dts::script
