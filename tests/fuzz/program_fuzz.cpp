// SPDX-License-Identifier: Apache-2.0
// Programs as files, and what their loaders and the kernel say of them: any bytes are read.
#include "core/base/os/linked_files.hpp"
#include "core/launch/binding/openmp_runtime.hpp"
#include "tests/support/fuzz.hpp"

#include <string>

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  using namespace dts;
  using namespace dts::launch;
  const ProgramFile found = look_at_program([&](std::uint64_t offset, std::size_t size) {
    return offset < input.size() ? std::string(input.substr(offset, size)) : std::string();
  });
  must((found.kind == ProgramFile::Kind::dynamic) == !found.loader.empty());
  must(found.loader.empty() || (found.loader[0] == '/' && input.find(found.loader) != input.npos &&
                                found.loader.find('\0') == std::string::npos));
  const auto runtimes = runtimes_in(input);
  must(runtimes.size() <= 3);
  for (const std::string& runtime : runtimes) must(input.find(runtime) != input.npos);
}
