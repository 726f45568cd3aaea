// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/text.hpp"
#include "tests/support/machine_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace dts::tests {
namespace {

using Kind = PciObject::Kind;

// PCI classes (pci-ids.ucw.cz).
const std::map<std::string, unsigned, std::less<>> k_classes{{"vga", 0x0300},
                                                             {"3d", 0x0302},
                                                             {"display", 0x0380},
                                                             {"accelerator", 0x1200},
                                                             {"ethernet", 0x0200},
                                                             {"infiniband", 0x0207},
                                                             {"fabric", 0x0208},
                                                             {"network", 0x0280}};

// Parses "[DDDD:]BB:DD.F" in hexadecimal digits.
bool read_address(const std::string& text, PciObject& object) {
  int end = -1;
  const bool whole = std::count(text.begin(), text.end(), ':') == 2;
  const int fields =
      whole
          ? std::sscanf(text.c_str(),
                        "%4x:%2x:%2x.%1x%n",
                        &object.domain,
                        &object.bus,
                        &object.device,
                        &object.function,
                        &end)
          : std::sscanf(
                text.c_str(), "%2x:%2x.%1x%n", &object.bus, &object.device, &object.function, &end);
  return fields == (whole ? 4 : 3) && end == static_cast<int>(text.size()) &&
         object.domain < 0x10000 && object.bus < 0x100 && object.device < 32 && object.function < 8;
}

bool read_ids(const std::string& text, PciObject& object) {
  int end = -1;
  return std::sscanf(text.c_str(), "%4x:%4x%n", &object.vendor_id, &object.device_id, &end) == 2 &&
         end == static_cast<int>(text.size()) && object.vendor_id < 0x10000 &&
         object.device_id < 0x10000;
}

unsigned library_type(const std::string& name) {
  for (const char* prefix : {"nvml", "rsmi", "card", "render"})
    if (name.starts_with(prefix)) return OsDevice::k_gpu;
  for (const char* prefix : {"cuda", "opencl", "ze"})
    if (name.starts_with(prefix)) return OsDevice::k_coprocessor;
  return 0;
}

class DeviceReader {
 public:
  explicit DeviceReader(Problems& problems) : problems_(problems) {}

  // Anything below a host bridge or switch, except a port, is behind a port of its own.
  void read_behind_ports(const Line& line, PciObject& above) {
    for (const Line& one : line.below) {
      PciObject object = read(one);
      if (one.words[0].text == "port") {
        above.below.push_back(std::move(object));
        continue;
      }
      PciObject port = bridge(object.gigabytes);
      port.below.push_back(std::move(object));
      above.below.push_back(std::move(port));
    }
  }

 private:
  static PciObject bridge(double gigabytes) {
    PciObject object;
    object.kind = Kind::bridge;
    object.vendor_id = 0x1000;
    object.device_id = 0xc030;
    object.gigabytes = gigabytes;
    return object;
  }

  PciObject read(const Line& line) {
    const std::string& word = line.words[0].text;
    if (word == "switch" || word == "port") return read_bridge(line);
    if (word == "gpu" || word == "nic" || word == "pci") return read_device(line);
    problems_.add(line,
                  line.words[0].column,
                  fmt::format("`{}` is no PCI device", word),
                  "these are: switch, port, gpu, nic, pci");
    return {};
  }

  PciObject read_bridge(const Line& line) {
    Arguments arguments(line, problems_);
    PciObject object = bridge(arguments.link());
    if (arguments.more()) arguments.unknown("genN xN");
    if (line.below.empty()) problems_.add(line, line.words[0].column, "nothing is behind it");
    if (line.words[0].text == "switch")
      read_behind_ports(line, object);
    else
      for (const Line& one : line.below) object.below.push_back(read(one));
    return object;
  }

