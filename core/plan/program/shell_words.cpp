// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/shell_words.hpp"

#include <algorithm>

namespace dts::plan {
namespace {

// A command begins after these words.
bool begins_command(std::string_view word) {
  for (const std::string_view known :
       {"if", "then", "else", "elif", "do", "while", "until", "!", "{"})
    if (word == known) return true;
  return false;
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<ShellCommand> split() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#' && !in_word_)
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      else if (c == ' ' || c == '\t')
        end_word();
      else if (std::string_view(";&|()\n").find(c) != std::string_view::npos)
        end_command();
      else
        take(c);
    }
    end_command();
    return std::move(commands_);
  }

 private:
  void take(char c) {
    in_word_ = true;
    if (c == '\\') {
      if (++at_ < text_.size() && text_[at_] != '\n') word_ += text_[at_];
    } else if (c == '\'' || c == '"') {
      take_quoted(c);
    } else {
      word_ += c;
    }
  }

  void take_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      word_ += text_[at_];
    }
  }

  void end_word() {
    if (!in_word_) return;
    in_word_ = false;
    if (!(command_.words.empty() && begins_command(word_))) {
      command_.words.push_back(word_);
      command_.ends.push_back(std::min(at_, text_.size()));
    }
    word_.clear();
  }

  void end_command() {
    end_word();
    if (!command_.words.empty()) commands_.push_back(std::move(command_));
    command_ = {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool in_word_ = false;
  std::string word_;
  ShellCommand command_;
  std::vector<ShellCommand> commands_;
};

}  // namespace

std::vector<ShellCommand> split_shell(std::string_view text) {
  return Splitter(text).split();
}

}  // namespace dts::plan
