// SPDX-License-Identifier: Apache-2.0
#include "core/train/loop/device_places.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>

namespace dts::train {
namespace {

nlohmann::ordered_json known(int value, bool is_known) {
  return is_known ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

Result<void> check_one_each(const std::vector<DevicePlace>& by_rank) {
  std::map<std::string, std::vector<std::size_t>> ranks;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
    ranks[by_rank[rank].facts.uuid].push_back(rank);
  std::string shared;
  for (const auto& [uuid, sharing] : ranks) {
    if (sharing.size() < 2) continue;
    std::string who;
    for (const std::size_t rank : sharing)
      who += fmt::format("{}rank {} (node {})",
                         who.empty()              ? ""
                         : rank == sharing.back() ? " and "
                                                  : ", ",
                         rank,
                         by_rank[rank].node.data());
    shared += fmt::format("{}{} have one device, {} (UUID {})",
                          shared.empty() ? "" : "; ",
                          who,
                          by_rank[sharing.front()].facts.name,
                          uuid);
  }
  if (shared.empty()) return {};
  return fail(
      Errc::invalid,
      shared,
      "start as many ranks on a node as it has GPUs and show each rank its own, as dtsubmit "
      "does; or, if they are to share, use --share-device on");
}

std::string devices_json(const std::vector<DevicePlace>& by_rank) {
  auto all = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const dttrain_facts& facts = by_rank[rank].facts;
    all.push_back(
        {{"rank", rank},
         {"node", by_rank[rank].node.data()},
         {"name", facts.name},
         {"uuid", facts.uuid},
         {"libraries", facts.libraries},
         {"driver", facts.driver},
         {"free_memory", facts.memory},
         {"ecc",
          facts.ecc < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(facts.ecc == 1)},
         {"clock_mhz", known(facts.clock, facts.clock > 0)},
         {"memory_clock_mhz", known(facts.memory_clock, facts.memory_clock > 0)}});
  }
  return all.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace dts::train
