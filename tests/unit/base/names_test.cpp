// SPDX-License-Identifier: Apache-2.0
// Values of an enumeration and their names.
#include "core/base/text/names.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace dts;

enum class Fruit { apple, pear, plum };

constexpr Names<Fruit, 2> k_fruits{{{Fruit::apple, "apple"}, {Fruit::pear, "pear"}}};

}  // namespace

TEST_CASE("a table gives the name of a value, and the value of a name") {
  for (const auto& [fruit, name] : k_fruits) {
    CHECK(std::string(name_of(k_fruits, fruit)) == name);
    CHECK(value_of(k_fruits, name) == fruit);
  }
}

TEST_CASE("what the table lacks has no name, and other words no value") {
  CHECK(std::string(name_of(k_fruits, Fruit::plum)) == "unknown");
  for (const char* word : {"", "plum", "Apple", "appl", "apples", "unknown"}) {
    CAPTURE(word);
    CHECK_FALSE(value_of(k_fruits, word));
  }
}
