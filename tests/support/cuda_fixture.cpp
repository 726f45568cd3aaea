// SPDX-License-Identifier: Apache-2.0
// Stands in for libcuda.so.1, which only machines with a GPU have; continuous integration has none.
// Device memory is memory of the process, and copies are real. Time is not: each device has a clock
// that a copy moves by bytes / rate, so that a test knows the rates to the last digit.
//   CUDA_FIXTURE          a device a word: the rates to it, from it and within it, each byte
//   counted
//                         once: "25e9/20e9/1e12 25e9/20e9/1e12"; CUDA_VISIBLE_DEVICES chooses
//   CUDA_FIXTURE_BREAK    FUNCTION@DEVICE=STATUS: that is what it returns while the device's
//                         context is current, or when it is asked for the device; STATUS "hang":
//                         never
//   CUDA_FIXTURE_LEFT     a file that gets, at exit, what is held: contexts, and blocks of memory,
//                         streams and events together
// CUDA_ERROR_INVALID_CONTEXT is the answer to what needs a context without one, and
// CUDA_ERROR_INVALID_VALUE to an address that is not of the device.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Address = unsigned long long;

constexpr int k_success = 0, k_invalid = 1, k_not_initialized = 3, k_no_device = 100,
              k_invalid_device = 101, k_invalid_context = 201;

struct Gpu {
  int number = 0;  // among all, whatever is visible
  double to = 0, from = 0, within = 0;
  double clock = 0;  // s
  int contexts = 0;
  std::map<Address, std::size_t> memory{};
};

struct Driver {
  std::vector<Gpu> gpus{};
  bool begun = false;
  Gpu* current = nullptr;
  int objects = 0;  // pinned memory, streams, events

  Driver() {
    const char* const words = std::getenv("CUDA_FIXTURE");
    std::istringstream all(words != nullptr ? words : "");
    std::vector<Gpu> present;
    for (std::string word; all >> word;) {
      Gpu gpu{static_cast<int>(present.size())};
      if (std::sscanf(word.c_str(), "%lf/%lf/%lf", &gpu.to, &gpu.from, &gpu.within) == 3)
        present.push_back(gpu);
    }
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible == nullptr) {
      gpus = present;
      return;
    }
    std::istringstream chosen(visible);
    for (std::string number; std::getline(chosen, number, ',');)
      gpus.push_back(present.at(std::stoul(number)));
  }

  ~Driver() {
    const char* const path = std::getenv("CUDA_FIXTURE_LEFT");
    std::FILE* const file = path != nullptr ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) return;
    int contexts = 0, held = objects;
    for (const Gpu& gpu : gpus) {
      contexts += gpu.contexts;
      held += static_cast<int>(gpu.memory.size());
    }
    std::fprintf(file, "%d contexts, %d objects\n", contexts, held);
    std::fclose(file);
  }
};

Driver& driver() {
  static Driver instance;
  return instance;
}

// What CUDA_FIXTURE_BREAK makes of a call.
int broken(const char* function, const Gpu& gpu) {
  const char* const text = std::getenv("CUDA_FIXTURE_BREAK");
  const std::string start = std::string(function) + "@" + std::to_string(gpu.number) + "=";
  if (text == nullptr || std::string(text).rfind(start, 0) != 0) return k_success;
  const std::string status = std::string(text).substr(start.size());
  while (status == "hang") ::pause();
  return std::atoi(status.c_str());
}

// Whether a call may go on that needs a context; otherwise what it returns.
int status_of(const char* function) {
  Driver& cu = driver();
  if (!cu.begun) return k_not_initialized;
  if (cu.current == nullptr || cu.current->contexts == 0) return k_invalid_context;
  return broken(function, *cu.current);
}

// The same for one that names a device.
int status_of(const char* function, int device) {
  Driver& cu = driver();
  if (!cu.begun) return k_not_initialized;
  if (device < 0 || device >= static_cast<int>(cu.gpus.size())) return k_invalid_device;
  return broken(function, cu.gpus[static_cast<std::size_t>(device)]);
}

Gpu& gpu_of(int device) {
  return driver().gpus[static_cast<std::size_t>(device)];
}

bool is_inside(Address at, std::size_t bytes) {
  for (const auto& [start, room] : driver().current->memory)
    if (at >= start && at + bytes <= start + room) return true;
  return false;
}

void* pointer(Address at) {
  return reinterpret_cast<void*>(at);
}

}  // namespace

#define CUDA_FIXTURE extern "C" __attribute__((visibility("default")))

CUDA_FIXTURE int cuInit(unsigned flags) {
  if (flags != 0) return k_invalid;
  driver().begun = true;
  return driver().gpus.empty() ? k_no_device : k_success;
}

