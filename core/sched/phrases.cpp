// SPDX-License-Identifier: Apache-2.0
#include "core/sched/phrases.hpp"

#include <string_view>

namespace dts::sched {

std::string with_job(std::string text, const JobId& job) {
  constexpr std::string_view k_place = "{job}";
  for (std::size_t at = 0; (at = text.find(k_place, at)) != std::string::npos;
       at += job.text().size())
    text.replace(at, k_place.size(), job.text());
  return text;
}

}  // namespace dts::sched
