// SPDX-License-Identifier: Apache-2.0
// Words of programs that reach a terminal or a log: nothing of them may act there.
#include "core/base/text/utf8.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace dts;

namespace {

constexpr std::size_t k_any = 1000;

}  // namespace

TEST_CASE("plain text, umlauts, Chinese and emoji are shown as they are") {
  for (const char* text :
       {"", "loss 0.63", "Zürich", "训练", "100 % \xf0\x9f\x9a\x80", "a \\x1b b"})
    CHECK(printable(text, k_any) == text);
}

TEST_CASE("what would act on a terminal is written as bytes") {
  CHECK(printable("\x1b[31mred\x1b[0m", k_any) == "\\x1b[31mred\\x1b[0m");
  CHECK(printable("10 %\r20 %", k_any) == "10 %\\x0d20 %");
  CHECK(printable("a\tb", k_any) == "a b");
  CHECK(printable("a\nb", k_any) == "a\\x0ab");
  CHECK(printable(std::string("a\0b", 3), k_any) == "a\\x00b");
  CHECK(printable("bell\a del\x7f", k_any) == "bell\\x07 del\\x7f");
  CHECK(printable("\xc2\x9b"
                  "2J",
                  k_any) == "\\xc2\\x9b2J");  // CSI in one character
  CHECK(printable("\xe2\x80\xaetxt.exe", k_any) == "\\xe2\\x80\\xaetxt.exe");  // right to left
}

TEST_CASE("bytes that are no UTF-8 are written as bytes, and the text after them is whole") {
  CHECK(printable("\xff\xfe ok", k_any) == "\\xff\\xfe ok");
  CHECK(printable("\xc3(", k_any) == "\\xc3(");                  // half a character
  CHECK(printable("\xc0\xaf", k_any) == "\\xc0\\xaf");           // `/`, too long
  CHECK(printable("\xed\xa0\x80", k_any) == "\\xed\\xa0\\x80");  // a surrogate
}

TEST_CASE("a long line is cut between two characters, and it shows") {
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdef", 5) == "abcde ...");
  CHECK(printable("ab\xc3\xbc", 3) == "ab ...");
  CHECK(printable(std::string(16'000, '\x1b'), 200).size() <= 204);
  CHECK(printable("", 0).empty());
}

TEST_CASE("UTF-8 is distinguished from other bytes") {
  CHECK(is_utf8("Zürich"));
  CHECK_FALSE(is_utf8("Z\xfcrich"));
  CHECK_FALSE(is_utf8(std::string("a\0b", 3)));
}
