// SPDX-License-Identifier: Apache-2.0
#include "tests/support/machine_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace dts::tests {
namespace {

using PartKind = Part::Kind;
using Numbers = std::set<unsigned>;

// A bitmap in hwloc's form: words of 32 bits, the highest first.
std::string bitmap(const Numbers& numbers) {
  std::vector<std::uint32_t> words(numbers.empty() ? 1 : *numbers.rbegin() / 32 + 1, 0);
  for (const unsigned number : numbers) words[number / 32] |= 1U << number % 32;
  std::string text;
  for (auto word = words.rbegin(); word != words.rend(); ++word)
    text += fmt::format("{}0x{:08x}", text.empty() ? "" : ",", *word);
  return text;
}

bool holds_memory(const Part& part) {
  return part.kind == PartKind::numa || part.kind == PartKind::memory;
}

// The numbers of the processors, or of the NUMA nodes, in a part.
void collect(const Part& part, bool nodes, Numbers& numbers) {
  if (!nodes) numbers.insert(part.pus.begin(), part.pus.end());
  if (nodes && holds_memory(part)) numbers.insert(part.os);
  for (const Part& one : part.inside) collect(one, nodes, numbers);
}

// A matrix's numbers in hwloc's form: up to ten per element, which also has their length.
std::string lists(const char* element, const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size(); first += 10) {
    std::string list;
    for (std::size_t i = first; i < std::min(first + 10, numbers.size()); ++i)
      list += fmt::format("{} ", numbers[i]);
    text += fmt::format("  <{0} length=\"{1}\">{2}</{0}>\n", element, list.size(), list);
  }
  return text;
}

class Writer {
 public:
  explicit Writer(const Machine& machine)
      : machine_(machine), offline_(machine.offline.begin(), machine.offline.end()) {}

  std::string write() {
    Part root;
    root.kind = PartKind::group;
    root.inside = machine_.parts;
    Numbers nodes;
    collect(root, true, nodes);
    if (nodes.empty()) {  // hwloc needs a NUMA node
      root.inside.push_back({PartKind::memory});
      nodes.insert(0);
    }
    xml_.text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
        "<topology version=\"2.0\">\n";
    const Numbers online = online_of(root);
    Numbers allowed = online;
    for (const unsigned pu : machine_.disallowed) allowed.erase(pu);
    xml_.open("Machine",
              sets(root, nodes) +
                  fmt::format(" os_index=\"0\" allowed_cpuset=\"{}\" allowed_nodeset=\"{}\"",
                              bitmap(allowed),
                              bitmap(nodes)));
    write_inside(root, nodes_at(root, {}));
    for (const Host* host : waiting_) write_host(xml_, host->bridge);
    for (const Host& host : machine_.hosts)
      if (!host.at.kind) write_host(xml_, host.bridge);
    xml_.close();
    write_latencies();
    write_links();
    write_kinds();
    return xml_.text + "</topology>\n";
  }

 private:
  Numbers online_of(const Part& part) const {
    Numbers pus;
    collect(part, false, pus);
    for (const unsigned pu : offline_) pus.erase(pu);
    return pus;
  }

  // ` cpuset=...` and similar attributes.
  std::string sets(const Part& part, const Numbers& nodes) const {
    Numbers complete;
    collect(part, false, complete);
    return fmt::format(
        " cpuset=\"{}\" complete_cpuset=\"{}\" nodeset=\"{}\" complete_nodeset=\"{}\"",
        bitmap(online_of(part)),
        bitmap(complete),
        bitmap(nodes),
        bitmap(nodes));
  }

  // The nodes that are local to the content of a part, given the nodes around it.
  static Numbers nodes_at(const Part& part, Numbers around) {
    if (part.kind == PartKind::numa) around.insert(part.os);
    for (const Part& one : part.inside)
      if (one.kind == PartKind::memory) around.insert(one.os);
    return around;
  }

  void write_memory(const Part& memory, const Part& around) {
    if (memory.cache > 0)
      xml_.open("MemCache",
                sets(around, {memory.os}) +
                    fmt::format(" cache_size=\"{}\" depth=\"1\" cache_linesize=\"64\" "
                                "cache_associativity=\"1\" cache_type=\"0\"",
                                memory.cache));
    std::string more = fmt::format(" os_index=\"{}\"", memory.os);
    if (memory.bytes > 0) more += fmt::format(" local_memory=\"{}\"", memory.bytes);
    if (memory.kind == PartKind::memory && !memory.word.empty())
      more += fmt::format(" subtype=\"{}\"", memory.word);
    xml_.open("NUMANode", sets(around, {memory.os}) + more);
    xml_.close();
    if (memory.cache > 0) xml_.close();
  }

