// SPDX-License-Identifier: Apache-2.0
#include "core/spec/file/words.hpp"

#include <fmt/format.h>

namespace dts::spec {
namespace {

constexpr const char* k_shell_hint = R"(quote it, or let a shell run it: ["bash", "-c", "..."])";

class WordSplitter {
 public:
  explicit WordSplitter(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> split() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        end_word();
      else
        DTS_TRY(take(c));
    }
    end_word();
    return std::move(words_);
  }

 private:
  Result<void> take(char c) {
    // `#` and `~` are special only at the beginning of a word.
    const std::string_view special = in_word_ ? "$`|&;<>()*?[" : "$`|&;<>()*?[#~";
    if (special.find(c) != std::string_view::npos)
      return fail(Errc::invalid,
                  fmt::format("`{}` is for a shell, but the command is run without one", c),
                  k_shell_hint);
    in_word_ = true;
    if (c == '\'' || c == '"') return take_quoted(c);
    if (c != '\\') {
      word_ += c;
      return {};
    }
    if (++at_ == text_.size()) return fail(Errc::invalid, "ends with a backslash", "omit it");
    if (text_[at_] != '\n') word_ += text_[at_];
    return {};
  }

  Result<void> take_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      const char c = text_[at_];
      if (quote == '"' && (c == '$' || c == '`'))
        return fail(Errc::invalid,
                    fmt::format("`{}` is for a shell, but the command is run without one", c),
                    k_shell_hint);
      const bool escapes =
          quote == '"' && c == '\\' && at_ + 1 < text_.size() &&
          std::string_view("$`\"\\\n").find(text_[at_ + 1]) != std::string_view::npos;
      if (escapes) ++at_;
      if (!escapes || text_[at_] != '\n') word_ += text_[at_];
    }
    if (at_ < text_.size()) return {};
    return fail(Errc::invalid, fmt::format("a quote {} is not closed", quote), "close it");
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool in_word_ = false;
  std::string word_;
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  return WordSplitter(text).split();
}

}  // namespace dts::spec
