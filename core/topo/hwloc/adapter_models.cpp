// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/adapter_models.hpp"

#include <algorithm>
#include <array>

namespace dts::topo {
namespace {

struct Model {
  unsigned vendor, device, gbps;
};

constexpr unsigned k_mellanox = 0x15b3, k_intel = 0x8086, k_broadcom = 0x14e4, k_hpe = 0x17db,
                   k_amazon = 0x1d0f;

constexpr std::array k_models{
    Model{k_mellanox, 0x1003, 56},   // ConnectX-3
    Model{k_mellanox, 0x1007, 56},   // ConnectX-3 Pro
    Model{k_mellanox, 0x1011, 56},   // Connect-IB
    Model{k_mellanox, 0x1012, 56},   // its virtual functions
    Model{k_mellanox, 0x1013, 100},  // ConnectX-4
    Model{k_mellanox, 0x1014, 100},  // its virtual functions
    Model{k_mellanox, 0x1015, 50},   // ConnectX-4 Lx
    Model{k_mellanox, 0x1016, 50},   // its virtual functions
    Model{k_mellanox, 0x1017, 100},  // ConnectX-5
    Model{k_mellanox, 0x1018, 100},  // its virtual functions
    Model{k_mellanox, 0x1019, 100},  // ConnectX-5 Ex
    Model{k_mellanox, 0x101a, 100},  // its virtual functions
    Model{k_mellanox, 0x101b, 200},  // ConnectX-6
    Model{k_mellanox, 0x101c, 200},  // its virtual functions
    Model{k_mellanox, 0x101d, 200},  // ConnectX-6 Dx
    Model{k_mellanox, 0x101f, 50},   // ConnectX-6 Lx
    Model{k_mellanox, 0x1021, 400},  // ConnectX-7
    Model{k_mellanox, 0x1023, 800},  // ConnectX-8
    Model{k_mellanox, 0xa2d2, 100},  // BlueField
    Model{k_mellanox, 0xa2d6, 200},  // BlueField-2
    Model{k_mellanox, 0xa2dc, 400},  // BlueField-3
    Model{k_intel, 0x24f0, 100},     // Omni-Path HFI 100
    Model{k_intel, 0x24f1, 100},     // the same, in a processor's package
    Model{k_intel, 0x37d0, 10},      // X722, SFP+
    Model{k_intel, 0x37d2, 10},      // X722, 10GBASE-T
    Model{k_intel, 0x1592, 100},     // E810-C, QSFP
    Model{k_intel, 0x1593, 100},     // E810-C, SFP
    Model{k_intel, 0x159b, 25},      // E810-XXV
    Model{k_broadcom, 0x16d6, 10},   // BCM57412
    Model{k_broadcom, 0x16d7, 25},   // BCM57414
    Model{k_broadcom, 0x16d8, 10},   // BCM57416
    Model{k_broadcom, 0x1750, 200},  // BCM57508
    Model{k_broadcom, 0x1751, 100},  // BCM57504
    Model{k_broadcom, 0x1760, 400},  // BCM57608
    Model{k_hpe, 0x0501, 200},       // Slingshot's Cassini
    Model{k_amazon, 0xefa0, 100},    // EFA, of P4d
    Model{k_amazon, 0xefa1, 100},    // the second generation, 32 in a P5
    Model{k_amazon, 0xefa2, 200},    // the third, 16 in a P5en
    Model{k_amazon, 0xefa3, 400},    // the fourth, 8 in a P6-B200
};

struct Id {
  unsigned vendor, device;
};

constexpr std::array k_virtual_functions{
    Id{k_mellanox, 0x1002},  // ConnectX-2
    Id{k_mellanox, 0x1004},  // ConnectX-3
    Id{k_mellanox, 0x1012},  // Connect-IB
    Id{k_mellanox, 0x1014},  // ConnectX-4
    Id{k_mellanox, 0x1016},  // ConnectX-4 Lx
    Id{k_mellanox, 0x1018},  // ConnectX-5
    Id{k_mellanox, 0x101a},  // ConnectX-5 Ex
    Id{k_mellanox, 0x101c},  // ConnectX-6
    Id{k_mellanox, 0x101e},  // ConnectX-6 Dx and later
    Id{k_mellanox, 0xa2d3},  // BlueField
    Id{k_intel, 0x154c},     // X710, X722
    Id{k_intel, 0x1889},     // E810
    Id{k_broadcom, 0x16dc},  // BCM5741x
    Id{k_broadcom, 0x1806},  // BCM5750x
    Id{k_broadcom, 0x1807},  // BCM5750x with RDMA
};

}  // namespace

bool is_virtual_function(unsigned vendor, unsigned device) {
  return std::any_of(k_virtual_functions.begin(), k_virtual_functions.end(), [&](const Id& id) {
    return id.vendor == vendor && id.device == device;
  });
}

unsigned most_gbps(unsigned vendor, unsigned device) {
  const auto found = std::find_if(k_models.begin(), k_models.end(), [&](const Model& model) {
    return model.vendor == vendor && model.device == device;
  });
  return found == k_models.end() ? 0 : found->gbps;
}

}  // namespace dts::topo
