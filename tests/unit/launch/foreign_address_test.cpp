// SPDX-License-Identifier: Apache-2.0
// Meeting places in the user's own command.
#include "core/launch/attempt/start/foreign_address.hpp"

#include "core/base/text/text.hpp"

#include <doctest/doctest.h>

namespace dts::launch {

TEST_CASE("an address of no node of the job is doubted, unless it may be right") {
  const std::set<std::string> own{"n0", "n1", "10.0.0.1", "10.0.0.2", "2001:db8::1"};

  struct {
    const char* command;
    const char* doubted;  // in the words; nullptr: nothing is wrong
  } const table[] = {
      {"torchrun --master-addr 10.0.0.1 t.py", nullptr},
      {"torchrun --master_addr=n1 t.py", nullptr},
      {"torchrun --master_addr=n1.cluster.site t.py", nullptr},
      {"torchrun --master_addr 10.0.0.9 t.py", "--master-addr 10.0.0.9 is no address"},
      {"torchrun --rdzv_backend c10d --rdzv_endpoint n7:29500 t.py", "--rdzv-endpoint n7 is no"},
      {"torchrun --rdzv_endpoint [2001:db8::1]:29500 t.py", nullptr},
      {"torchrun --rdzv_endpoint [2001:db8::2]:29500 t.py", "--rdzv-endpoint 2001:db8::2 is no"},
      {"torchrun --rdzv_backend etcd-v2 --rdzv_endpoint etcd:2379 t.py", nullptr},
      {"accelerate launch --main_process_ip 10.0.0.9 t.py", "--main_process_ip 10.0.0.9 is no"},
      {"torchrun --master_addr $MASTER_ADDR t.py", nullptr},
      {"torchrun t.py --master_addr 10.0.0.9", nullptr},  // the program's own
      {"python3 t.py --master_addr 10.0.0.9", nullptr},
  };

  for (const auto& row : table) {
    CAPTURE(row.command);
    const std::string words = foreign_address(split(row.command, ' '), own);
    CHECK(words.empty() == (row.doubted == nullptr));
    if (row.doubted != nullptr) CHECK(words.starts_with(row.doubted));
  }
}

}  // namespace dts::launch
