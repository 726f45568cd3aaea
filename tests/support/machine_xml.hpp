// SPDX-License-Identifier: Apache-2.0
// The output of to_hwloc(), object by object. Private to it.
#pragma once

#include "tests/support/machine.hpp"

#include <map>

namespace dts::tests {

struct Xml {
  std::string text;
  unsigned last = 0;                        // gp_index
  unsigned ports = 0;                       // number of PCI bridges so far
  std::map<std::string, unsigned> objects;  // gp_index of OS devices by name

  void open(const char* type, const std::string& attributes);
  void close();
  void info(const char* name, const std::string& value);
};

// Writes a host bridge and everything below it into the open object.
void write_host(Xml& xml, const PciObject& host);

}  // namespace dts::tests
