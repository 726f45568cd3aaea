// SPDX-License-Identifier: Apache-2.0
#include "core/base/release.hpp"

#include <doctest/doctest.h>

using namespace dts;

TEST_CASE("releases are compared by year and month") {
  CHECK(release_of("22.05.8") == Release{22, 5});
  CHECK(release_of("24.11") == Release{24, 11});
  CHECK(release_of("24.11.0-0rc1") == Release{24, 11});
  CHECK(*release_of("22.05") < *release_of("23.02"));
  CHECK(*release_of("23.02") < *release_of("23.11"));
  for (const char* text : {"", "24", "24.", ".11", "v24.11", "-1.2", "new"})
    CHECK_FALSE(release_of(text));
  CHECK(to_string(Release{22, 5}) == "22.05");
}
