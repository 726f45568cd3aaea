// SPDX-License-Identifier: Apache-2.0
// Reads the parts and devices of a described machine from its lines. Private to parse_machine().
#pragma once

#include "tests/support/machine.hpp"
#include "tests/support/machine_lines.hpp"

#include <set>

namespace dts::tests {

class PartReader {
 public:
  explicit PartReader(Problems& problems) : problems_(problems) {}

  // Reads a part at the left margin, with the lines below it.
  void read(const Line& line);

  // All parts, multiplied as their lines say. NUMA nodes and processors without a number in their
  // line get the kernel's. `by_core`: the threads of a core have consecutive numbers.
  [[nodiscard]] std::vector<Part> build(bool by_core);

  [[nodiscard]] static bool is_part(const Line& line);

 private:
  struct Plan {
    const Line* line = nullptr;
    Part part;
    unsigned times = 1, threads = 1;
    std::vector<unsigned> numbers{};  // OS indices for all parts made from this line
    std::size_t asked = 0;            // how many of these have been used
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
  std::set<unsigned> numas_, pus_;  // numbers in use
};

// Reads a `host` line with the lines below it.
[[nodiscard]] Host read_host(const Line& line, Problems& problems);

}  // namespace dts::tests