CUDA_FIXTURE int cuGetErrorName(int status, const char** name) {
  static const std::map<int, const char*> names{{1, "CUDA_ERROR_INVALID_VALUE"},
                                                {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                {3, "CUDA_ERROR_NOT_INITIALIZED"},
                                                {100, "CUDA_ERROR_NO_DEVICE"},
                                                {101, "CUDA_ERROR_INVALID_DEVICE"},
                                                {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                                {214, "CUDA_ERROR_ECC_UNCORRECTABLE"}};
  const auto found = names.find(status);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? k_invalid : k_success;
}

CUDA_FIXTURE int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(driver().gpus.size());
  return driver().begun ? k_success : k_not_initialized;
}

CUDA_FIXTURE int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return status_of(__func__, ordinal);
}

CUDA_FIXTURE int cuDeviceGetName(char* name, int room, int device) {
  std::snprintf(name, static_cast<std::size_t>(room), "Stand-in GPU");
  return status_of(__func__, device);
}

CUDA_FIXTURE int cuDeviceGetPCIBusId(char* address, int room, int device) {
  if (const int status = status_of(__func__, device); status != k_success) return status;
  std::snprintf(
      address, static_cast<std::size_t>(room), "0000:%02X:00.0", 0x3b + gpu_of(device).number);
  return k_success;
}

CUDA_FIXTURE int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (const int status = status_of(__func__, device); status != k_success) return status;
  ++gpu_of(device).contexts;
  *context = &gpu_of(device);
  return k_success;
}

CUDA_FIXTURE int cuDevicePrimaryCtxRelease(int device) {
  --gpu_of(device).contexts;
  return status_of(__func__, device);
}

CUDA_FIXTURE int cuCtxSetCurrent(void* context) {
  driver().current = static_cast<Gpu*>(context);
  return context == nullptr ? k_success : status_of(__func__);
}

CUDA_FIXTURE int cuMemAlloc_v2(Address* at, std::size_t bytes) {
  if (const int status = status_of(__func__); status != k_success) return status;
  *at = reinterpret_cast<Address>(std::malloc(bytes));
  driver().current->memory[*at] = bytes;
  return k_success;
}

CUDA_FIXTURE int cuMemFree_v2(Address at) {
  if (const int status = status_of(__func__); status != k_success) return status;
  if (driver().current->memory.erase(at) == 0) return k_invalid;
  std::free(pointer(at));
  return k_success;
}

CUDA_FIXTURE int cuMemHostAlloc(void** at, std::size_t bytes, unsigned /*flags*/) {
  if (const int status = status_of(__func__); status != k_success) return status;
  ++driver().objects;
  *at = std::malloc(bytes);
  return k_success;
}

CUDA_FIXTURE int cuMemFreeHost(void* at) {
  if (const int status = status_of(__func__); status != k_success) return status;
  --driver().objects;
  std::free(at);
  return k_success;
}

CUDA_FIXTURE int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, void*) {
  if (const int status = status_of(__func__); status != k_success) return status;
  if (!is_inside(to, bytes)) return k_invalid;
  std::memcpy(pointer(to), from, bytes);
  driver().current->clock += static_cast<double>(bytes) / driver().current->to;
  return k_success;
}

CUDA_FIXTURE int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void*) {
  if (const int status = status_of(__func__); status != k_success) return status;
  if (!is_inside(from, bytes)) return k_invalid;
  std::memcpy(to, pointer(from), bytes);
  driver().current->clock += static_cast<double>(bytes) / driver().current->from;
  return k_success;
}

CUDA_FIXTURE int cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, void*) {
  if (const int status = status_of(__func__); status != k_success) return status;
  if (!is_inside(from, bytes) || !is_inside(to, bytes)) return k_invalid;
  std::memcpy(pointer(to), pointer(from), bytes);
  driver().current->clock += static_cast<double>(bytes) / driver().current->within;
  return k_success;
}

CUDA_FIXTURE int cuStreamCreate(void** stream, unsigned /*flags*/) {
  if (const int status = status_of(__func__); status != k_success) return status;
  ++driver().objects;
  *stream = driver().current;
  return k_success;
}

CUDA_FIXTURE int cuStreamDestroy_v2(void* /*stream*/) {
  --driver().objects;
  return status_of(__func__);
}

CUDA_FIXTURE int cuEventCreate(void** event, unsigned /*flags*/) {
  if (const int status = status_of(__func__); status != k_success) return status;
  ++driver().objects;
  *event = new double(-1);  // not recorded
  return k_success;
}

CUDA_FIXTURE int cuEventDestroy_v2(void* event) {
  --driver().objects;
  delete static_cast<double*>(event);
  return status_of(__func__);
}

CUDA_FIXTURE int cuEventRecord(void* event, void* /*stream*/) {
  if (const int status = status_of(__func__); status != k_success) return status;
  *static_cast<double*>(event) = driver().current->clock;
  return k_success;
}

CUDA_FIXTURE int cuEventSynchronize(void* event) {
  if (const int status = status_of(__func__); status != k_success) return status;
  return *static_cast<double*>(event) < 0 ? k_invalid : k_success;
}

CUDA_FIXTURE int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  if (const int status = status_of(__func__); status != k_success) return status;
  *milliseconds =
      static_cast<float>((*static_cast<double*>(to) - *static_cast<double*>(from)) * 1000);
  return k_success;
}
