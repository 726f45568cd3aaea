// SPDX-License-Identifier: Apache-2.0
// The reader trusts nothing: what it reads came over the network.
#include "core/topo/json.hpp"

#include "core/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace dts::topo {
namespace {

using nlohmann::json;

constexpr std::size_t k_most_bytes = std::size_t{1} << 20;
constexpr std::size_t k_most_cores = 65'536;
constexpr std::size_t k_most_threads = 1'024;

tl::unexpected<Error> bad(const std::string& where) {
  return fail(Errc::invalid, "topology: " + where + " is not as expected");
}

bool is_index(const json& value) {
  return value.is_number_unsigned() &&
         value.get<std::uint64_t>() <= std::numeric_limits<unsigned>::max();
}

// An array [index, index, index, [index, ...]] as a core; false for anything else.
bool read_core(const json& value, Core& core) {
  if (!value.is_array() || value.size() != 4 || !value[3].is_array()) return false;
  if (!is_index(value[0]) || !is_index(value[1]) || !is_index(value[2])) return false;
  if (value[3].empty() || value[3].size() > k_most_threads) return false;
  core = {value[0].get<unsigned>(), value[1].get<unsigned>(), value[2].get<unsigned>(), {}};
  for (const json& pu : value[3]) {
    if (!is_index(pu) || (!core.pus.empty() && pu.get<unsigned>() <= core.pus.back())) return false;
    core.pus.push_back(pu.get<unsigned>());
  }
  return true;
}

bool read_part(const json& value, std::optional<unsigned>& part) {
  if (is_index(value)) part = value.get<unsigned>();
  return part || value.is_null();
}

bool read_gpu(const json& value, Gpu& gpu) {
  if (!value.is_array() || value.size() != 4 || !value[0].is_string()) return false;
  gpu.pci = value[0].get<std::string>();
  if (!read_part(value[1], gpu.package) || !read_part(value[2], gpu.numa) ||
      !read_part(value[3], gpu.l3))
    return false;
  return gpu.pci.size() <= 32 &&
         gpu.pci.find_first_not_of("0123456789abcdef:.") == std::string::npos;
}

bool read_port(const json& value, FabricPort& port) {
  if (!value.is_array() || value.size() != 4 || !value[0].is_string() || !is_index(value[1]) ||
      !is_index(value[2]) || !value[3].is_boolean())
    return false;
  port = {value[0].get<std::string>(),
          value[1].get<unsigned>(),
          value[2].get<unsigned>(),
          value[3].get<bool>()};
  return port.hca.size() <= 64 && is_safe_name(port.hca);  // IB_DEVICE_NAME_MAX
}

// The array `key` of `object`, each element read by `read`; empty: it was, else what is wrong.
template <class Item>
std::string read_list(const json& object,
                      const char* key,
                      bool (*read)(const json&, Item&),
                      std::vector<Item>& items) {
  const auto list = object.find(key);
  if (list == object.end() || !list->is_array() || list->size() > k_most_cores)
    return fmt::format("/{}", key);
  for (std::size_t i = 0; i < list->size(); ++i)
    if (!read((*list)[i], items.emplace_back())) return fmt::format("/{}/{}", key, i);
  return {};
}

}  // namespace

std::string to_json(const NodeTopology& topology) {
  json cores = json::array();
  for (const Core& core : topology.cores)
    cores.push_back({core.package, core.numa, core.l3, core.pus});
  json gpus = json::array();
  const auto part = [](const std::optional<unsigned>& index) {
    return index ? json(*index) : json(nullptr);
  };
  for (const Gpu& gpu : topology.gpus)
    gpus.push_back(json::array({gpu.pci, part(gpu.package), part(gpu.numa), part(gpu.l3)}));
  json fabric = json::array();
  for (const FabricPort& port : topology.fabric)
    fabric.push_back(json::array({port.hca, port.port, port.gbps, port.infiniband}));
  return json{{"cores", std::move(cores)}, {"gpus", std::move(gpus)}, {"fabric", std::move(fabric)}}
      .dump();
}

Result<NodeTopology> from_json(std::string_view text) {
  if (text.size() > k_most_bytes) return bad("its size");
  const json value = json::parse(text, nullptr, false);
  if (!value.is_object() || value.size() != 3) return bad("the object");
  NodeTopology topology;
  for (const std::string& wrong : {read_list(value, "cores", read_core, topology.cores),
                                   read_list(value, "gpus", read_gpu, topology.gpus),
                                   read_list(value, "fabric", read_port, topology.fabric)})
    if (!wrong.empty()) return bad(wrong);
  return topology;
}

}  // namespace dts::topo
