// SPDX-License-Identifier: Apache-2.0
// describe_machine FILE: prints what `lstopo --of xml` would print on the described machine, for
// dtsubmit topo --topology.
#include "core/base/files/files.hpp"
#include "tests/support/machine.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  using namespace dts;
  if (argc != 2) return 2;
  const auto machine = read_file(argv[1]).and_then(
      [&](const std::string& text) { return tests::parse_machine(text, argv[1]); });
  if (!machine) {
    std::fprintf(stderr, "%s\n", machine.error().message.c_str());
    return exit_code(machine.error().code);
  }
  return std::fputs(tests::to_hwloc(*machine).c_str(), stdout) < 0 ? 74 : 0;
}
