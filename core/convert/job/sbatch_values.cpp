// SPDX-License-Identifier: Apache-2.0
#include "core/convert/job/sbatch_values.hpp"

namespace dts::convert {

std::string without_empty_hosts(const std::string& list) {
  std::string hosts;
  for (const char c : list) {
    const bool is_within = hosts.rfind('[') != std::string::npos &&
                           hosts.find(']', hosts.rfind('[')) == std::string::npos;
    if (c != ',' || is_within || !(hosts.empty() || hosts.back() == ',')) hosts += c;
  }
  return hosts.ends_with(',') ? hosts.substr(0, hosts.size() - 1) : hosts;
}

bool is_no_limit(std::string_view time) {
  return time.find('0') != std::string_view::npos &&
         time.find_first_not_of("0:-") == std::string_view::npos;
}

}  // namespace dts::convert
