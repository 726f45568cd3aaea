// SPDX-License-Identifier: Apache-2.0
// Requirements for a module, and the messages for machines that lack something.
#include "core/train/accelerator/open_device.hpp"

#include "tests/support/host_device.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::train::accelerator;

namespace {

const std::string k_path = "/x/dttrain-cuda.so";

Error refusal(const dttrain_device& table) {
  auto opened = open_device(&table, k_path, "cuda", 0);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == Errc::invalid);
  CHECK_FALSE(opened.error().hint.empty());
  return opened.error();
}

bool says(const Error& error, const std::string& words) {
  return error.message.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("ranks of a node get its devices in turn") {
  for (const int local : {0, 1, 2, 3}) {
    const auto opened = open_device(host_device::table(), k_path, "cuda", local);
    REQUIRE(opened);
    CHECK(opened->devices == 2);
    CHECK(opened->number == local % 2);
    CHECK(opened->text() == "the host as a device, for tests, plain loops");
  }
}

TEST_CASE("what a machine lacks is named, and what to do") {
  const std::pair<int, const char*> lacks[] = {
      {DTTRAIN_LACKS_DRIVER, "no driver works here: as the test wants it"},
      {DTTRAIN_LACKS_NEWER_DRIVER, "the driver is too old: as"},
      {DTTRAIN_LACKS_DEVICE, "there is no device: as"},
      {DTTRAIN_LACKS_NEWER_DEVICE, "the device is too old: as"},
      {DTTRAIN_LACKS_OTHER, "the device cannot be used: as"}};
  for (const auto& [lack, words] : lacks) {
    host_device::set_lack(lack);
    CHECK(says(refusal(*host_device::table()), words));
  }
  host_device::set_lack(DTTRAIN_LACKS_NOTHING);
}

TEST_CASE("a module of another build is refused before anything of it is called") {
  dttrain_device table = *host_device::table();
  table.count = nullptr;
  table.open = nullptr;
  table.abi_version = DTTRAIN_DEVICE_ABI + 1;
  CHECK(says(refusal(table), k_path + " has version 7 of the interface, this dttrain 6"));
  table.abi_version = DTTRAIN_DEVICE_ABI;
  table.struct_size -= 8;
  CHECK(says(refusal(table), "was built with another dttrain"));
  table.struct_size += 8;
  ++table.kernels;
  CHECK(says(refusal(table), "was built with another dttrain"));
  --table.kernels;
  table.name = "rocm";
  CHECK(says(refusal(table), "calls itself 'rocm'"));
  CHECK_FALSE(open_device(nullptr, k_path, "cuda", 0));
}

TEST_CASE("a device that fails is one error, whatever was enqueued") {
  dttrain_device table = *host_device::table();
  table.facts = [](dttrain_context*, dttrain_facts*) -> const char* { return "it is broken"; };
  CHECK(says(refusal(table), "device 0 does not work: it is broken"));
  table = *host_device::table();
  table.allocate = [](dttrain_context*, size_t, void**) -> const char* { return "no memory"; };
  auto opened = open_device(&table, k_path, "cuda", 0);
  REQUIRE(opened);
  CHECK_THROWS_WITH_AS(
      (void)opened->queue->allocate(8), "no memory, 32 bytes more than the 0 before", DeviceError);
}
