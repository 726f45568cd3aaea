// SPDX-License-Identifier: Apache-2.0
// The parts and the devices of a described machine, from its lines. Private to parse_machine().
#pragma once

#include "tests/support/machine.hpp"
#include "tests/support/machine_lines.hpp"

#include <set>

namespace dts::tests {

class PartReader {
 public:
  explicit PartReader(Problems& problems) : problems_(problems) {}

  // One at the left margin, with what is below it.
  void read(const Line& line);

  // All of them, each as often as its line says, with the kernel's numbers of NUMA nodes and
  // processors where the lines do not say them. `by_core`: threads of a core one after the other.
  [[nodiscard]] std::vector<Part> build(bool by_core);

  [[nodiscard]] static bool is_part(const Line& line);

 private:
  struct Plan {
    const Line* line = nullptr;
    Part part;
    unsigned times = 1, threads = 1;
    std::vector<unsigned> numbers{};  // OS indices for all that are made of this line
    std::size_t asked = 0;            // of these, so far
    std::vector<Plan> inside{};
  };

  [[nodiscard]] Plan plan(const Line& line, const Line* around);
  void read_option(Plan& plan, Arguments& arguments);
  void make(Plan& plan, std::vector<Part>& into);
  [[nodiscard]] unsigned next_number(Plan& plan);
  void check_numbers(const Plan& plan);

  Problems& problems_;
  std::vector<Plan> plans_;
  std::size_t made_ = 0;
  std::set<unsigned> numas_, pus_;  // numbers that are taken
};

// A `host` line with what is below it.
[[nodiscard]] Host read_host(const Line& line, Problems& problems);

}  // namespace dts::tests