  // Writes the content of `part`, without an object for `part` itself.
  void write_inside(const Part& part, const Numbers& around) {
    for (const Part& one : part.inside)
      if (one.kind == PartKind::memory) write_memory(one, part);
    const auto parts = std::count_if(part.inside.begin(), part.inside.end(), [](const Part& one) {
      return one.kind != PartKind::memory;
    });
    for (const Part& one : part.inside) {
      if (one.kind == PartKind::memory) continue;
      if (one.kind == PartKind::numa && parts == 1) {  // needs no group
        write_memory(one, one);
        write_inside(one, nodes_at(one, around));
        write_hosts(one);
      } else {
        write_part(one, around);
      }
    }
    for (const unsigned pu : part.pus)
      if (part.kind == PartKind::core && !offline_.contains(pu)) {
        Part thread;
        thread.pus = {pu};
        xml_.open("PU", sets(thread, around) + fmt::format(" os_index=\"{}\"", pu));
        xml_.close();
      }
  }

  void write_part(const Part& part, const Numbers& around) {
    const Numbers inner = nodes_at(part, around);
    if (online_of(part).empty()) {
      for (const Host& host : machine_.hosts)
        if (is_at(host, part)) waiting_.push_back(&host);
      return;
    }
    Numbers nodes = inner;
    collect(part, true, nodes);
    std::string more = fmt::format(" os_index=\"{}\"", part.os);
    const char* type = "Group";
    switch (part.kind) {
      case PartKind::package:
        type = "Package";
        break;
      case PartKind::die:
        type = "Die";
        break;
      case PartKind::core:
        type = "Core";
        break;
      case PartKind::l3:
        type = "L3Cache";
        more += fmt::format(
            " cache_size=\"{}\" depth=\"3\" cache_linesize=\"64\" cache_associativity=\"16\" "
            "cache_type=\"0\"",
            part.bytes > 0 ? part.bytes : 32U << 20);
        break;
      default:
        more = " kind=\"1001\" subkind=\"0\"";
    }
    xml_.open(type, sets(part, nodes) + more);
    if (part.kind == PartKind::numa) write_memory(part, part);
    write_inside(part, inner);
    write_hosts(part);
    xml_.close();
  }

  static bool is_at(const Host& host, const Part& part) {
    return host.at.kind == part.kind && host.at.number == part.os;
  }

  void write_hosts(const Part& part) {
    for (const Host& host : machine_.hosts)
      if (is_at(host, part)) write_host(xml_, host.bridge);
  }

  void write_latencies() {
    std::vector<std::uint64_t> numbers;
    const std::function<void(const std::vector<Part>&)> look = [&](const std::vector<Part>& parts) {
      for (const Part& part : parts) {
        if (part.kind == PartKind::numa) numbers.push_back(part.os);
        look(part.inside);
      }
    };
    look(machine_.parts);
    if (machine_.latencies.empty() || numbers.size() < 2) return;
    xml_.text += fmt::format(
        "<distances2 type=\"NUMANode\" nbobjs=\"{}\" kind=\"5\" name=\"NUMALatency\" "
        "indexing=\"os\">\n",
        numbers.size());
    xml_.text +=
        lists("indexes", numbers) + lists("u64values", machine_.latencies) + "</distances2>\n";
  }

  void write_links() {
    std::map<unsigned, std::map<unsigned, unsigned>> weights;  // by gp_index
    for (const Link& link : machine_.links) {
      weights[xml_.objects[link.a]][xml_.objects[link.b]] = link.weight;
      weights[xml_.objects[link.b]][xml_.objects[link.a]] = link.weight;
    }
    if (weights.size() < 2) return;
    std::vector<std::uint64_t> indexes, values;
    for (auto& [a, row] : weights) {
      indexes.push_back(a);
      for (const auto& [b, other] : weights) values.push_back(a == b ? 1'000'000 : row[b]);
    }
    xml_.text += fmt::format(
        "<distances2 type=\"OSDev\" nbobjs=\"{}\" kind=\"9\" name=\"{}\" indexing=\"gp\">\n",
        indexes.size(),
        machine_.link_name);
    xml_.text += lists("indexes", indexes) + lists("u64values", values) + "</distances2>\n";
  }

  void write_kinds() {
    for (std::size_t i = 0; i < machine_.kinds.size(); ++i) {
      const CoreKind& kind = machine_.kinds[i];
      Numbers pus;
      const std::function<void(const std::vector<Part>&)> look =
          [&](const std::vector<Part>& parts) {
            for (const Part& part : parts) {
              if (part.kind == PartKind::core && part.word == kind.name)
                pus.insert(part.pus.begin(), part.pus.end());
              look(part.inside);
            }
          };
      look(machine_.parts);
      for (const unsigned pu : offline_) pus.erase(pu);
      xml_.text += fmt::format("<cpukind cpuset=\"{}\"", bitmap(pus));
      if (kind.capacity) xml_.text += fmt::format(" forced_efficiency=\"{}\"", i);
      xml_.text += ">\n";
      if (!kind.type.empty()) xml_.info("CoreType", kind.type);
      if (kind.mhz) xml_.info("FrequencyMaxMHz", std::to_string(*kind.mhz));
      if (kind.capacity) xml_.info("LinuxCapacity", std::to_string(*kind.capacity));
      xml_.text += "</cpukind>\n";
    }
  }

  const Machine& machine_;
  const Numbers offline_;
  Xml xml_;
  std::vector<const Host*> waiting_;  // of parts without an online processor
};

}  // namespace

std::string to_hwloc(const Machine& machine) {
  return Writer(machine).write();
}

}  // namespace dts::tests
