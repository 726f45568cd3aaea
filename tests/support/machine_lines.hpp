// SPDX-License-Identifier: Apache-2.0
// The lines of a machine's description: their words, the lines indented below them, and problems.
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

// The words of a line after its first one, read one after another. An invalid or missing word is
// reported as a problem at its place, and read as an empty value.
class Arguments {
 public:
  Arguments(const Line& line, Problems& problems) : line_(line), problems_(problems) {}

  [[nodiscard]] bool more() const { return next_ < line_.words.size(); }

  // Takes the next word if it equals `word`.
  bool take(std::string_view word);

  void skip(std::size_t words) { next_ = words; }  // counted from the line's beginning

  [[nodiscard]] std::string peek() const { return more() ? line_.words[next_].text : ""; }

  [[nodiscard]] std::string word(const char* what);
  [[nodiscard]] unsigned hexadecimal(const char* what, unsigned most);
  [[nodiscard]] std::optional<unsigned> number(const char* what, unsigned most);
  [[nodiscard]] std::uint64_t size();                          // "64G"
  [[nodiscard]] std::vector<unsigned> numbers(unsigned most);  // "0-3,8"
  [[nodiscard]] unsigned times();                              // "x4"; 1 if it is absent
  // "gen4 x16", converted to GB/s; 0 if it is absent.
  [[nodiscard]] double link();

  // The next word; at the line's end a problem, and nullptr.
  [[nodiscard]] const Word* need(const char* what);

  void wrong(std::string message, std::string hint = {});  // at the word that was read last
  void unknown(const char* known);                         // at the next word, which is skipped

 private:
  const Line& line_;
  Problems& problems_;
  std::size_t next_ = 1;
};

}  // namespace dts::tests
