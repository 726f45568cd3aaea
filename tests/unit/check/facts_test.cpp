// SPDX-License-Identifier: Apache-2.0
// check.json as it is read, and what is said of one that is not as expected.
#include "core/check/measures.hpp"
#include "core/check/spread.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::check;
using dts::tests::contains;

const char* const k_document = R"({
 "schema": 1, "trainer": "0.1.0", "began": "2026-11-23T15:40:00Z", "seconds": 41.2, "quick": false,
 "gpus_asked": 8,
 "nodes": [
  {"node": "n1", "rank": 0, "cpu": "AMD", "cores": 8,
   "measures": [{"key": "cores", "value": 8, "unit": ""},
                {"key": "memory", "numa": 1, "value": 2.1e10, "unit": "B/s", "others": 0.25},
                {"key": "hbm", "gpu": 7, "model": "H100", "path": "0000:3b:00.0", "value": 3e12, "unit": "B/s"},
                {"key": "write", "path": "/tmp", "what": "scratch", "value": 4.0e8, "unit": "B/s"}],
   "steps": {"repeats": 100, "digest": "1e4d", "odd_repeats": [3]},
   "gpu_steps": [{"gpu": 7, "model": "H100", "path": "0000:3b:00.0", "repeats": 1000, "digest": "2e", "odd_repeats": [699]}], "notes": ["no bf16 here"]},
  {"node": "n2", "rank": 1, "measures": [{"key": "clock_offset", "value": -0.5, "unit": "s"}]}],
 "pairs": [{"a": "n1", "b": "n2", "latency": 1.2e-6, "bandwidth": 1.1e10, "disturbed": true}],
 "collectives": [{"operation": "all_reduce", "bytes": 8, "time": 3.1e-6, "algbw": 2.6e6, "busbw": 3.9e6}],
 "later": {}, "notes": []})";

std::string with(const std::string& what, const std::string& instead) {
  std::string text = k_document;
  return text.replace(text.find(what), what.size(), instead);
}

}  // namespace

TEST_CASE("a document is read whole; members of later releases are skipped") {
  const auto facts = parse_facts(k_document);
  REQUIRE(facts);
  REQUIRE(facts->nodes.size() == 2);
  CHECK(facts->nodes[0].measures[1].numa == 1);
  CHECK(facts->nodes[0].measures[1].others == 0.25);
  CHECK(facts->gpus_asked == 8);
  CHECK(facts->nodes[0].measures[2].gpu == 7);
  CHECK(identity(facts->nodes[0].measures[2]) == "hbm/7/H100");
  CHECK(label(facts->nodes[0].measures[2]) == "memory bandwidth of GPU 7 (H100, 0000:3b:00.0)");
  CHECK(heading(facts->nodes[0].measures[2]) == "HBM 7");
  CHECK(facts->nodes[0].measures[3].path == "/tmp");
  CHECK(facts->nodes[0].steps.odd_repeats == std::vector<unsigned>{3});
  REQUIRE(facts->nodes[0].gpu_steps.size() == 1);
  CHECK(facts->nodes[0].gpu_steps[0].gpu == 7);
  CHECK(facts->nodes[0].gpu_steps[0].path == "0000:3b:00.0");
  CHECK(facts->nodes[0].gpu_steps[0].steps.odd_repeats == std::vector<unsigned>{699});
  CHECK(facts->nodes[0].notes.size() == 1);
  CHECK(facts->nodes[1].measures[0].value == -0.5);
  CHECK(facts->pairs[0].latency == 1.2e-6);
  CHECK(facts->pairs[0].disturbed);
  CHECK(facts->collectives[0].busbw == 3.9e6);
}

