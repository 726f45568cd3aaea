// SPDX-License-Identifier: Apache-2.0
// Whose files are to be believed in which user namespace.
#include "core/base/files/owners.hpp"

#include <doctest/doctest.h>

namespace {

using dts::owner_view;

constexpr const char* k_first = "         0          0 4294967295\n";

TEST_CASE("in the initial user namespace no owner is unmapped: 65534 is a user like others") {
  const auto view = owner_view(1000, k_first, "65534\n");
  CHECK_FALSE(view.stranger);
  CHECK(view.is_trusted(0));
  CHECK(view.is_trusted(1000));
  CHECK_FALSE(view.is_trusted(65534));
  CHECK_FALSE(view.is_unknown(65534));
}

TEST_CASE("where only the user is mapped, all others look like the overflow user") {
  const auto view = owner_view(1000, "      1000       1000          1\n", "65534\n");
  CHECK(view.is_unknown(65534));
  CHECK_FALSE(view.is_trusted(65534));
  CHECK_FALSE(view.is_unknown(1001));
  CHECK_FALSE(view.is_unknown(1000));
  CHECK(owner_view(0, "0 1000 1", "65534").is_unknown(65534));  // unshare --map-root-user
  CHECK(owner_view(1000, "1000 1000 1", "99").is_unknown(99));
  CHECK_FALSE(owner_view(1000, "1000 1000 1", "99").is_unknown(65534));
}

TEST_CASE("where the overflow user is mapped, or root is, it stands for nobody") {
  // A container of a plain user's, and one of root's with numbers of its own.
  CHECK_FALSE(owner_view(0, "0 1000 1\n1 100000 65536\n", "65534").stranger);
  CHECK_FALSE(owner_view(0, "0 100000 65536\n", "65534").stranger);
  CHECK_FALSE(owner_view(65534, "65534 65534 1", "65534").stranger);
  CHECK_FALSE(owner_view(1000, "1000 1000 1\n5 0 1\n", "65534").stranger);
  CHECK_FALSE(owner_view(1000, "0 0 1\n", "65534").stranger);
}

TEST_CASE("a uid_map that cannot be parsed makes no owner unmapped") {
  for (const char* map : {"", "\n", "1000 1000", "1000 1000 x", "1000 1000 1\ngarbage", "-1 0 1"}) {
    CAPTURE(map);
    CHECK_FALSE(owner_view(1000, map, "65534").stranger);
  }
  for (const char* overflow : {"", "x", "0", "4294967296", "-1"}) {
    CAPTURE(overflow);
    CHECK_FALSE(owner_view(1000, "1000 1000 1", overflow).stranger);
  }
}

}  // namespace
