// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/writable.hpp"

#include "core/base/files/files.hpp"

#include <string>

namespace dts::run {

Result<void> check_writable(const RunDirectory& run) {
  constexpr std::size_t k_block = 4096;  // an event may need this much if a block is full
  const std::string path = run.path + "/.write-check";
  DTS_TRY(write_file(path, std::string(k_block, '\n'), 0600, Durability::synced));
  return remove_all(path);
}

}  // namespace dts::run
