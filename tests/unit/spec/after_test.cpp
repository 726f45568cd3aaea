// SPDX-License-Identifier: Apache-2.0
#include "core/spec/after.hpp"

#include "core/spec/json.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace dts;
using spec::After;

TEST_CASE("--after names a run and how it must end") {
  CHECK(spec::parse_after("4711")->when == After::When::ok);
  CHECK(spec::parse_after("runs/x:any")->when == After::When::any);
  CHECK(spec::parse_after("runs/x:fail")->run == "runs/x");
  CHECK(spec::parse_after("/a:b/x")->run == "/a:b/x");
  for (const char* text : {"/a:b/x:ok", "4711:any", "train:fail"})
    CHECK(spec::to_text(spec::parse_after(text).value()) == text);
}

TEST_CASE("invalid values of --after are refused") {
  for (const std::string& text : {std::string("4711:okay"),
                                  std::string(""),
                                  std::string(":ok"),
                                  std::string("x:"),
                                  std::string("a\0b:ok", 6),
                                  std::string("\xff:ok"),
                                  std::string("a\nb")})
    CHECK_FALSE(spec::parse_after(text));
}

TEST_CASE("a chain and the awaited runs are kept in spec.json") {
  const auto read = [](const std::string& more) {
    return spec::from_json(R"({"schema":"dtsubmit/spec/1",)" + more + R"("command":[]})", "x");
  };
  CHECK(read(R"("chain":3,)")->chain == 3);
  CHECK(read(R"("chain":"until-done",)")->chain == spec::k_endless_chain);
  CHECK(spec::to_json(*read(R"("chain":"until-done",)")).find("until-done") != std::string::npos);
  for (const char* bad : {"1", "0", "1000", "-1", "\"\"", "2.5", "true", "null", "\"for ever\""})
    CHECK_FALSE(read(R"("chain":)" + std::string(bad) + ","));
  CHECK(read(R"("after":["a:ok"],)")->after.front() == "a:ok");
  CHECK_FALSE(read(R"("after":"a",)"));
}
