// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/core_kinds.hpp"

#include <doctest/doctest.h>

namespace dts::topo {

using Kinds = std::vector<unsigned>;

TEST_CASE("capacities that differ by a few percent are one kind") {
  // NVIDIA GB10: ten Cortex-X925 and ten A725, each in two clusters.
  CHECK(kinds_of({{"", 718U, 0}, {"", 731U, 1}, {"", 997U, 2}, {"", 1017U, 3}, {"", 1024U, 4}}) ==
        Kinds{0, 0, 1, 1, 1});
  // In any order, and where hwloc does not rank them.
  CHECK(kinds_of({{"", 1024U}, {"", 718U}, {"", 1017U}, {"", 731U}}) == Kinds{1, 0, 1, 0});
  // Three kinds.
  CHECK(kinds_of({{"", 250U}, {"", 768U}, {"", 1024U}}) == Kinds{0, 1, 2});
  // Many small steps are one kind: there is no place where to part them.
  CHECK(kinds_of({{"", 700U}, {"", 800U}, {"", 900U}, {"", 1024U}}) == Kinds{0, 0, 0, 0});
}

TEST_CASE("types are kinds of their own, in the order of their speed") {
  CHECK(kinds_of({{"IntelCore", {}, 1}, {"IntelAtom", {}, 0}}) == Kinds{1, 0});
  // Favoured cores are of the same kind as the others; low-power ones are not.
  CHECK(kinds_of({{"IntelCore", 1024U, 3},
                  {"IntelCore", 983U, 2},
                  {"IntelAtom", 623U, 1},
                  {"IntelAtom", 410U, 0}}) == Kinds{2, 2, 1, 0});
  CHECK(kinds_of({{"", {}, 0}, {"", {}, 1}}) == Kinds{0, 0});  // frequencies only
  CHECK(kinds_of({}).empty());
}

}  // namespace dts::topo
