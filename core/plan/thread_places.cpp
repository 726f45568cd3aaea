// SPDX-License-Identifier: Apache-2.0
#include "core/plan/thread_places.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts::plan {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::vector<unsigned>& numbers) {
  Words words;
  for (const unsigned number : numbers) words.push_back(std::to_string(number));
  return words;
}

// Intel oneAPI, "Thread Affinity Interface": a place is a number, or several in braces.
std::pair<std::string, std::string> proclist(const Words& places) {
  return {"KMP_AFFINITY", "granularity=fine,explicit,proclist=[" + join(places, ",") + "]"};
}

std::string in_braces(const std::string& words) {
  return "{" + words + "}";
}

}  // namespace

Environment threads_on_cores(std::string_view runtime, const std::vector<unsigned>& first_cpus) {
  if (first_cpus.empty()) return {};
  if (runtime == "gnu") return {{"GOMP_CPU_AFFINITY", join(words_of(first_cpus), " ")}};
  if (runtime == "intel") return {proclist(words_of(first_cpus))};
  return {};
}

Environment places_of_threads(const std::vector<std::string>& linked,
                              const std::vector<unsigned>& cpus,
                              const std::vector<unsigned>& first_cpus) {
  if (first_cpus.empty() || cpus.empty()) return {};
  Words places = words_of(first_cpus);
  places.front() = in_braces(join(words_of(cpus), ","));
  const bool any_gnu = std::find(linked.begin(), linked.end(), "libgomp") != linked.end();
  const bool any_other = linked.size() > (any_gnu ? 1U : 0U);
  Environment variables;
  if (any_gnu || !any_other) {
    Words in_standard = {places.front()};  // OpenMP 5.2, 21.1.6
    std::transform(places.begin() + 1, places.end(), std::back_inserter(in_standard), in_braces);
    variables.emplace_back("OMP_PLACES", join(in_standard, ","));
  }
  if (any_other || !any_gnu) variables.push_back(proclist(places));
  if (variables.size() > 1) variables.emplace_back("KMP_WARNINGS", "0");
  return variables;
}

}  // namespace dts::plan
