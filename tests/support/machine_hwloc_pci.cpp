// SPDX-License-Identifier: Apache-2.0
#include "tests/support/machine_xml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::tests {
namespace {

using Kind = PciObject::Kind;

// The range of buses of the devices below.
void buses(const PciObject& object, unsigned& first, unsigned& last) {
  if (object.kind == Kind::device) {
    first = std::min(first, object.bus);
    last = std::max(last, object.bus);
  }
  for (const PciObject& one : object.below) buses(one, first, last);
}

struct Library {
  const char *prefix, *subtype, *vendor;
};

const Library* library_of(const OsDevice& device) {
  static constexpr Library k_libraries[] = {{"nvml", "NVML", "NVIDIA Corporation"},
                                            {"cuda", "CUDA", "NVIDIA Corporation"},
                                            {"rsmi", "RSMI", "AMD"},
                                            {"ze", "LevelZero", "Intel(R) Corporation"},
                                            {"opencl", "OpenCL", "of an OpenCL platform"}};
  for (const Library& one : k_libraries)
    if (device.name.starts_with(one.prefix) &&
        (device.type == OsDevice::k_gpu || device.type == OsDevice::k_coprocessor))
      return &one;
  return nullptr;
}

void write_os_device(Xml& xml, const OsDevice& device) {
  std::string attributes = fmt::format(" name=\"{}\" osdev_type=\"{}\"", device.name, device.type);
  const Library* library = library_of(device);
  if (library != nullptr) attributes += fmt::format(" subtype=\"{}\"", library->subtype);
  xml.open("OSDev", attributes);
  const unsigned number = xml.objects[device.name] = xml.last;
  if (library != nullptr) {
    xml.info("Backend", library->subtype);
    xml.info("GPUVendor", library->vendor);
  } else if (device.type == OsDevice::k_openfabrics) {
    xml.info("NodeGUID", fmt::format("0000:0000:0000:{:04x}", number));
    xml.info("Port1State", "4");
    xml.info("Port1LID", fmt::format("0x{:x}", number));
  } else if (device.type == OsDevice::k_network) {
    xml.info("Address", fmt::format("02:00:00:00:{:02x}:{:02x}", number / 256 % 256, number % 256));
  }
  xml.close();
}

std::string address(unsigned domain, unsigned bus, unsigned device, unsigned function) {
  return fmt::format(" pci_busid=\"{:04x}:{:02x}:{:02x}.{:x}\"", domain, bus, device, function);
}

void write(Xml& xml, const PciObject& object, unsigned depth, const PciObject& host) {
  std::string attributes;
  unsigned first = 255, last = 0;
  buses(object, first, last);
  if (object.kind != Kind::device)
    attributes =
        fmt::format(" bridge_type=\"{}-1\" depth=\"{}\" bridge_pci=\"{:04x}:[{:02x}-{:02x}]\"",
                    depth == 0 ? 0 : 1,
                    depth,
                    host.domain,
                    first,
                    last);
  if (object.kind == Kind::bridge) {
    const unsigned port = xml.ports++ % 256;  // unique as far as possible
    attributes += address(host.domain, depth == 1 ? host.bus : first, port / 8, port % 8);
  } else if (object.kind == Kind::device) {
    attributes += address(object.domain, object.bus, object.device, object.function);
  }
  if (object.kind != Kind::host)
    attributes +=
        fmt::format(" pci_type=\"{:04x} [{:04x}:{:04x}] [0000:0000] 00\" pci_link_speed=\"{:.6f}\"",
                    object.class_id,
                    object.vendor_id,
                    object.device_id,
                    object.gigabytes);
  xml.open(object.kind == Kind::device ? "PCIDev" : "Bridge", attributes);
  for (const PciObject& one : object.below) write(xml, one, depth + 1, host);
  for (const OsDevice& device : object.names) write_os_device(xml, device);
  xml.close();
}

}  // namespace

void Xml::open(const char* type, const std::string& attributes) {
  text += fmt::format("<object type=\"{}\" gp_index=\"{}\"{}>\n", type, ++last, attributes);
}

void Xml::close() {
  text += "</object>\n";
}

void Xml::info(const char* name, const std::string& value) {
  text += fmt::format("<info name=\"{}\" value=\"{}\"/>\n", name, value);
}

void write_host(Xml& xml, const PciObject& host) {
  write(xml, host, 0, host);
}

}  // namespace dts::tests
