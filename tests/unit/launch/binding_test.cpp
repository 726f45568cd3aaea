// SPDX-License-Identifier: Apache-2.0
// The actual binding is the one that the kernel reports.
#include "core/launch/binding/binding.hpp"

#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::launch;
using tests::in_child;

}  // namespace

TEST_CASE("a process bound to one core is on that core, and so is its child") {
  const std::vector<unsigned> before = current_binding();
  REQUIRE_FALSE(before.empty());
  for (const unsigned cpu : before) {
    CAPTURE(cpu);
    const std::vector<unsigned> wanted{cpu};
    CHECK(in_child([&] {
            if (!bind_to(wanted) || current_binding() != wanted) return 1;
            return in_child([&] { return current_binding() == wanted ? 0 : 2; });
          }) == 0);
  }
  CHECK(current_binding() == before);
}

TEST_CASE("binding to all cores in any order reads back ascending") {
  const std::vector<unsigned> all = current_binding();
  CHECK(in_child([&] {
          return bind_to({all.rbegin(), all.rend()}) && current_binding() == all ? 0 : 1;
        }) == 0);
}

TEST_CASE("missing cores are an error that names them, and the binding stays") {
  const std::vector<unsigned> before = current_binding();
  for (const std::vector<unsigned>& cpus : {std::vector<unsigned>{16000}, {999999}, {}}) {
    const auto bound = bind_to(cpus);
    REQUIRE_FALSE(bound);
    CHECK(bound.error().message.find("cannot bind to cores") == 0);
    CHECK(current_binding() == before);
  }
}
