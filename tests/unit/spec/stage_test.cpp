// SPDX-License-Identifier: Apache-2.0
// The value of --stage.
#include "core/spec/stage.hpp"

#include <doctest/doctest.h>

namespace dts::spec {

TEST_CASE("what is staged, and where it goes") {
  struct Case {
    const char* text;
    StageItem item;
  };

  for (const Case& c : {Case{"/data/images", {"/data/images", "images", false}},
                        {"/data/images/", {"/data/images", "images", false}},
                        {"/data/images:train", {"/data/images", "train", false}},
                        {"/data/images:train/", {"/data/images", "train/images", false}},
                        {"data.tar", {"data.tar", "data.tar", false}},
                        {"data.tar:x.tar", {"data.tar", "x.tar", false}},
                        {"a/data.tar.zst:x/y/", {"a/data.tar.zst", "x/y", true}},
                        {"a:b:c", {"a:b", "c", false}},
                        {"a:b:", {"a:b", "a:b", false}},
                        {"a:b:x/", {"a:b", "x/a:b", false}},
                        {"data.tar:data.tar/", {"data.tar", "data.tar", true}},
                        {"d:e/c:x/", {"d:e/c", "x/c", false}},
                        {"data.tar:x/data.tar", {"data.tar", "x/data.tar", false}},
                        {"it's $(x) *:b c", {"it's $(x) *", "b c", false}},
                        {".:here", {".", "here", false}},
                        {"/:all", {"/", "all", false}}}) {
    CAPTURE(c.text);
    const auto item = parse_stage_item(c.text);
    REQUIRE(item);
    CHECK(*item == c.item);
    CHECK(parse_stage_item(to_text(*item)).value() == c.item);
  }
}

TEST_CASE("a place outside the stage folder, an empty name and non-text bytes are refused") {
  for (const std::string& text : {std::string(),
                                  std::string(":a"),
                                  std::string("/"),
                                  std::string(".."),
                                  std::string("a/."),
                                  std::string("..:x/"),
                                  std::string("a:/etc"),
                                  std::string("a:../b"),
                                  std::string("a:b/../c"),
                                  std::string("a:b//c"),
                                  std::string("a:/"),
                                  std::string("data.tar:/"),
                                  std::string("a:."),
                                  std::string("a\nb"),
                                  std::string("a\0b", 3),
                                  std::string("a\xff"),
                                  std::string("a:\x1b[31m"),
                                  std::string(5000, 'a')}) {
    CAPTURE(text);
    CHECK_FALSE(parse_stage_item(text));
  }
}

TEST_CASE("names of archives") {
  for (const char* name : {"a.tar", "a.tar.gz", "a.tgz", "a.tar.zst", "a.tar.xz", "a.b.tar.bz2"})
    CHECK(is_archive_name(name));
  for (const char* name : {".tar", "tar", "a.zip", "a.tar.gz.part", "a.gz"})
    CHECK_FALSE(is_archive_name(name));
}

TEST_CASE("all problems at once, and two that would go to the same place") {
  Diagnostics problems;
  check_stage_items(
      {"/a/data", "/b/data", "x:/y", "/c:data/x.tar", "/d:data2"}, "--stage", problems);
  REQUIRE(problems.size() == 4);
  CHECK(problems[0].message == "`/a/data` and `/b/data` go to the same place, data");
  CHECK(problems[1].message == "`/y` is not below the stage folder");
  CHECK(problems[2].where == "--stage");
}

}  // namespace dts::spec
