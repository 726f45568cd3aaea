// SPDX-License-Identifier: Apache-2.0
#include "cli/output/topo_flags.hpp"

#include "core/base/text/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace dts::cli {
namespace {

// Hexadecimal mask with bit i for CPU i, of any length.
std::string mask(const std::vector<unsigned>& cpus) {
  const unsigned highest = cpus.empty() ? 0 : *std::max_element(cpus.begin(), cpus.end());
  std::vector<unsigned> digits(highest / 4 + 1, 0);
  for (const unsigned cpu : cpus) digits[cpu / 4] |= 1U << (cpu % 4);
  std::string text = "0x";
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit)
    text += fmt::format("{:x}", *digit);
  return text;
}

}  // namespace

std::string slurm_flags(const plan::NodeBinding& binding) {
  std::string masks;
  for (const plan::RankBinding& rank : binding.ranks)
    masks += (masks.empty() ? "" : ",") + mask(rank.cpus);
  return fmt::format("--ntasks-per-node={} --cpu-bind=mask_cpu:{}\n", binding.ranks.size(), masks);
}

std::string openmpi_rankfile(const plan::NodeBinding& binding) {
  std::string lines =
      fmt::format("# mpirun -n {} --mca rmaps_rank_file_physical 1 --rankfile FILE PROGRAM\n",
                  binding.ranks.size());
  for (std::size_t rank = 0; rank < binding.ranks.size(); ++rank)
    lines +=
        fmt::format("rank {}=localhost slot={}\n", rank, fold_numbers(binding.ranks[rank].cpus));
  return lines;
}

}  // namespace dts::cli
