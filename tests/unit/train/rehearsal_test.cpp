// SPDX-License-Identifier: Apache-2.0
#include "core/train/rehearsal/payload.hpp"
#include "core/train/rehearsal/rehearsal_plan.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace dts;
using namespace dts::train;

namespace {

RehearsalPlan plan_of(const std::string& words) {
  const auto plan = parse_rehearsal(words);
  REQUIRE(plan.has_value());
  return *plan;
}

constexpr std::uint64_t k_bytes = (std::uint64_t{3} << 20) + 17;

}  // namespace

TEST_CASE("the numbers of a rehearsal") {
  const RehearsalPlan plan =
      plan_of("params=7B,step=2.5s,checkpoint=84G/node,memory=1.5GiB/rank,precision=fp32");
  CHECK(plan.parameters == 7e9);
  CHECK(plan.parameter_bytes == 4);
  CHECK(plan.step == 2.5);
  CHECK(plan.checkpoint.of_rank(16, 8) == 10500000000);
  CHECK(plan.memory.of_rank(16, 8) == std::uint64_t{3} << 29);
  CHECK(plan_of("checkpoint=100").checkpoint.of_rank(16, 8) == 7);  // rounded up
  CHECK(plan_of("step=300ms").step == doctest::Approx(0.3));
  CHECK(plan_of("step=2m").step == 120);
  CHECK(plan_of(plan.text()).text() == plan.text());
}

TEST_CASE("what each rank sends is what an all-reduce takes") {
  const RehearsalPlan plan = plan_of("params=1M");
  CHECK(plan.sent_bytes(1) == 0);
  CHECK(plan.sent_bytes(2) == 2e6);
  CHECK(plan.sent_bytes(4) == 3e6);
}

TEST_CASE("a wrong number of a rehearsal is named, with an example") {
  for (const std::string word : {"params=-7B",
                                 "params=7X",
                                 "params=",
                                 "params=1e30",
                                 "params=nan",
                                 "precision=fp8",
                                 "step=fast",
                                 "step=2d",
                                 "step=-1",
                                 "checkpoint=84G/gpu",
                                 "checkpoint=G",
                                 "checkpoint=/node",
                                 "memory=1Q",
                                 "parameters=7B",
                                 "7B"}) {
    CAPTURE(word);
    const auto plan = parse_rehearsal("step=1," + word);
    REQUIRE(!plan);
    CHECK(plan.error().code == Errc::usage);
    CHECK(plan.error().message.find("'" + word + "'") != std::string::npos);
    CHECK(!plan.error().hint.empty());
  }
  CHECK(!parse_rehearsal(""));
}

TEST_CASE("a payload is read back by any number of readers") {
  const dts::tests::TemporaryFolder folder;
  for (int part = 0; part < 3; ++part) REQUIRE(write_payload(folder.path, {3, part, 20}, k_bytes));
  for (const int readers : {1, 2, 3, 5}) {
    std::uint64_t bytes = 0;
    for (int reader = 0; reader < readers; ++reader) {
      const auto read = read_payload(folder.path, 20, readers, reader);
      REQUIRE(read);
      bytes += *read;
    }
    CHECK(bytes == 3 * k_bytes);
  }
  CHECK(!read_payload(folder.path, 21, 1, 0));  // of another step
  CHECK(!write_payload(folder.path, {3, 0, 20}, k_bytes));
}

TEST_CASE("a payload of nothing has no file, and the smallest is found to be cut off") {
  const dts::tests::TemporaryFolder folder;
  REQUIRE(write_payload(folder.path, {1, 0, 1}, 0));
  CHECK(std::filesystem::is_empty(folder.path));
  CHECK(read_payload(folder.path, 1, 1, 0) == 0);
  REQUIRE(write_payload(folder.path, {1, 0, 1}, 1));
  CHECK(read_payload(folder.path, 1, 1, 0) == 32);
  std::filesystem::resize_file(folder.path + "/payload-00001-of-00001.bin", 31);
  CHECK(!read_payload(folder.path, 1, 1, 0));
}

TEST_CASE("a damaged payload is named, with the place") {
  const dts::tests::TemporaryFolder folder;
  for (int part = 0; part < 2; ++part) REQUIRE(write_payload(folder.path, {2, part, 20}, k_bytes));
  const std::string second = folder.path + "/payload-00002-of-00002.bin";
  const auto message = [&] {
    const auto read = read_payload(folder.path, 20, 1, 0);
    REQUIRE(!read);
    CHECK(read.error().code == Errc::invalid);
    return read.error().message;
  };
  SUBCASE("a byte") {
    std::fstream file(second, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(2500000);
    file.put('x');
    file.close();
    CHECK(message() == second + ": byte 2500000 is not what was written");
  }
  SUBCASE("its end") {
    std::filesystem::resize_file(second, 2 << 20);
    CHECK(message() == second + ": 2097152 bytes of 3145745 are there");
  }
  SUBCASE("more at its end") {
    std::filesystem::resize_file(second, k_bytes + 1);
    CHECK(message() == second + ": 3145746 bytes of 3145745 are there");
  }
  SUBCASE("the file") {
    std::filesystem::remove(second);
    CHECK(message() == folder.path + ": 1 of 2 files of the payload are there");
  }
}
