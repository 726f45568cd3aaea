// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/sizes.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <iterator>

namespace dts::convert {

std::optional<std::uint64_t> number_of(const std::string& value, const Resolver& resolver) {
  const auto text = resolver.text(from_expanded({{value, true}, {}, false}));
  return text ? parse_number(*text) : std::nullopt;
}

bool has_gpus_of_its_own(const Item& item, const lint::Job& job) {
  constexpr std::string_view k_names[] = {
      "gpus", "gpus-per-task", "gpus-per-node", "gres", "gpus-per-socket"};
  return std::any_of(item.mains.begin(), item.mains.end(), [&](const lint::Run* run) {
    const bool is_step = run->launch.launcher == lint::Launcher::srun;
    return (is_step && job.gpus_per_task) ||
           std::any_of(std::begin(k_names), std::end(k_names), [&](std::string_view name) {
             return run->launch.option(name) != nullptr;
           });
  });
}

}  // namespace dts::convert