  PciObject read_device(const Line& line) {
    const std::string& word = line.words[0].text;
    Arguments arguments(line, problems_);
    PciObject object;
    if (!line.below.empty())
      problems_.add(line.below[0],
                    line.below[0].words[0].column,
                    fmt::format("nothing is within `{}`", word));
    if (arguments.more() && !read_address(line.words[1].text, object))
      problems_.add(line,
                    line.words[1].column,
                    fmt::format("`{}` is no PCI address", line.words[1].text),
                    "for example 0000:3b:00.0, or 3b:00.0 in domain 0");
    if (line.words.size() > 2 && !read_ids(line.words[2].text, object))
      problems_.add(line,
                    line.words[2].column,
                    fmt::format("`{}` is not VENDOR:DEVICE", line.words[2].text),
                    "for example 10de:20b0");
    if (line.words.size() < 3) {
      arguments.skip(line.words.size());
      (void)arguments.need("a PCI address and VENDOR:DEVICE");
      return object;
    }
    arguments.skip(3);
    object.class_id = word == "gpu" ? 0x0302 : 0x0200;
    while (arguments.more()) read_option(word, arguments, object);
    return object;
  }

  void read_option(const std::string& word, Arguments& arguments, PciObject& object) {
    if (arguments.peek().starts_with("gen")) {
      object.gigabytes = arguments.link();
      return;
    }
    for (const auto& [name, number] : k_classes)
      if (arguments.take(name)) {
        object.class_id = number;
        return;
      }
    if (arguments.take("class"))
      object.class_id = arguments.hexadecimal("a PCI class", 0xffff);
    else if (word == "nic" && arguments.take("verbs"))
      object.names.push_back({arguments.word("a name"), OsDevice::k_openfabrics});
    else if (word == "nic" && arguments.take("net"))
      object.names.push_back({arguments.word("a name"), OsDevice::k_network});
    else if (word == "nic" && arguments.take("rate"))
      object.rate = arguments.number("Gbit/s", 100'000).value_or(0);
    else if (const std::string name = arguments.peek(); library_type(name) != 0)
      object.names.push_back({arguments.word("a name"), library_type(name)});
    else
      arguments.unknown(
          "genN xN, a class (vga, 3d, display, accelerator, ethernet, infiniband, fabric, network, "
          "class HEX), names of libraries (nvml0, rsmi0, ze0, cuda0), verbs NAME, net NAME, rate "
          "GBPS");
  }

  Problems& problems_;
};

// The lowest bus of the devices below.
void first_address(const PciObject& object, PciObject& host) {
  if (object.kind == Kind::device && host.bus > object.bus) {
    host.domain = object.domain;
    host.bus = object.bus;
  }
  for (const PciObject& one : object.below) first_address(one, host);
}

}  // namespace

Host read_host(const Line& line, Problems& problems) {
  constexpr std::array<std::pair<const char*, Part::Kind>, 5> k_places{
      {{"package", Part::Kind::package},
       {"die", Part::Kind::die},
       {"group", Part::Kind::group},
       {"numa", Part::Kind::numa},
       {"l3", Part::Kind::l3}}};
  Host host;
  host.bridge.kind = Kind::host;
  Arguments arguments(line, problems);
  if (!arguments.take("at") || !arguments.more()) {
    problems.add(line,
                 line.words[0].column,
                 "where is it?",
                 "host at machine, package N, die N, group N, numa N or l3 N");
  } else if (!arguments.take("machine")) {
    for (const auto& [place, kind] : k_places)
      if (!host.at.kind && arguments.take(place)) host.at.kind = kind;
    if (host.at.kind)
      host.at.number = arguments.number("its number", 20'000).value_or(0);
    else
      arguments.unknown("at machine, package N, die N, group N, numa N, l3 N");
  }
  if (arguments.more()) arguments.unknown("at PLACE");
  if (line.below.empty()) problems.add(line, line.words[0].column, "nothing is behind it");
  DeviceReader(problems).read_behind_ports(line, host.bridge);
  host.bridge.bus = 256;
  for (const PciObject& one : host.bridge.below) first_address(one, host.bridge);
  return host;
}

}  // namespace dts::tests
