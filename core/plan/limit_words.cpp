// SPDX-License-Identifier: Apache-2.0
#include "core/plan/limit_words.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/units.hpp"

#include <fmt/format.h>

#include <chrono>

namespace dts::plan {

std::string amount_in_words(const JobLimit& limit, std::uint64_t amount) {
  const std::string type = limit.gpu_type.empty() ? "" : " of type " + limit.gpu_type;
  switch (limit.of) {
    case JobLimit::Of::nodes:
      return counted(amount, "node");
    case JobLimit::Of::cpus:
      return counted(amount, "CPU");
    case JobLimit::Of::memory:
      return fmt::format("{} MiB of memory", amount);
    case JobLimit::Of::gpus:
      return counted(amount, "GPU") + type;
    case JobLimit::Of::time:
      return format_time_limit(std::chrono::minutes(amount));
    case JobLimit::Of::elements:
      return counted(amount, "element");
    case JobLimit::Of::billing:
      return counted(amount, "billing unit");
    case JobLimit::Of::every_job:
      break;
  }
  return {};
}

std::string words_with_minutes(const JobLimit& limit, std::uint64_t amount) {
  const char* unit = limit.of == JobLimit::Of::nodes     ? "node"
                     : limit.of == JobLimit::Of::cpus    ? "CPU"
                     : limit.of == JobLimit::Of::gpus    ? "GPU"
                     : limit.of == JobLimit::Of::billing ? "billing-unit"
                                                         : "MiB";
  return fmt::format("{} {}-minutes", amount, unit);
}

}  // namespace dts::plan
