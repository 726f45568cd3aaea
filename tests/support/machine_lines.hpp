// SPDX-License-Identifier: Apache-2.0
// The lines of a machine's description: words, what is indented below them, and what is wrong.
#pragma once

#include "core/base/diagnostics.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::tests {

struct Word {
  std::string text;
  int column = 1;
};

struct Line {
  std::string text;
  int number = 0;
  std::vector<Word> words{};  // never empty
  std::vector<Line> below{};
};

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(const Line& line, int column, std::string message, std::string hint = {});

  [[nodiscard]] const Diagnostics& all() const { return all_; }

 private:
  std::string file_;
  Diagnostics all_;
};

[[nodiscard]] std::vector<Line> read_lines(std::string_view text, Problems& problems);

// The words of a line behind its first, one after the other. What is not as it should be is a
// problem of that word, or of the line's end, and reads as nothing.
class Arguments {
 public:
  Arguments(const Line& line, Problems& problems) : line_(line), problems_(problems) {}

  [[nodiscard]] bool more() const { return next_ < line_.words.size(); }

  // The next word if it is this one.
  bool take(std::string_view word);

  void skip(std::size_t words) { next_ = words; }  // of all of the line

  [[nodiscard]] std::string peek() const { return more() ? line_.words[next_].text : ""; }

  [[nodiscard]] std::string word(const char* what);
  [[nodiscard]] unsigned hexadecimal(const char* what, unsigned most);
  [[nodiscard]] std::optional<unsigned> number(const char* what, unsigned most);
  [[nodiscard]] std::uint64_t size();                          // "64G"
  [[nodiscard]] std::vector<unsigned> numbers(unsigned most);  // "0-3,8"
  [[nodiscard]] unsigned times();                              // "x4"; 1 where it does not follow
  // "gen4 x16" as gigabytes a second; 0 where it does not follow.
  [[nodiscard]] double link();

  // The next word; null, which is a problem, at the line's end.
  [[nodiscard]] const Word* need(const char* what);

  void wrong(std::string message, std::string hint = {});  // with the word that was read last
  void unknown(const char* known);                         // the next word, which is skipped

 private:
  const Line& line_;
  Problems& problems_;
  std::size_t next_ = 1;
};

}  // namespace dts::tests
