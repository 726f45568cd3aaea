// SPDX-License-Identifier: Apache-2.0
// Users' Python scripts, of which only import statements and a few words are read.
#include "core/launch/program/gpu_view.hpp"
#include "core/launch/program/python_files.hpp"
#include "tests/support/fuzz.hpp"

#include <string>

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  using namespace dts::launch;
  for (const std::string& module : imported_modules(input)) {
    must(!module.empty());
    must(module.find_first_of(" \t\n(),#") == module.npos);
  }
  must(!takes_gpu_by_local_rank({std::string(input), "CUDA_VISIBLE_DEVICES"}));
}
