// SPDX-License-Identifier: Apache-2.0
// NAME=value, NAME+=value, NAME[i]=value and NAME=(...).
#include "core/shell/reader.hpp"

namespace dts::shell {

// The length of the text up to and including the `=`; 0: no assignment begins here.
std::size_t Reader::assignment_length() const {
  if (!is_name_begin(peek())) return 0;
  std::size_t length = 1;
  while (is_name_char(peek(length))) ++length;
  if (peek(length) == '[') {
    constexpr std::size_t k_longest_index = 256;
    const std::size_t open = length;
    std::size_t depth = 0;  // a[b[0]]=1
    do {
      const char one = peek(length);
      if (one == '\n' || one == '\0' || length - open > k_longest_index) return 0;
      depth += one == '[' ? 1 : 0;
      depth -= one == ']' ? 1 : 0;
      ++length;
    } while (depth > 0);
  }
  if (peek(length) == '+') ++length;
  return peek(length) == '=' ? length + 1 : 0;
}

Assignment Reader::assignment() {
  Assignment one;
  one.span.begin = at_;
  const std::size_t length = assignment_length();
  const std::string_view head = text_.substr(at_, length);
  one.name = head.substr(0, head.find_first_of("[+="));
  one.is_element = head.find('[') != std::string_view::npos;
  one.appends = head.ends_with("+=");
  at_ += length;
  if (peek() == '(') {
    one.is_array = true;
    read_elements(one);
  } else {
    one.value = word(WordEnd::operators);
  }
  one.span.end = at_;
  return one;
}

void Reader::read_elements(Assignment& assignment) {
  const std::size_t begin = at_;
  ++at_;
  for (skip_newlines(); !done() && peek() != ')'; skip_newlines()) {
    const std::size_t before = at_;
    assignment.elements.push_back(word(WordEnd::operators));
    if (at_ == before) break;
  }
  if (!take(")")) complain({begin, begin + 1}, "`(` has no `)`");
}

}  // namespace dts::shell
