// SPDX-License-Identifier: Apache-2.0
// Finds and loads the module of a kind of device, and opens a device with it.
#pragma once

#include "core/base/result.hpp"
#include "core/train/accelerator/queue/queue.hpp"

#include <memory>
#include <string>

namespace dts::train::accelerator {

struct OpenedDevice {
  std::unique_ptr<Queue> queue;
  dttrain_facts facts{};
  int number = 0;  // among those that this process sees
  int devices = 0;

  // "NVIDIA H100 80GB HBM3, cuBLASLt 13.1.0": what determines bits.
  [[nodiscard]] std::string text() const {
    return std::string(facts.name) + ", " + facts.libraries;
  }
};

// A module's verified table of functions, and its name for messages.
struct DeviceModule {
  const dttrain_device* table = nullptr;
  std::string path;
};

// Loads the module dttrain-NAME.so from the folders of plug-ins; it stays loaded. Errc::invalid
// says whether the module or a library is missing, and what to do.
[[nodiscard]] Result<DeviceModule> load_device_module(const std::string& name);

// The number of devices that the module finds, at least one. Errc::invalid says why there is none:
// because of the driver or the device.
[[nodiscard]] Result<int> count_devices(const DeviceModule& module);

// A context of device `number`, which the caller must close. Errc::invalid says what is missing.
[[nodiscard]] Result<dttrain_context*> open_context(const DeviceModule& module, int number);

// Opens the device for the `local`-th rank of this node, from 0: of the devices that the rank sees,
// number `local` modulo their count. Errc::invalid says what is missing or too old (the module, a
// library, the driver or the device) and what to do.
[[nodiscard]] Result<OpenedDevice> open_device(const std::string& name, int local);

// The same with a given table; `path` names the module in messages. Pure but for the table.
[[nodiscard]] Result<OpenedDevice> open_device(const dttrain_device* table,
                                               const std::string& path,
                                               const std::string& name,
                                               int local);

}  // namespace dts::train::accelerator
