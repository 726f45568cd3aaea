// SPDX-License-Identifier: Apache-2.0
// Which variables bind the threads of which OpenMP runtimes.
#include "core/plan/thread_places.hpp"

#include <doctest/doctest.h>

namespace dts::plan {

namespace {

using Numbers = std::vector<unsigned>;
using Words = std::vector<std::string>;

std::string in_lines(const Environment& variables) {
  std::string text;
  for (const auto& [name, value] : variables) text += name + "=" + value + "\n";
  return text;
}

}  // namespace

TEST_CASE("gnu and intel bind every thread to a core of its own") {
  const Numbers first = {6, 8, 10};
  CHECK(in_lines(threads_on_cores("gnu", first)) == "GOMP_CPU_AFFINITY=6 8 10\n");
  CHECK(in_lines(threads_on_cores("intel", first)) ==
        "KMP_AFFINITY=granularity=fine,explicit,proclist=[6,8,10]\n");
  for (const char* other : {"none", "auto", ""}) CHECK(threads_on_cores(other, first).empty());
  for (const char* runtime : {"gnu", "intel"}) CHECK(threads_on_cores(runtime, {}).empty());
}

TEST_CASE("auto leaves the main thread on all PUs of the rank, in the words of what is linked") {
  const Numbers cpus = {4, 5, 6, 7, 12, 13, 14, 15}, first = {4, 5, 6, 7};
  const std::string standard = "OMP_PLACES={4,5,6,7,12,13,14,15},{5},{6},{7}\n";
  const std::string intel =
      "KMP_AFFINITY=granularity=fine,explicit,proclist=[{4,5,6,7,12,13,14,15},5,6,7]\n";

  struct {
    Words linked;
    std::string variables;
  } const table[] = {{{"libgomp"}, standard},
                     {{"libiomp5"}, intel},
                     {{"libomp"}, intel},
                     {{"libiomp5", "libomp"}, intel},
                     {{"libgomp", "libiomp5"}, standard + intel + "KMP_WARNINGS=0\n"},
                     {{"libgomp", "libomp"}, standard + intel + "KMP_WARNINGS=0\n"},
                     {{}, standard + intel + "KMP_WARNINGS=0\n"}};

  for (const auto& row : table)
    CHECK(in_lines(places_of_threads(row.linked, cpus, first)) == row.variables);
}

TEST_CASE("auto for a single core, and for none") {
  CHECK(in_lines(places_of_threads({"libgomp"}, {3, 7}, {3})) == "OMP_PLACES={3,7}\n");
  CHECK(in_lines(places_of_threads({"libomp"}, {3}, {3})) ==
        "KMP_AFFINITY=granularity=fine,explicit,proclist=[{3}]\n");
  CHECK(places_of_threads({}, {}, {}).empty());
  CHECK(places_of_threads({}, {1}, {}).empty());
  CHECK(places_of_threads({}, {}, {1}).empty());
}

TEST_CASE("a list for a node of 512 PUs fits many times into what Linux takes") {
  Numbers cpus;
  for (unsigned cpu = 0; cpu < 512; ++cpu) cpus.push_back(cpu);
  for (const auto& [name, value] : places_of_threads({}, cpus, cpus)) CHECK(value.size() < 6000);
}

}  // namespace dts::plan
