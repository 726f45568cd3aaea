// SPDX-License-Identifier: Apache-2.0
// From what is typed to the elements of a sweep.
#include "core/sweep/sweep.hpp"

#include "core/base/text/text.hpp"
#include "core/sweep/json.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace dts;
using namespace dts::sweep;

namespace {

Typed typed(std::vector<std::string> sweep, std::string mode = "", std::string array = "") {
  return {std::move(sweep), std::move(mode), std::move(array), [](const std::string& path) {
            return Result<std::string>(fail(Errc::not_found, path + " does not exist"));
          }};
}

Typed table(std::string text) {
  Typed all = typed({"runs.csv"});
  all.read_file = [text = std::move(text)](const std::string&) {
    return Result<std::string>(text);
  };
  return all;
}

// "0.1 1|0.1 2", or the first problem.
std::string rows(const Typed& all) {
  const auto made = make_sweep(all);
  if (!made) return to_text(made.error().front());
  std::vector<std::string> lines;
  for (const Element& element : made->elements) lines.push_back(join(element.values, " "));
  return join(lines, "|");
}

bool says(const Typed& all, const std::string& words) {
  const auto made = make_sweep(all);
  if (made) return false;
  for (const Diagnostic& problem : made.error())
    if (to_text(problem).find(words) != std::string::npos) return true;
  MESSAGE(to_text(made.error().front()));
  return false;
}

}  // namespace

TEST_CASE("a grid is every combination, the last parameter changing fastest") {
  CHECK(rows(typed({"lr=0.1,0.01", "seed=1..3"})) == "0.1 1|0.1 2|0.1 3|0.01 1|0.01 2|0.01 3");
  CHECK(rows(typed({"n=0..100:50"})) == "0|50|100");
  CHECK(rows(typed({"n=-2..1"})) == "-2|-1|0|1");
  CHECK(rows(typed({R"(text="a,b", c ,"","1..x")"})) == "a,b|c||1..x");
  CHECK(rows(typed({"path=../a,./b"})) == "../a|./b");
}

TEST_CASE("zip pairs the values; a single one goes with all") {
  CHECK(rows(typed({"lr=0.1,0.01", "bs=32,64", "opt=adam"}, "zip")) == "0.1 32 adam|0.01 64 adam");
  CHECK(says(typed({"lr=1,2", "bs=1,2,3"}, "zip"), "`lr` has 2 values, another parameter 3"));
}

TEST_CASE("random draws different elements of the grid, by the seed alone") {
  const auto all = typed({"a=0..99", "b=0..99"}, "random:20:7");
  CHECK(rows(all) == rows(all));
  CHECK(rows(all) != rows(typed({"a=0..99", "b=0..99"}, "random:20:8")));
  const auto made = make_sweep(all).value();
  CHECK(made.seed == 7);
  CHECK(make_sweep(typed({"a=0..99"}, "random:3")).value().seed == 0);
  std::vector<std::string> every = split(rows(typed({"a=0..3", "b=0..1"}, "random:8")), '|');
  std::sort(every.begin(), every.end());
  CHECK(join(every, "|") == "0 0|0 1|1 0|1 1|2 0|2 1|3 0|3 1");
  CHECK(says(typed({"a=0..3"}, "random:5"), "the grid has only 4"));
}

TEST_CASE("values drawn from an interval lie in it, and are the same on every machine") {
  const auto made =
      make_sweep(typed({"lr=log(1e-5..1e-1)", "p=uniform(0..0.5)", "o=a,b"}, "random:200:3"))
          .value();
  unsigned small = 0;
  for (const Element& element : made.elements) {
    const double lr = parse_real(element.values[0]).value();
    const double p = parse_real(element.values[1]).value();
    CHECK((lr >= 1e-5 && lr <= 1e-1));
    CHECK((p >= 0 && p <= 0.5));
    if (lr < 1e-3) ++small;
  }
  CHECK((small > 60 && small < 140));  // half of the orders of magnitude
  CHECK(says(typed({"lr=log(1e-5..1e-1)"}), "only random draws"));
  CHECK(says(typed({"lr=log(0..1)"}, "random:3"), "is not an interval"));
  CHECK(says(typed({"lr=uniform(2..1)"}, "random:3"), "is not an interval"));
  CHECK(says(typed({"lr=uniform(0..1),5"}, "random:3"), "an interval and other values"));
}

