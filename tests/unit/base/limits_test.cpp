// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/limits.hpp"

#include <doctest/doctest.h>

namespace dts {

TEST_CASE("limits of resources as people write them") {
  const auto files = parse_resource_limit("nofile=65536");
  REQUIRE(files);
  CHECK(files->resource == RLIMIT_NOFILE);
  CHECK(files->soft == 65536);
  CHECK_FALSE(files->hard);
  const auto stack = parse_resource_limit("stack=8M:unlimited");
  REQUIRE(stack);
  CHECK(stack->soft == 8 << 20);
  CHECK(stack->hard == RLIM_INFINITY);
  for (const char* bad : {"",
                          "=",
                          "nofile",
                          "nofile=",
                          "NOFILE=1",
                          "nofile=-1",
                          "nofile=1x",
                          "nofile=2:1",
                          "nofile=1:",
                          "nofile=unlimited:5",
                          "stack=99999999999999999999",
                          "stack=16777216T"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_resource_limit(bad));
  }
}

TEST_CASE("a limit that was set can be read back, and lowering a limit is always allowed") {
  const auto core = parse_resource_limit("core=0");
  REQUIRE(core);
  CHECK(may_set(*core));
  CHECK(set_limit(*core) == 0);
  rlimit now{};
  CHECK(::getrlimit(RLIMIT_CORE, &now) == 0);
  CHECK(now.rlim_cur == 0);
}

TEST_CASE("a limit that the kernel refuses, also to root, is named before the program starts") {
  const auto files = parse_resource_limit("nofile=2000000000");  // fs.nr_open, proc(5)
  REQUIRE(files);
  rlimit before{};
  CHECK(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto allowed = may_set(*files);
  REQUIRE_FALSE(allowed);
  CHECK(allowed.error().message.find("more than the hard limit here") != std::string::npos);
  rlimit after{};
  CHECK(::getrlimit(RLIMIT_NOFILE, &after) == 0);
  CHECK(after.rlim_cur == before.rlim_cur);
  CHECK(after.rlim_max == before.rlim_max);
}

TEST_CASE("a mask is octal") {
  CHECK(parse_umask("027") == 027U);
  CHECK(parse_umask("0") == 0U);
  for (const char* bad : {"", "8", "0o27", "1000", "-1", "00027"}) CHECK_FALSE(parse_umask(bad));
}

}  // namespace dts
