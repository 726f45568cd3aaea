// SPDX-License-Identifier: Apache-2.0
// Where two trainings diverge: according to the digests of their steps, and to their tensors.
#include "core/train/verify/first_difference.hpp"
#include "core/train/verify/history.hpp"
#include "tests/unit/train/checkpoint_folder.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::train;

namespace {

std::string error_of(std::string_view metrics) {
  const auto history = parse_history(metrics);
  if (history) return "";
  CHECK(history.error().code == Errc::invalid);
  return history.error().message;
}

}  // namespace

TEST_CASE("a history has the newest digests of each step") {
  const auto history = parse_history(
      R"({"event":"start","attempt":1,"step":0}
{"event":"step","step":1,"root":"0000000000000001"}
{"event":"step","step":2,"root":"0000000000000002"}
{"event":"save","step":2,"digest":"00000000000000ab"}
{"event":"step","step":2,"root":"0000000000000003"}
{"event":"step","step":3,"ro)");
  REQUIRE(history);
  CHECK(history->roots == StepDigests{{1, "0000000000000001"}, {2, "0000000000000003"}});
  CHECK(history->digests == StepDigests{{2, "00000000000000ab"}});
  CHECK(parse_history("").value().roots.empty());
}

TEST_CASE("lines that are not dttrain's are named") {
  CHECK(error_of("{\"step\":1}\nhello\n") == "line 2: not a JSON object");
  CHECK(error_of("[1]\n") == "line 1: not a JSON object");
  CHECK(error_of("{\"event\":1}\n") == "line 1: step is missing or not a number");
  CHECK(error_of("{\"step\":-1}\n") == "line 1: step is missing or not a number");
  CHECK(error_of("{\"step\":1,\"root\":7}\n") == "line 1: root is not 16 hexadecimal digits");
  CHECK(error_of("{\"step\":1,\"digest\":\"0\"}\n") ==
        "line 1: digest is not 16 hexadecimal digits");
  CHECK(error_of(std::string("\0{\"step\":1}\n", 12)) == "line 1: not a JSON object");
  CHECK(error_of(std::string(100000, '[') + "\n") == "line 1: not a JSON object");
}

TEST_CASE("histories are compared in the steps that both have") {
  const StepDigests there{{1, "a"}, {2, "b"}, {4, "c"}, {5, "d"}};
  const Comparison made = compare(there, {{0, "z"}, {2, "b"}, {4, "x"}, {5, "y"}, {6, "w"}});
  CHECK(made.compared == 3);
  CHECK(made.equal == 2);
  CHECK(made.differs == 4);
  CHECK(made.there == "c");
  CHECK(made.here == "x");
  CHECK(!compare(there, there).differs);
  CHECK(compare(there, {{3, "a"}}).compared == 0);
}

TEST_CASE("the first tensor, chunk and element that differ are those of the files") {
  State there = state_at(3);
  State here = state_at(3);
  CHECK(!compare_tensors(train::layout(), there, here).first);
  CHECK(compare_tensors(train::layout(), there, here).tensors ==
        2 * train::layout().parameters.size() + 4);
  const Tensor& fc1 = train::layout().parameter("fc1.weight");
  // Row 1, channel 3, pixel 5 of 49: column 5 * 16 + 3 here, 3 * 49 + 5 in the file.
  here.weights.data()[fc1.offset + 1568 + 5 * 16 + 3] += 1;
  here.momentum.data()[0] = -0.0F;
  there.momentum.data()[0] = 0.0F;
  const TensorDifferences found = compare_tensors(train::layout(), there, here);
  CHECK(found.differ == 2);
  REQUIRE(found.first);
  CHECK(found.first->tensor == "model.fc1.weight");
  CHECK(found.first->element == 1568 + 3 * 49 + 5);
  CHECK(found.first->begin == 1024);
  CHECK(found.first->end == 2048);
  CHECK(found.first->count == 1);
  CHECK(found.first->here == doctest::Approx(found.first->there + 1));
}

TEST_CASE("layouts with the same tensors are alike") {
  Layout other = cnn2().layout;
  CHECK(are_alike(train::layout(), other));
  other.moments = {"exp_avg", "exp_avg_sq"};
  CHECK(!are_alike(train::layout(), other));
}