TEST_CASE("what is wrong is named by its place") {
  struct Wrong {
    const char* what;
    const char* instead;
    const char* says;
  };

  for (const Wrong& wrong :
       {Wrong{"\"schema\": 1", "\"schema\": 2", "schema: 1 is expected"},
        {"8, \"unit\"", "\"8\", \"unit\"", "nodes[0].measures[0].value"},
        {"2.1e10", "-1", "nodes[0].measures[1].value"},
        {"0.25", "1.5", "nodes[0].measures[1].others: a share up to 1 is expected"},
        {"2.1e10", "null", "nodes[0].measures[1].value"},
        {"\"value\": 2.1e10, ", "", "nodes[0].measures[1].value: is missing"},
        {"\"key\": \"cores\"", "\"key\": \"\"", "nodes[0].measures[0].key"},
        {"\"numa\": 1", "\"numa\": -1", "nodes[0].measures[1].numa"},
        {"\"gpu\": 7", "\"gpu\": 0.5", "nodes[0].measures[2].gpu"},
        {"\"repeats\": 1000", "\"repeats\": -1", "nodes[0].gpu_steps[0].repeats"},
        {"\"gpus_asked\": 8", "\"gpus_asked\": -1", "gpus_asked"},
        {"[3]", "[3.5]", "odd_repeats[0]"},
        {"[\"no bf16 here\"]", "[7]", "nodes[0].notes[0]"},
        {"\"AMD\"", "\"A\\u001b[0m\"", "nodes[0].cpu"},
        {"\"node\": \"n2\"", "\"node\": \"n1\"", "n1 appears twice"},
        {"\"b\": \"n2\"", "\"b\": \"n7\"", "n1 and n7 are not two of the nodes"},
        {"\"quick\": false", "\"quick\": 0", "quick: true or false"},
        {"\"notes\": []}", "\"notes\": []", "not JSON, or incomplete"}}) {
    CAPTURE(doctest::String(wrong.says));
    const auto facts = parse_facts(with(wrong.what, wrong.instead));
    REQUIRE_FALSE(facts);
    CHECK(facts.error().code == Errc::invalid);
    CAPTURE(facts.error().message);
    CHECK(contains(facts.error().message, wrong.says));
  }
  for (const char* text :
       {"", "[]", "7", "{}", R"({"schema":1,"nodes":[]})", R"({"schema":1,"nodes":{}})"})
    CHECK_FALSE(parse_facts(text));
}

TEST_CASE("quantities have three digits and a prefix") {
  CHECK(quantity(2.11e10, "B/s") == "21.1 GB/s");
  CHECK(quantity(3.1e9, "Hz") == "3.10 GHz");
  CHECK(quantity(999.6, "B/s") == "1.00 kB/s");
  CHECK(quantity(1.2e-6, "s") == "1.20 us");
  CHECK(quantity(2, "s") == "2.00 s");
  CHECK(quantity(7200, "s") == "7200 s");
  CHECK(quantity(0, "B/s") == "0 B/s");
  CHECK(quantity(8, "") == "8");
  CHECK(quantity(1e300, "B/s").size() < 400);
  CHECK(of_quantity(1.02e10, 2.11e10, "B/s") == "10.2 of 21.1 GB/s");
  CHECK(of_quantity(1.02e8, 2.11e10, "B/s") == "102 MB/s of 21.1 GB/s");
  CHECK(of_quantity(7, 8, "") == "7 of 8");
}

TEST_CASE("a value's peers are the others, in a large sample all") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  const Sample few({10, 1, 1, 4});
  CHECK(few.centre(0) == 1);
  CHECK(few.distances(0) == std::vector<double>{0, 3});
  CHECK(Sample({1, 2}).distances(0).empty());
  CHECK(Sample({1}).peers() == 0);
  const Sample more({100, 1, 2, 3, 4, 5});
  CHECK(more.centre(0) == 3);
  CHECK(more.distances(0) == std::vector<double>{1, 1, 2, 2});
  CHECK(noise_limit(more.distances(0), 6) == doctest::Approx(6 * 5 * 1.4826 * 1));
  CHECK(noise_limit({}, 6) == 0);
  std::vector<double> hundred;
  for (int i = 0; i < 100; ++i) hundred.push_back(i);
  const Sample large(hundred);
  CHECK(large.is_large());
  CHECK(large.centre(99) == 49.5);
  CHECK(large.distances(0).size() == 99);
}

TEST_CASE("noise of several samples is that of all their distances, small or large") {
  std::vector<double> hundred;
  for (int i = 0; i < 100; ++i) hundred.push_back(i % 7);
  const Sample few({10, 1, 1, 4}), one(hundred), other(hundred);
  JointNoise noise(6);
  CHECK(noise.limit({{&few, 0}}) == noise_limit({0, 3}, 6));
  CHECK(noise.limit({{&few, 1}}) == noise_limit(few.distances(1), 6));  // the place counts
  std::vector<double> both = one.distances(0);
  const std::vector<double> more = other.distances(5);
  both.insert(both.end(), more.begin(), more.end());
  for (const std::size_t place : {0, 50})
    CHECK(noise.limit({{&one, place}, {&other, place}}) == noise_limit(both, 6));
  CHECK(noise.limit({}) == 0);
}
