// SPDX-License-Identifier: Apache-2.0
// A library with NVML's interface (nvml.h) that simulates a node of four GPUs: 0 is healthy and
// old, 1 belongs to another job, 2 has fallen off the bus, 3 is broken in every way that it can
// report and has MIG instances in two of its three slots. NVML_FIXTURE_NODE selects another node:
// "mesh" and "switch" have four healthy GPUs with NVLink, "mixed" four healthy ones of which the
// last two are newer; "hang" never answers, "crash" dies.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int k_success = 0, k_invalid = 2, k_not_supported = 3, k_no_permission = 4,
              k_not_found = 6, k_no_driver = 9, k_gpu_is_lost = 15;

struct Device {
  unsigned index;
  unsigned slot = 9;  // of a MIG instance
};

Device g_devices[] = {{0}, {1}, {2}, {3}};
Device g_instances[] = {{3, 0}, {3, 1}, {3, 2}};

bool node_is(const char* kind) {
  const char* node = std::getenv("NVML_FIXTURE_NODE");
  return node != nullptr && std::strcmp(node, kind) == 0;
}

bool is_linked() {
  return node_is("mesh") || node_is("switch");
}

bool is_sound() {
  return is_linked() || node_is("mixed");
}

// What each NVLink of a GPU in the mesh connects to: a GPU's number, - nothing, n an IBM processor.
constexpr const char* k_mesh[] = {"11-2n", "003", "03", "12"};

struct PciInfo {
  char legacy_id[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

void say_address(unsigned index, PciInfo* info) {
  std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", 0x3b + index);
}

}  // namespace

#define NVML_FIXTURE extern "C" __attribute__((visibility("default")))

NVML_FIXTURE int nvmlInit_v2() {
  if (node_is("crash")) std::raise(SIGSEGV);
  while (node_is("hang")) ::pause();
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
  if (is_sound()) return k_success;
  return index == 1 ? k_no_permission : index == 2 ? k_gpu_is_lost : k_success;
}

NVML_FIXTURE int nvmlDeviceGetPciInfo_v3(Device* device, PciInfo* info) {
  say_address(device->index, info);
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetTotalEccErrors(Device* device,
                                             int type,
                                             int counter,
                                             unsigned long long* count) {
  *count = type == 1 && counter == 0 ? 5 : 999;  // uncorrected, volatile
  return device->index == 3 && !node_is("mixed") ? k_success : k_not_supported;
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
  return device->index == 3 && !node_is("mixed") ? k_success : k_not_supported;
}

NVML_FIXTURE int nvmlDeviceGetCurrentClocksThrottleReasons(Device* device,
                                                           unsigned long long* reasons) {
  *reasons = device->index == 3 && !node_is("mixed") ? 0x48 : 0x1;
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetName(Device* device, char* name, unsigned length) {
  const bool is_newer = device->index > 1 && node_is("mixed");
  std::snprintf(name, length, is_newer ? "NVIDIA H100 80GB HBM3" : "NVIDIA A100-SXM4-40GB");
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetUUID(Device* device, char* uuid, unsigned length) {
  const bool is_instance = device->slot < 9;
  std::snprintf(uuid,
                length,
                "%s-%u%u000000-0000-4000-8000-00000000000%u",
                is_instance ? "MIG" : "GPU",
                device->index,
                is_instance ? device->slot : 0,
                device->index);
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetMigMode(Device* device, unsigned* current, unsigned* pending) {
  *current = *pending = device->index == 3 && !is_sound() ? 1 : 0;
  return device->index == 0 ? k_not_supported : k_success;
}

NVML_FIXTURE int nvmlDeviceGetMaxMigDeviceCount(Device* /*device*/, unsigned* count) {
  *count = 3;
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetMigDeviceHandleByIndex(Device* device, unsigned slot, void** found) {
  *found = &g_instances[slot];
  return device->index == 3 && slot != 1 ? k_success : k_not_found;
}

NVML_FIXTURE int nvmlDeviceGetNvLinkState(Device* device, unsigned link, int* active) {
  if (!is_linked()) return k_not_supported;
  const unsigned links =
      node_is("switch") ? (device->index == 3 ? 2 : 4) : std::strlen(k_mesh[device->index]);
  if (link >= links) return k_invalid;
  *active = node_is("switch") || k_mesh[device->index][link] != '-' ? 1 : 0;
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetNvLinkRemoteDeviceType(Device* /*device*/,
                                                     unsigned /*link*/,
                                                     unsigned* kind) {
  *kind = 2;                                               // a switch
  return node_is("switch") ? k_success : k_not_supported;  // not supported by old drivers
}

NVML_FIXTURE int nvmlDeviceGetNvLinkRemotePciInfo_v2(Device* device, unsigned link, PciInfo* info) {
  const char beyond = k_mesh[device->index][link];
  say_address(beyond == 'n' ? 0x40 : static_cast<unsigned>(beyond - '0'), info);
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  unsigned bus = 0;
  const char* const colon = std::strchr(address, ':');
  if (colon == nullptr || std::sscanf(colon + 1, "%x", &bus) != 1 || bus < 0x3b || bus > 0x3e)
    return k_not_found;
  *device = &g_devices[bus - 0x3b];
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetClockInfo(Device* device, int kind, unsigned* megahertz) {
  *megahertz = kind == 1 ? 1410 - 100 * device->index : 1215;  // SM, memory
  return kind == 1 || kind == 2 ? k_success : k_invalid;
}

NVML_FIXTURE int nvmlDeviceGetTemperature(Device* device, int /*sensor*/, unsigned* celsius) {
  *celsius = 40 + device->index;
  return k_success;
}

NVML_FIXTURE int nvmlDeviceGetPowerUsage(Device* device, unsigned* milliwatts) {
  *milliwatts = 250500;
  return device->index == 1 ? k_not_supported : k_success;
}

// In the mesh, 0 and 3 cannot read each other's memory.
NVML_FIXTURE int nvmlDeviceGetP2PStatus(Device* a, Device* b, int kind, int* status) {
  *status = is_linked() && a->index + b->index != 3 ? 0 : 1;
  return kind == 0 ? k_success : k_not_supported;
}
