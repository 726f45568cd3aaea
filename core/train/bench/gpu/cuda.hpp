// SPDX-License-Identifier: Apache-2.0
// The CUDA driver, where a machine has one: loaded on demand, never linked, and declared here after
// cuda.h (CUDA Driver API), which is missing where only a driver is installed.
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace dts::train::bench {

namespace cuda {

using Status = int;                  // CUresult
using Device = int;                  // CUdevice
using Address = unsigned long long;  // CUdeviceptr
using Context = void*;
using Stream = void*;
using Event = void*;

inline constexpr Status k_no_device = 100;

// One member a function, called as in cuda.h of CUDA 7 to 13.
struct Functions {
  Status (*init)(unsigned flags) = nullptr;
  Status (*error_name)(Status status, const char** name) = nullptr;
  Status (*device_count)(int* count) = nullptr;
  Status (*device)(Device* device, int ordinal) = nullptr;
  Status (*device_name)(char* name, int room, Device device) = nullptr;
  Status (*pci_address)(char* address, int room, Device device) = nullptr;
  Status (*retain_context)(Context* context, Device device) = nullptr;
  Status (*release_context)(Device device) = nullptr;
  Status (*set_context)(Context context) = nullptr;
  Status (*allocate)(Address* at, std::size_t bytes) = nullptr;
  Status (*free)(Address at) = nullptr;
  Status (*allocate_host)(void** at, std::size_t bytes, unsigned flags) = nullptr;
  Status (*free_host)(void* at) = nullptr;
  Status (*to_device)(Address to, const void* from, std::size_t bytes, Stream stream) = nullptr;
  Status (*to_host)(void* to, Address from, std::size_t bytes, Stream stream) = nullptr;
  Status (*on_device)(Address to, Address from, std::size_t bytes, Stream stream) = nullptr;
  Status (*create_stream)(Stream* stream, unsigned flags) = nullptr;
  Status (*destroy_stream)(Stream stream) = nullptr;
  Status (*create_event)(Event* event, unsigned flags) = nullptr;
  Status (*destroy_event)(Event event) = nullptr;
  Status (*record)(Event event, Stream stream) = nullptr;
  Status (*wait_for)(Event event) = nullptr;
  Status (*elapsed)(float* milliseconds, Event from, Event to) = nullptr;
};

}  // namespace cuda

struct GpuName {
  std::string model;  // "NVIDIA H100 80GB HBM3"
  std::string pci;    // "0000:3b:00.0", as in sysfs; empty: not known
};

// Functions that fail say which of the driver's did, and by what name it calls the error:
// "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY", Errc::io. The library stays loaded until the process
// ends. A driver may hang in each of them. Not thread-safe.
class CudaDriver {
 public:
  // Errc::not_found without the library, or if it lacks a function; the message is the loader's.
  [[nodiscard]] static Result<CudaDriver> open(const char* library = "libcuda.so.1");

  // Starts the driver and counts the GPUs that CUDA_VISIBLE_DEVICES shows. No GPU is no error.
  [[nodiscard]] Result<int> devices() const;

  [[nodiscard]] Result<GpuName> name_of(int ordinal) const;

 private:
  friend class CudaCopies;

  [[nodiscard]] Result<void> check(cuda::Status status, const char* function) const;

  cuda::Functions functions_;
};

// One piece of pinned host memory and two of a GPU's own, and how long copies between them take.
// What it has taken of the GPU, the context included, is given back by the destructor.
class CudaCopies {
 public:
  enum class Way { to_device, to_host, on_device };

  CudaCopies(const CudaDriver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {}

  CudaCopies(const CudaCopies&) = delete;
  CudaCopies& operator=(const CudaCopies&) = delete;
  ~CudaCopies();

  // Once, before anything else. `bytes`: of each piece. The host's is near the calling thread.
  [[nodiscard]] Result<void> begin(std::size_t bytes);

  // Copies a whole piece: seconds by the GPU's own clock, whatever the processors do meanwhile.
  [[nodiscard]] Result<double> copy(Way way);

 private:
  [[nodiscard]] Result<void> allocate(std::size_t bytes);
  [[nodiscard]] Result<void> enqueue(Way way) const;

  const CudaDriver& driver_;
  int ordinal_;
  std::size_t bytes_ = 0;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr;
  cuda::Event before_ = nullptr, after_ = nullptr;
  void* host_ = nullptr;
  cuda::Address first_ = 0, second_ = 0;
};

}  // namespace dts::train::bench
