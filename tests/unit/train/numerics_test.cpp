// SPDX-License-Identifier: Apache-2.0
// What ranks must agree on, and the messages about differences.
#include "core/train/loop/numerics.hpp"

#include "core/train/loop/not_finite.hpp"
#include "tests/unit/train/cnn2.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace dts::train;

TEST_CASE("a processor is named by vendor, family and model") {
  CHECK(processor_of("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
                     "model name\t: Xeon\n\nprocessor\t: 1\nvendor_id\t: Other\n") ==
        "GenuineIntel family 6 model 143");
  CHECK(processor_of("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n") ==
        "implementer 0x41 part 0xd4f");
  CHECK(processor_of("") == "unknown");
  CHECK(processor_of(":::\n\n:") == "unknown");
}

TEST_CASE("values that differ are named with their ranks") {
  CHECK(disagreement("lr", {"0.1", "0.1"}).empty());
  CHECK(disagreement("lr", {"0.1", "0.2", "0.1", "0.1"}) == "lr: 0.1 on rank 0,2,3; 0.2 on rank 1");
  CHECK(disagreement("cpu", {"a", "b", "c"}) == "cpu: a on rank 0; b on rank 1; c on rank 2");
}

TEST_CASE("every field has a value here") {
  const Fingerprint here = local_numerics(InstructionSet::portable, 7);
  for (const char* const name :
       {"cpu", "instruction_set", "onednn", "libc", "compiler", "trainer", "data"}) {
    CAPTURE(name);
    REQUIRE(here.count(name) == 1);
    CHECK_FALSE(here.at(name).empty());
  }
  CHECK(here.at("data") == "0000000000000007");
}

TEST_CASE("the first tensor that is not finite is named in the order of computation") {
  const Layout layout = cnn2().layout;
  Buffer sums(layout.sum_floats());
  const auto first = [&] { return first_not_finite(layout, sums.data()).value_or(""); };
  CHECK(first().empty());
  const float infinite = std::numeric_limits<float>::infinity();
  sums.data()[layout.parameter("conv1.weight").offset + 7] = infinite;
  CHECK(first() == "the gradient of conv1.weight");
  sums.data()[layout.parameter("fc2.bias").offset + 9] = -infinite;
  CHECK(first() == "the gradient of fc2.bias");
  CHECK_FALSE(first_not_finite_of_tail(layout, sums.data() + layout.parameter_floats));
  sums.data()[layout.scalar(Scalar::loss)] = NAN;
  CHECK(first() == "the loss");
  sums.data()[layout.parameter_floats + layout.statistic("bn2.running_var").offset] = NAN;
  CHECK(first() == "the batch's bn2.running_var");
}
