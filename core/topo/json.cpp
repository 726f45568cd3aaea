// SPDX-License-Identifier: Apache-2.0
// The reader validates everything, because its input comes from the network.
#include "core/topo/json.hpp"

#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace dts::topo {
namespace {

using nlohmann::json;

constexpr std::size_t k_most_bytes = std::size_t{1} << 20;
constexpr std::size_t k_most_cores = 65'536;
constexpr std::size_t k_most_threads = 1'024;
constexpr std::size_t k_most_bridges = 64;
constexpr std::size_t k_most_devices = 256;

tl::unexpected<Error> bad(const std::string& where) {
  return fail(Errc::invalid, "topology: " + where + " is not as expected");
}

bool is_index(const json& value) {
  return value.is_number_unsigned() &&
         value.get<std::uint64_t>() <= std::numeric_limits<unsigned>::max();
}

bool read_text(const json& value, std::string& text, std::size_t longest) {
  if (value.is_string()) text = value.get<std::string>();
  return value.is_string() && text.size() <= longest;
}

bool read_indices(const json& value, std::size_t most, std::vector<unsigned>& indices) {
  if (!value.is_array() || value.size() > most) return false;
  for (const json& one : value) {
    if (!is_index(one)) return false;
    indices.push_back(one.get<unsigned>());
  }
  return true;
}

// An index, or null.
bool read_part(const json& value, std::optional<unsigned>& part) {
  if (is_index(value)) part = value.get<unsigned>();
  return part || value.is_null();
}

// An array [index, index, index or null, [index, ...], index] as a core; false for anything else.
bool read_core(const json& value, Core& core) {
  if (!value.is_array() || value.size() != 5 || !value[3].is_array() || !is_index(value[4]))
    return false;
  if (!is_index(value[0]) || !is_index(value[1]) || !read_part(value[2], core.l3)) return false;
  if (value[3].empty() || value[3].size() > k_most_threads) return false;
  core.package = value[0].get<unsigned>();
  core.numa = value[1].get<unsigned>();
  core.kind = value[4].get<unsigned>();
  for (const json& pu : value[3]) {
    if (!is_index(pu) || (!core.pus.empty() && pu.get<unsigned>() <= core.pus.back())) return false;
    core.pus.push_back(pu.get<unsigned>());
  }
  return true;
}

// Must be printable, since messages repeat it.
bool read_model(const json& value, std::string& model) {
  return read_text(value, model, k_longest_model) && is_printable(model);
}

bool read_uuid(const json& value, std::string& uuid) {
  return read_text(value, uuid, k_longest_uuid) && (uuid.empty() || is_safe_name(uuid));
}

// An array [network, link] of enum values.
bool read_link(const json& value, Device& device) {
  if (value.size() != 2 || !is_index(value[0]) || !is_index(value[1])) return false;
  const auto network = value[0].get<unsigned>(), link = value[1].get<unsigned>();
  device.network = static_cast<Network>(network);
  device.link = static_cast<Link>(link);
  return network <= static_cast<unsigned>(Network::ethernet) &&
         link <= static_cast<unsigned>(Link::down);
}

bool read_device(const json& value, Device& device) {
  if (!value.is_array() || value.size() != 14 || !is_index(value[6]) || !value[8].is_array() ||
      !value[9].is_array() || !is_index(value[10]) || !is_index(value[11]))
    return false;
  if (!read_text(value[0], device.pci, 32) || !read_part(value[1], device.package) ||
      !read_part(value[2], device.numa) || !read_part(value[3], device.l3) ||
      !read_text(value[5], device.name, 64) || !read_uuid(value[7], device.uuid))
    return false;
  if (value[8].size() > k_most_instances) return false;
  if (!read_indices(value[4], k_most_bridges, device.bridges) ||
      !read_indices(value[13], k_most_cores, device.group))
    return false;
  for (const json& instance : value[8])
    if (!read_uuid(instance, device.instances.emplace_back())) return false;
  device.part = value[6].get<unsigned>();
  device.gbps = value[10].get<unsigned>();
  device.pci_gbps = value[11].get<unsigned>();
  if (!read_link(value[9], device) || !read_model(value[12], device.model)) return false;
  return device.pci.find_first_not_of("0123456789abcdef:.") == std::string::npos &&
         (device.name.empty() || is_safe_name(device.name));
}

bool read_numa(const json& value, NumaNode& node) {
  if (!value.is_array() || value.size() != 5 || !is_index(value[0]) ||
      !value[2].is_number_unsigned() || !value[3].is_boolean() || !value[4].is_boolean())
    return false;
  node.os = value[0].get<unsigned>();
  node.bytes = value[2].get<std::uint64_t>();
  node.has_cores = value[3].get<bool>();
  node.has_memory = value[4].get<bool>();
  return read_part(value[1], node.package);
}

bool read_gpu_link(const json& value, GpuLink& link) {
  if (!value.is_array() || value.size() != 3) return false;
  for (const json& one : value)
    if (!is_index(one)) return false;
  link = {value[0].get<unsigned>(), value[1].get<unsigned>(), value[2].get<unsigned>()};
  return link.a < link.b;
}

bool read_sentence(const json& value, std::string& sentence) {
  return read_text(value, sentence, 65'536);
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

// Reads each element of the array `key` of `object` with `read`; returns what is wrong, or an empty
// text.
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

// An array of the items, each converted by `one`.
template <class Item, class One>
json list_of(const std::vector<Item>& items, One one) {
  json list = json::array();
  for (const Item& item : items) list.push_back(one(item));
  return list;
}

json part_json(const std::optional<unsigned>& index) {
  return index ? json(*index) : json(nullptr);
}

json core_json(const Core& core) {
  return json::array({core.package, core.numa, part_json(core.l3), core.pus, core.kind});
}

json device_json(const Device& d) {
  return json::array({d.pci,
                      part_json(d.package),
                      part_json(d.numa),
                      part_json(d.l3),
                      d.bridges,
                      d.name,
                      d.part,
                      d.uuid,
                      d.instances,
                      {static_cast<unsigned>(d.network), static_cast<unsigned>(d.link)},
                      d.gbps,
                      d.pci_gbps,
                      d.model,
                      d.group});
}

}  // namespace

std::string to_json(const NodeTopology& node) {
  const auto port = [](const FabricPort& p) {
    return json::array({p.hca, p.port, p.gbps, p.infiniband});
  };
  const auto numa = [](const NumaNode& n) {
    return json::array({n.os, part_json(n.package), n.bytes, n.has_cores, n.has_memory});
  };
  const auto link = [](const GpuLink& l) { return json::array({l.a, l.b, l.weight}); };
  return json_line(json{{"cores", list_of(node.cores, core_json)},
                        {"gpus", list_of(node.gpus, device_json)},
                        {"fabric", list_of(node.fabric, port)},
                        {"nics", list_of(node.nics, device_json)},
                        {"numas", list_of(node.numas, numa)},
                        {"links", list_of(node.links, link)},
                        {"closed", list_of(node.closed, core_json)},
                        {"doubts", node.doubts},
                        {"notes", node.notes}});
}

Result<NodeTopology> from_json(std::string_view text) {
  if (text.size() > k_most_bytes) return bad("its size");
  const json value = json::parse(text, nullptr, false);
  if (!value.is_object() || value.size() != 9) return bad("the object");
  NodeTopology node;
  for (const std::string& wrong : {read_list(value, "cores", read_core, node.cores),
                                   read_list(value, "gpus", read_device, node.gpus),
                                   read_list(value, "fabric", read_port, node.fabric),
                                   read_list(value, "nics", read_device, node.nics),
                                   read_list(value, "numas", read_numa, node.numas),
                                   read_list(value, "links", read_gpu_link, node.links),
                                   read_list(value, "closed", read_core, node.closed),
                                   read_list(value, "doubts", read_sentence, node.doubts),
                                   read_list(value, "notes", read_sentence, node.notes)})
    if (!wrong.empty()) return bad(wrong);
  if (node.gpus.size() > k_most_devices) return bad("/gpus");
  if (node.nics.size() > k_most_devices) return bad("/nics");
  for (const GpuLink& link : node.links)
    if (link.b >= node.gpus.size()) return bad("/links");
  return node;
}

}  // namespace dts::topo
