// SPDX-License-Identifier: Apache-2.0
// NCCL's configuration files, which a user or a site writes. What was set stays.
#include "core/train/accelerator/exchange/link_settings.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  dts::train::accelerator::LinkSettings settings{{"NCCL_ALGO", "Ring"}};
  dts::train::accelerator::add_file_settings({reinterpret_cast<const char*>(data), size}, settings);
  if (settings.at("NCCL_ALGO") != "Ring" || settings.contains("NCCL_HOSTID")) std::abort();
  return 0;
}
