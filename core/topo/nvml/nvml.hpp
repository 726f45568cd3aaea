// SPDX-License-Identifier: Apache-2.0
// The NVIDIA Management Library, if a node has it: loaded on demand, never linked. The functions
// are declared here after nvml.h (NVML API Reference), which is missing if only a driver is
// installed.
#pragma once

#include "core/base/result.hpp"

#include <dlfcn.h>

#include <memory>
#include <string>
#include <vector>

namespace dts::topo {

// The initialised library; the destructor shuts it down. Its first calls take about a second per
// GPU if the driver is not kept loaded (nvidia-persistenced), and never return if the driver hangs.
// Thread-safe.
class Nvml {
 public:
  static constexpr const char* k_library = "libnvidia-ml.so.1";
  // nvmlReturn_t
  static constexpr int k_success = 0;
  static constexpr int k_no_permission = 4;
  static constexpr int k_function_not_found = 13;
  static constexpr int k_gpu_is_lost = 15;

  using Device = void*;

  struct Gpu {
    unsigned index = 0;  // NVML's number
    int status = k_success;
    Device device = nullptr;  // null if `status` is a failure
  };

  // Errc::not_found if there is no library or no driver, with NVML's or the loader's message.
  [[nodiscard]] static Result<Nvml> open(const char* library = k_library);

  // k_function_not_found if this release lacks the function. NVML is written in C, with names of
  // its own for structures, so clang's UBSan would object to the function's type.
  template <class... Arguments>
#if defined(__clang__)
  __attribute__((no_sanitize("function")))
#endif
  int call(const char* name, Arguments... arguments) const {
    using Function = int (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(::dlsym(library_.get(), name));
    return function == nullptr ? k_function_not_found : function(arguments...);
  }

  // All GPUs except those of other jobs, including GPUs that cannot be reached. Errc::not_found.
  [[nodiscard]] Result<std::vector<Gpu>> gpus() const;

  // "00000000:3B:00.0"; empty: unknown.
  [[nodiscard]] std::string pci_of(Device device) const;

  // The same for the device at the other end of NVLink number `link` of `device`.
  [[nodiscard]] std::string pci_beyond(Device device, unsigned link) const;

 private:
  struct End {
    void operator()(void* library) const;
  };

  Nvml(void* library, std::string name) : library_(library), name_(std::move(name)) {}

  std::unique_ptr<void, End> library_;
  std::string name_;
};

}  // namespace dts::topo
