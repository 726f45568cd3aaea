// SPDX-License-Identifier: Apache-2.0
#include "core/train/loop/device_places.hpp"

#include "core/train/telemetry/card_peaks.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <utility>

namespace dts::train {
namespace {

template <class Value>
nlohmann::ordered_json known(Value value, bool is_known) {
  return is_known ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

// 0 if no data sheet is known.
double sheet_peak(const DevicePlace& place, Precision precision) {
  const auto card = card_peak(place.facts.name);
  if (!card) return 0;
  return precision == Precision::bf16   ? card->bf16
         : precision == Precision::tf32 ? card->tf32
                                        : card->fp32;
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

std::string devices_json(const std::vector<DevicePlace>& by_rank,
                         const std::vector<DeviceLinks>& links,
                         Precision precision) {
  auto all = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const DevicePlace& place = by_rank[rank];
    const dttrain_facts& facts = place.facts;
    const double sheet = sheet_peak(place, precision);
    nlohmann::ordered_json one{
        {"rank", rank},
        {"node", place.node.data()},
        {"name", facts.name},
        {"uuid", facts.uuid},
        {"libraries", facts.libraries},
        {"driver", facts.driver},
        {"free_memory", facts.memory},
        {"ecc",
         facts.ecc < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(facts.ecc == 1)},
        {"clock_mhz", known(facts.clock, facts.clock > 0)},
        {"memory_clock_mhz", known(facts.memory_clock, facts.memory_clock > 0)},
        {"pci", facts.pci},
        {"numa_node", known(facts.numa, facts.numa >= 0)},
        {"gemm_peak", known(place.peak, place.peak > 0)},
        {"sheet_peak", known(sheet, sheet > 0)}};
    one["links"] = nlohmann::ordered_json::array();
    for (const auto& [other, link] : links[rank].links)
      if (other >= 0)
        one["links"].push_back({{"rank", other},
                                {"nvlinks", known(link.nvlinks, link.nvlinks >= 0)},
                                {"direct",
                                 link.reads < 0 ? nlohmann::ordered_json(nullptr)
                                                : nlohmann::ordered_json(link.reads == 1)}});
    all.push_back(std::move(one));
  }
  return all.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<std::string> misplaced(std::size_t rank,
                                   const DevicePlace& place,
                                   const std::string& visible) {
  std::vector<std::string> all;
  const std::string who = fmt::format("rank {} (node {})", rank, place.node.data());
  // "GPU-8-4-4-4-12": a single device with its complete UUID.
  constexpr std::size_t k_prefix = 4, k_digits = 32;
  std::string wanted;
  if (visible.starts_with("GPU-") && visible.find(',') == std::string::npos)
    for (const char digit : visible.substr(k_prefix))
      if (digit != '-') wanted += digit;
  if (wanted.size() == k_digits && wanted != place.facts.uuid)
    all.push_back(fmt::format("{} was to have the GPU of UUID {}, but has that of UUID {}",
                              who,
                              wanted,
                              place.facts.uuid));
  const int numa = place.facts.numa;
  if (numa >= 0 && numa < 64 && place.numas != 0 && (place.numas >> numa & 1U) == 0)
    all.push_back(
        fmt::format("{} has no core on NUMA node {}, which its GPU ({}) is near: transfers "
                    "between them go through another node",
                    who,
                    numa,
                    place.facts.pci));
  return all;
}

std::vector<std::string> odd_links(const std::vector<DevicePlace>& by_rank,
                                   const std::vector<DeviceLinks>& links) {
  std::map<std::string, std::pair<std::string, bool>> nodes;  // pairs without, and whether any has
  for (std::size_t rank = 0; rank < links.size(); ++rank)
    for (const auto& [other, link] : links[rank].links) {
      if (other < 0 || link.reads < 0) continue;
      auto& [without, any] = nodes[by_rank[rank].node.data()];
      any = any || link.reads == 1;
      if (link.reads == 0)
        without += fmt::format("{}{} from {}", without.empty() ? "" : ", ", rank, other);
    }
  std::vector<std::string> all;
  for (const auto& [node, found] : nodes)
    if (found.second && !found.first.empty())
      all.push_back(
          fmt::format("node {}: some GPUs cannot read others' memory directly, but "
                      "others of the node can: those of ranks {}",
                      node,
                      found.first));
  return all;
}

Peaks peaks_of(const std::vector<DevicePlace>& by_rank, Precision precision) {
  Peaks all;
  bool is_measured = true, has_sheets = true;
  for (const DevicePlace& place : by_rank) {
    const double sheet = sheet_peak(place, precision);
    is_measured = is_measured && place.peak > 0;
    has_sheets = has_sheets && sheet > 0;
    all.measured += place.peak;
    all.sheet += sheet;
  }
  return {is_measured ? all.measured : 0, has_sheets ? all.sheet : 0};
}

}  // namespace dts::train
