// SPDX-License-Identifier: Apache-2.0
// A library that answers as NVML does (nvml.h) on a node of four GPUs: 0 is sound and old, 1
// another job's, 2 has fallen off the bus, 3 is broken in every way it can say.
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int k_success = 0, k_not_supported = 3, k_no_permission = 4, k_no_driver = 9,
              k_gpu_is_lost = 15;

struct Device {
  unsigned index;
};

Device g_devices[] = {{0}, {1}, {2}, {3}};

struct PciInfo {
  char legacy_id[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

}  // namespace

#define NVML_FIXTURE extern "C" __attribute__((visibility("default")))

NVML_FIXTURE int nvmlInit_v2() {
  return std::getenv("NVML_FIXTURE_NO_DRIVER") != nullptr ? k_no_driver : k_success;
}

NVML_FIXTURE int nvmlShutdown() {
  return k_success;
}

NVML_FIXTURE const char* nvmlErrorString(int error) {
  return error == k_no_driver ? "Driver Not Loaded" : "Unknown Error";
}

NVML_FIXTURE int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 4;
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &g_devices[index];
  return index == 1 ? k_no_permission : index == 2 ? k_gpu_is_lost : k_success;
}

NVML_FIXTURE int nvmlDeviceGetPciInfo_v3(Device* device, PciInfo* info) {
  std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", 0x3b + device->index);
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetTotalEccErrors(Device* device,
                                             int type,
                                             int counter,
                                             unsigned long long* count) {
  *count = type == 1 && counter == 0 ? 5 : 999;  // uncorrected, volatile
  return device->index == 3 ? k_success : k_not_supported;
}

NVML_FIXTURE int nvmlDeviceGetRetiredPagesPendingStatus(Device* /*device*/, int* /*pending*/) {
  return k_not_supported;
}

NVML_FIXTURE int nvmlDeviceGetRemappedRows(Device* device,
                                           unsigned* corrected,
                                           unsigned* uncorrected,
                                           unsigned* pending,
                                           unsigned* failed) {
  *corrected = *uncorrected = 7;
  *pending = *failed = 1;
  return device->index == 3 ? k_success : k_not_supported;
}

NVML_FIXTURE int nvmlDeviceGetCurrentClocksThrottleReasons(Device* device,
                                                           unsigned long long* reasons) {
  *reasons = device->index == 3 ? 0x48 : 0x1;
  return k_success;
}