TEST_CASE("a CSV file lists the elements") {
  CHECK(rows(table("lr, name\n0.1, a b\n\n\"0.01\",\"x, \"\"y\"\"\"\r\n")) ==
        "0.1 a b|0.01 x, \"y\"");
  CHECK(rows(table("\xef\xbb\xbflr\n1\n2")) == "1|2");
  CHECK(make_sweep(table("lr\n1\n")).value().mode == "csv");
  CHECK(says(table(""), "has no elements"));
  CHECK(says(table("lr\n"), "has no elements"));
  CHECK(says(table("lr,bs\n1\n"), "runs.csv:2:1: 1 values for 2 parameters"));
  CHECK(says(table("lr,lr\n1,2\n"), "runs.csv:1:4: parameter `lr` is given twice"));
  CHECK(says(table("l r\n1\n"), "runs.csv:1:1: `l r` is not a parameter's name"));
  CHECK(says(table("a\n\"x\n"), "the quotation mark is never closed"));
  CHECK(says(table("a,b\n1,\"x\"y\n"), "runs.csv:2:6: text behind a quoted value"));
  CHECK(says(table(std::string("a\nx\0y\n", 6)), "not UTF-8 text"));
  CHECK(says(table("a\n\xff\n"), "not UTF-8 text"));
  CHECK(says(table("a\n\"1\n2\"\n"), "control character"));
  CHECK(says(typed({"runs.csv"}), "runs.csv does not exist"));
  CHECK(says(typed({"runs.csv", "a=1"}), "nothing else can vary"));
  std::string many = "a\n";
  for (int i = 0; i < 100'001; ++i) many += "1\n";
  CHECK(says(table(many), "more than 100000 elements"));
  std::string broken = "a,b\n";
  for (int i = 0; i < 1000; ++i) broken += "1\n";
  CHECK(make_sweep(table(broken)).error().size() == 20);
}

TEST_CASE("--array alone is a sweep without parameters, with --sweep it selects") {
  const auto plain = make_sweep(typed({}, "", "1,3,5-9:2%2")).value();
  CHECK(plain.array() == "1-9:2%2");
  CHECK(plain.at_once == 2);
  CHECK(plain.mode.empty());
  const auto some = make_sweep(typed({"a=10,11,12,13"}, "", "1-2%1")).value();
  CHECK(some.elements.front().index == 1);
  CHECK(some.elements.front().values.front() == "11");
  CHECK(make_sweep(typed({"a=1..20"}, "", "%4")).value().array() == "0-19%4");
  CHECK(says(typed({"a=1,2"}, "", "2"), "index 2, but the sweep has 2 elements"));
  CHECK(says(typed({}, "", "%4"), "names no elements"));
  CHECK(says(typed({}, "zip", ""), "there is no --sweep"));
  for (const char* bad : {"",
                          "x",
                          "3-1",
                          "1-",
                          "-1",
                          "1-5:0",
                          "1:2",
                          "0-9%0",
                          "0-9%",
                          "0-9%x",
                          "1,,2",
                          "4000001",
                          "0-3999999",
                          "99999999999999999999"})
    if (*bad != '\0') CHECK_FALSE(make_sweep(typed({}, "", bad)));
}

TEST_CASE("too many elements are refused before they are made") {
  CHECK(says(typed({"a=1..1000", "b=1..1000"}), "the grid has 1000000 elements"));
  CHECK(says(typed({"a=1..9999999999"}), "has more than 100000 values"));
  std::vector<std::string> huge;
  for (int i = 0; i < 64; ++i) huge.push_back(fmt::format("p{}=1..9999", i));
  CHECK(says(typed(huge), "far too many"));
  CHECK(make_sweep(typed(huge, "random:3")).value().elements.size() == 3);
  huge.emplace_back("one_more=1");
  CHECK(says(typed(huge, "random:3"), "65 parameters, at most 64"));
  CHECK(says(typed({"a=1"}, "random:100001"), "at most 100000"));
  const auto wide = make_sweep(typed({"a=0..2000"})).value();
  CHECK(check_size(wide, 1001).value().message.find("below 1001 (MaxArraySize)") !=
        std::string::npos);
  CHECK(check_size(wide, 1001).value().where == "--sweep");
  CHECK_FALSE(check_size(wide, 0));
  CHECK_FALSE(check_size(wide, 2001));
}

TEST_CASE("what cannot be a sweep is refused with all its problems") {
  CHECK(says(typed({"=1"}), "is not a parameter's name"));
  CHECK(says(typed({"1a=1"}), "is not a parameter's name"));
  CHECK(says(typed({"a-b=1"}), "is not a parameter's name"));
  CHECK(says(typed({std::string(65, 'a') + "=1"}), "is not a parameter's name"));
  CHECK(says(typed({"index=1"}), "the element's own number"));
  CHECK(says(typed({"lr=1", "LR=2"}), "would be one variable, DTSUBMIT_PARAMETER_LR"));
  CHECK(says(typed({"lr"}), "neither NAME=VALUES nor a file"));
  CHECK(says(typed({"lr="}), "a value is empty"));
  CHECK(says(typed({"lr=1,,2"}), "a value is empty"));
  CHECK(says(typed({"lr=0.1..0.5"}), "not a range of whole numbers"));
  CHECK(says(typed({"lr=3..1"}), "is empty"));
  CHECK(says(typed({"lr=1..3:0"}), "is empty"));
  CHECK(says(typed({"lr=1..3:-1"}), "is empty"));
  CHECK(says(typed({"lr=-9223372036854775808..9223372036854775807"}), "more than 100000"));
  CHECK(says(typed({"lr=\"1"}), "never closed"));
  CHECK(says(typed({std::string("lr=a\0b", 6)}), "not UTF-8 text"));
  CHECK(says(typed({"lr=\xc0\xaf"}), "not UTF-8 text"));
  CHECK(says(typed({"lr=1\n2"}), "second line"));
  CHECK(says(typed({"lr=" + std::string(1025, 'x')}), "1025 bytes"));
  CHECK(says(typed({"lr=1"}, "gird"), "not a way to combine"));
  CHECK(make_sweep(typed({"a", "b=", "c=1..x"}, "all", "x")).error().size() == 5);
}

TEST_CASE("sweep.json holds all that a sweep is") {
  for (const auto& all : {typed({"lr=\"a \"\"b\"\"\",0.1", "seed=1..3"}, "random:4:9", "%2"),
                          typed({}, "", "3,7"),
                          typed({"a=1,2"}, "zip")}) {
    const auto made = make_sweep(all).value();
    const auto back = sweep_from_json(to_json(made), "sweep.json");
    REQUIRE(back);
    CHECK(to_json(*back) == to_json(made));
    CHECK(back->seed == made.seed);
  }
  for (
      const char* bad :
      {"",
       "[]",
       "{}",
       R"({"schema":"dtsubmit/sweep/1"})",
       R"({"schema":"dtsubmit/sweep/1","elements":[1]})",
       R"({"schema":"dtsubmit/sweep/1","elements":[{"index":1,"values":["x"]}]})",
       R"({"schema":"dtsubmit/sweep/1","parameters":["a b"],"elements":[]})",
       R"({"schema":"dtsubmit/sweep/1","elements":[{"index":1,"values":[]},{"index":1,"values":[]}]})"})
    CHECK_FALSE(sweep_from_json(bad, "sweep.json"));
}
