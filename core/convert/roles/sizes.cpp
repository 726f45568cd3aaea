// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/sizes.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <iterator>

namespace dts::convert {

Sizes sizes_of_job(const Resolver& resolver) {
  Sizes sizes;
  for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_NTASKS", "SLURM_NPROCS"})
    if (const auto value = resolver.variable(name)) sizes[name] = *value;
  return sizes;
}

std::string with_sizes(const std::string& text, const Sizes& sizes) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t sign = text.compare(at, 2, "${") == 0 ? 2 : text[at] == '$' ? 1 : 0;
    std::size_t end = at + sign;
    while (end < text.size() && shell::is_name_char(text[end])) ++end;
    const auto size = sizes.find(text.substr(at + sign, end - at - sign));
    const bool is_closed = sign < 2 || (end < text.size() && text[end] == '}');
    if (size != sizes.end() && is_closed) {
      made += size->second;
      at = end + (sign == 2 ? 1 : 0);
      continue;
    }
    end = std::max(end, at + 1);
    made += text.substr(at, end - at);
    at = end;
  }
  return made;
}

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

void set_sizes(Program& program, const Sizes& sizes) {
  program.text = with_sizes(program.text, sizes);
  for (FlatWord& word : program.words)
    for (Segment& one : word)
      if (one.kind == Segment::Kind::source) one.text = with_sizes(one.text, sizes);
}

}  // namespace dts::convert
