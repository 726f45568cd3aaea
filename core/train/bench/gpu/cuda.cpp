// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/gpu/cuda.hpp"

#include "core/base/text/text.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace dts::train::bench {
namespace {

// A name without a version is that of the interface of CUDA 2, which differs.
template <class Function>
bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool load_all(void* library, cuda::Functions& f) {
  return load(library, "cuInit", f.init) && load(library, "cuGetErrorName", f.error_name) &&
         load(library, "cuDeviceGetCount", f.device_count) &&
         load(library, "cuDeviceGet", f.device) &&
         load(library, "cuDeviceGetName", f.device_name) &&
         load(library, "cuDeviceGetPCIBusId", f.pci_address) &&
         load(library, "cuDevicePrimaryCtxRetain", f.retain_context) &&
         load(library, "cuDevicePrimaryCtxRelease", f.release_context) &&
         load(library, "cuCtxSetCurrent", f.set_context) &&
         load(library, "cuMemAlloc_v2", f.allocate) && load(library, "cuMemFree_v2", f.free) &&
         load(library, "cuMemHostAlloc", f.allocate_host) &&
         load(library, "cuMemFreeHost", f.free_host) &&
         load(library, "cuMemcpyHtoDAsync_v2", f.to_device) &&
         load(library, "cuMemcpyDtoHAsync_v2", f.to_host) &&
         load(library, "cuMemcpyDtoDAsync_v2", f.on_device) &&
         load(library, "cuStreamCreate", f.create_stream) &&
         load(library, "cuStreamDestroy_v2", f.destroy_stream) &&
         load(library, "cuEventCreate", f.create_event) &&
         load(library, "cuEventDestroy_v2", f.destroy_event) &&
         load(library, "cuEventRecord", f.record) &&
         load(library, "cuEventSynchronize", f.wait_for) &&
         load(library, "cuEventElapsedTime", f.elapsed);
}

}  // namespace

Result<CudaDriver> CudaDriver::open(const char* library) {
  void* const loaded = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  CudaDriver driver;
  if (loaded == nullptr || !load_all(loaded, driver.functions_))
    return fail(Errc::not_found, ::dlerror());
  return driver;
}

Result<void> CudaDriver::check(cuda::Status status, const char* function) const {
  if (status == 0) return {};
  const char* name = nullptr;
  if (functions_.error_name(status, &name) != 0 || name == nullptr)
    return fail(Errc::io, fmt::format("{}: error {}", function, status));
  return fail(Errc::io, fmt::format("{}: {}", function, name));
}

Result<int> CudaDriver::devices() const {
  int count = 0;
  const cuda::Status begun = functions_.init(0);
  if (begun == cuda::k_no_device) return 0;
  DTS_TRY(check(begun, "cuInit"));
  DTS_TRY(check(functions_.device_count(&count), "cuDeviceGetCount"));
  return count;
}

Result<GpuName> CudaDriver::name_of(int ordinal) const {
  cuda::Device device = 0;
  std::array<char, 128> text{};
  const auto room = static_cast<int>(text.size() - 1);
  GpuName name;
  DTS_TRY(check(functions_.device(&device, ordinal), "cuDeviceGet"));
  DTS_TRY(check(functions_.device_name(text.data(), room, device), "cuDeviceGetName"));
  name.model = std::string(trim(text.data()));
  text.fill('\0');
  DTS_TRY(check(functions_.pci_address(text.data(), room, device), "cuDeviceGetPCIBusId"));
  name.pci = text.data();
  std::transform(name.pci.begin(), name.pci.end(), name.pci.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return name;
}

CudaCopies::~CudaCopies() {
  if (context_ == nullptr) return;
  // What a broken GPU answers to that is of no use to anybody.
  const cuda::Functions& cu = driver_.functions_;
  if (second_ != 0) cu.free(second_);
  if (first_ != 0) cu.free(first_);
  if (host_ != nullptr) cu.free_host(host_);
  if (after_ != nullptr) cu.destroy_event(after_);
  if (before_ != nullptr) cu.destroy_event(before_);
  if (stream_ != nullptr) cu.destroy_stream(stream_);
  cu.set_context(nullptr);
  cu.release_context(device_);
}

Result<void> CudaCopies::begin(std::size_t bytes) {
  const cuda::Functions& cu = driver_.functions_;
  DTS_TRY(driver_.check(cu.device(&device_, ordinal_), "cuDeviceGet"));
  DTS_TRY(driver_.check(cu.retain_context(&context_, device_), "cuDevicePrimaryCtxRetain"));
  DTS_TRY(driver_.check(cu.set_context(context_), "cuCtxSetCurrent"));
  DTS_TRY(driver_.check(cu.create_stream(&stream_, 0), "cuStreamCreate"));
  DTS_TRY(driver_.check(cu.create_event(&before_, 0), "cuEventCreate"));
  DTS_TRY(driver_.check(cu.create_event(&after_, 0), "cuEventCreate"));
  return allocate(bytes);
}

Result<void> CudaCopies::allocate(std::size_t bytes) {
  const cuda::Functions& cu = driver_.functions_;
  bytes_ = bytes;
  DTS_TRY(driver_.check(cu.allocate_host(&host_, bytes, 0), "cuMemHostAlloc"));
  DTS_TRY(driver_.check(cu.allocate(&first_, bytes), "cuMemAlloc_v2"));
  DTS_TRY(driver_.check(cu.allocate(&second_, bytes), "cuMemAlloc_v2"));
  // Zeros would be faster: GPUs compress them.
  auto* const host = static_cast<unsigned char*>(host_);
  for (std::size_t i = 0; i < bytes; ++i) host[i] = static_cast<unsigned char>(i * 37 >> 3);
  return {};
}

Result<void> CudaCopies::enqueue(Way way) const {
  const cuda::Functions& cu = driver_.functions_;
  switch (way) {
    case Way::to_device:
      return driver_.check(cu.to_device(first_, host_, bytes_, stream_), "cuMemcpyHtoDAsync_v2");
    case Way::to_host:
      return driver_.check(cu.to_host(host_, first_, bytes_, stream_), "cuMemcpyDtoHAsync_v2");
    case Way::on_device:
      break;
  }
  return driver_.check(cu.on_device(second_, first_, bytes_, stream_), "cuMemcpyDtoDAsync_v2");
}

Result<double> CudaCopies::copy(Way way) {
  const cuda::Functions& cu = driver_.functions_;
  float milliseconds = 0;
  DTS_TRY(driver_.check(cu.record(before_, stream_), "cuEventRecord"));
  DTS_TRY(enqueue(way));
  DTS_TRY(driver_.check(cu.record(after_, stream_), "cuEventRecord"));
  DTS_TRY(driver_.check(cu.wait_for(after_), "cuEventSynchronize"));
  DTS_TRY(driver_.check(cu.elapsed(&milliseconds, before_, after_), "cuEventElapsedTime"));
  return static_cast<double>(milliseconds) / 1000;
}

}  // namespace dts::train::bench
