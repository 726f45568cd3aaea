// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/header.hpp"

#include <algorithm>
#include <optional>

namespace dts::lint {
namespace {

constexpr std::string_view k_magic = "#SBATCH";

struct HeaderWord {
  std::string text;
  Span span;
  std::size_t component;
};

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// The words of one #SBATCH line.
class LineReader {
 public:
  LineReader(std::string_view text, std::size_t begin, std::size_t end, Header& header)
      : text_(text), at_(begin), end_(end), header_(header) {}

  std::optional<HeaderWord> next() {
    while (at_ < end_ && is_space(text_[at_])) ++at_;
    HeaderWord word{"", {at_, at_}, header_.components - 1};
    if (at_ < end_ && text_[at_] == ':') {
      header_.problems.push_back({HeaderProblem::Kind::colon, {at_, at_ + 1}, ":"});
      return std::nullopt;
    }
    quote_ = 0;
    bool escaped = false;
    for (; at_ < end_ && (quote_ != 0 || !is_space(text_[at_])); ++at_) {
      if (!escaped && text_[at_] == '\\') {
        escaped = true;  // in quotes as well
        // Escapes a blank only since 24.05. Before that, the blank ends the word.
        if (at_ + 1 < end_ && text_[at_ + 1] == ' ') {
          escaped = false;
          word.text += text_[++at_];
        }
        continue;
      }
      if (!escaped && is_quote(text_[at_])) continue;
      if (!escaped && quote_ == 0 && text_[at_] == '#') break;  // a comment, even inside a word
      escaped = false;
      word.text += text_[at_];
    }
    word.span.end = at_;
    if (quote_ != 0)
      header_.problems.push_back(
          {HeaderProblem::Kind::unclosed_quote, {opened_, opened_ + 1}, std::string(1, quote_)});
    if (at_ < end_ && text_[at_] == '#') at_ = end_;
    if (word.text.empty()) return std::nullopt;
    return word;
  }

 private:
  // True if the character opens or closes a quote, which is then recorded.
  bool is_quote(char c) {
    if (quote_ != 0) {
      if (c != quote_) return false;
      quote_ = 0;
      return true;
    }
    if (c != '"' && c != '\'') return false;
    quote_ = c;
    opened_ = at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_, end_;
  Header& header_;
  char quote_ = 0;
  std::size_t opened_ = 0;
};

bool is_separator(std::string_view rest) {
  for (const std::string_view word : {"hetjob", "packjob"})
    if (rest.starts_with(word) && (rest.size() == word.size() || is_space(rest[word.size()])))
      return true;
  return false;
}

std::vector<HeaderWord> words_of(std::string_view text, Header& header) {
  std::vector<HeaderWord> words;
  std::size_t begin = 0;
  for (; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(" \t\r\v\f");
    if (first != std::string_view::npos && line[first] != '#') break;
    if (line.starts_with(k_magic)) {
      header.has_lines = true;
      std::size_t at = begin + k_magic.size();
      while (at < end && is_space(text[at])) ++at;
      if (is_separator(text.substr(at, end - at))) {
        ++header.components;
        while (at < end && !is_space(text[at])) ++at;
      }
      LineReader reader(text, at, end, header);
      while (auto word = reader.next()) words.push_back(std::move(*word));
    }
    begin = std::min(end + 1, text.size());
  }
  header.end = begin;
  return words;
}

// Reads the words as getopt_long(3) does.
class OptionReader {
 public:
  OptionReader(const std::vector<HeaderWord>& words, Header& header)
      : words_(words), header_(header) {}

  void read() {
    for (; at_ < words_.size(); ++at_) {
      const HeaderWord& word = words_[at_];
      if (word.text.starts_with("--") && word.text.size() > 2)
        read_long(word);
      else if (word.text.size() > 1 && word.text[0] == '-' && word.text[1] != '-')
        read_letters(word);
      else
        header_.problems.push_back({HeaderProblem::Kind::stray_word, word.span, word.text});
    }
  }

 private:
  void read_long(const HeaderWord& word) {
    const std::size_t equals = word.text.find('=');
    const std::string typed = word.text.substr(2, equals - 2);
    Directive one;
    one.option = is_plugin_option(typed) ? nullptr : find_sbatch_option(typed);
    one.name = one.option != nullptr ? std::string(one.option->name) : typed;
    one.span = one.value_span = word.span;
    one.component = word.component;
    if (equals != std::string::npos) {
      one.value = word.text.substr(equals + 1);
      one.value_span.begin = std::min(word.span.begin + equals + 1, word.span.end);
    } else if (one.option != nullptr && one.option->takes == Takes::value) {
      take_value(one);
    } else if (one.option == nullptr && has_value_next()) {
      take_value(one);
    }
    header_.directives.push_back(std::move(one));
  }

  // "-N2", "-N 2", "-vv".
  void read_letters(const HeaderWord& word) {
    for (std::size_t i = 1; i < word.text.size(); ++i) {
      Directive one;
      one.option = find_sbatch_option(word.text[i]);
      one.is_letter = true;
      one.span = one.value_span = word.span;
      one.component = word.component;
      if (one.option == nullptr) {
        header_.problems.push_back(
            {HeaderProblem::Kind::unknown_letter, word.span, std::string("-") + word.text[i]});
        return;
      }
      one.name = one.option->name;
      const bool takes_rest = one.option->takes != Takes::nothing;
      if (takes_rest) {
        one.value = word.text.substr(i + 1);
        one.value_span.begin = std::min(word.span.begin + i + 1, word.span.end);
        if (one.value.empty() && one.option->takes == Takes::value) take_value(one);
      }
      header_.directives.push_back(std::move(one));
      if (takes_rest) return;
    }
  }

  [[nodiscard]] bool has_value_next() const {
    return at_ + 1 < words_.size() && words_[at_ + 1].text[0] != '-';
  }

  void take_value(Directive& one) {
    if (at_ + 1 >= words_.size()) {
      header_.problems.push_back({HeaderProblem::Kind::missing_value, one.span, one.name});
      return;
    }
    ++at_;
    one.value = words_[at_].text;
    one.value_span = words_[at_].span;
  }

  const std::vector<HeaderWord>& words_;
  Header& header_;
  std::size_t at_ = 0;
};

}  // namespace

Header read_header(std::string_view text) {
  Header header;
  const std::vector<HeaderWord> words = words_of(text, header);
  OptionReader(words, header).read();
  return header;
}

const Directive* find_directive(const Header& header, std::string_view name) {
  const auto found = std::find_if(
      header.directives.rbegin(), header.directives.rend(), [name](const Directive& one) {
        return one.name == name && one.component == 0;
      });
  return found == header.directives.rend() ? nullptr : &*found;
}

}  // namespace dts::lint
