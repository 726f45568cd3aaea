// SPDX-License-Identifier: Apache-2.0
// The module's table, and how its devices are found and opened.
#include "core/train/accelerator/kernels/kernel_list.hpp"
#include "plugins/cuda/context.hpp"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

namespace {

constexpr int k_least_major = 8;  // of compute capabilities for which the kernels are compiled

// Copies as much of the text as fits.
template <std::size_t room>
void put(char (&to)[room], const std::string& text) {
  to[text.copy(to, room - 1)] = '\0';
}

std::string version_text(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

// From CUDA's version number, as 13000.
std::string version_text(int version) {
  return version_text(version / 1000, version % 1000 / 10);
}

int lack(dttrain_answer* answer, int what, const std::string& found) {
  answer->lack = what;
  put(answer->text, found);
  return 0;
}

int failed(dttrain_answer* answer, const char* function, cudaError_t status) {
  return lack(
      answer, DTTRAIN_LACKS_OTHER, std::string(function) + ": " + cudaGetErrorString(status));
}

int count(dttrain_answer* answer) {
  *answer = {};
  // So that device numbers mean the same slots on all nodes. No other thread reads the environment.
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
  int driver = 0;
  int devices = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    return lack(answer, DTTRAIN_LACKS_DRIVER, "libcuda.so.1 of NVIDIA's driver is missing");
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaErrorInsufficientDriver)
    return lack(answer,
                DTTRAIN_LACKS_NEWER_DRIVER,
                "it is of CUDA " + version_text(driver) + ", this module needs " +
                    version_text(CUDART_VERSION));
  if (status == cudaErrorNoDevice || (status == cudaSuccess && devices == 0)) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return lack(answer,
                DTTRAIN_LACKS_DEVICE,
                visible == nullptr ? "CUDA finds none"
                                   : "CUDA_VISIBLE_DEVICES is '" + std::string(visible) + "'");
  }
  if (status != cudaSuccess) return failed(answer, "cudaGetDeviceCount", status);
  return devices;
}

void close(dttrain_context* context) {
  for (cudaEvent_t const event : context->timer)
    if (event != nullptr) (void)cudaEventDestroy(event);
  context->link.reset();
  if (context->workspace != nullptr) (void)cudaFree(context->workspace);
  if (context->products != nullptr) (void)cublasLtDestroy(context->products);
  cuda_end_streams(context);
  delete context;
}

// In the form of sysfs; empty if CUDA does not report it.
std::string pci_of(int device) {
  char text[32] = {};
  if (cudaDeviceGetPCIBusId(text, sizeof text, device) != cudaSuccess) return {};
  std::string pci = text;
  for (char& letter : pci)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return pci;
}

// Returns an error message, or nullptr.
const char* begin(dttrain_context& context) {
  if (const char* const wrong = cuda_begin_streams(&context)) return wrong;
  if (const char* const wrong = context.check(cublasLtCreate(&context.products), "cublasLtCreate"))
    return wrong;
  return context.check(cudaMalloc(&context.workspace, dttrain_context::k_workspace),
                       "cudaMalloc of 32 MiB");
}

// Otherwise `answer` says what is lacking.
bool runs_kernels(const cudaDeviceProp& properties, dttrain_answer* answer) {
  const cudaError_t status = cuda_find_kernels();
  const std::string name = properties.name;
  if (properties.major < k_least_major || status == cudaErrorNoKernelImageForDevice)
    lack(answer,
         DTTRAIN_LACKS_NEWER_DEVICE,
         name + " has compute capability " + version_text(properties.major, properties.minor));
  else if (status == cudaErrorUnsupportedPtxVersion)  // the module has only PTX for this device
    lack(answer,
         DTTRAIN_LACKS_NEWER_DRIVER,
         "it does not know the PTX of CUDA " + version_text(CUDART_VERSION) + ", for " + name);
  else if (status != cudaSuccess)
    failed(answer, "cudaFuncGetAttributes", status);
  return status == cudaSuccess && properties.major >= k_least_major;
}

dttrain_context* open(int device, dttrain_answer* answer) {
  *answer = {};
  cudaDeviceProp properties;
  if (const cudaError_t status = cudaSetDevice(device); status != cudaSuccess) {
    failed(answer, "cudaSetDevice", status);
    return nullptr;
  }
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, device);
      status != cudaSuccess) {
    failed(answer, "cudaGetDeviceProperties", status);
    return nullptr;
  }
  if (!runs_kernels(properties, answer)) return nullptr;
  std::unique_ptr<dttrain_context, decltype(&close)> made(new dttrain_context, &close);
  made->device = device;
  // llm.c planned to do so from Hopper on (train_gpt2.cu, gelu_fusion). For the gradient, cuBLASLt
  // 13.1 offers only a product followed by a kernel there.
  made->fuses_gelu = properties.major >= 9;
  made->fuses_gelu_gradient = properties.major >= 10;
  made->numa = cuda_numa_of(pci_of(device).c_str());
  if (const char* const wrong = begin(*made)) {
    lack(answer, DTTRAIN_LACKS_OTHER, wrong);
    return nullptr;
  }
  return made.release();
}

// The version of the kernel module; empty if it is not visible, as in some containers.
std::string driver_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  file >> version;
  return version;
}

// -1 if CUDA does not report it.
int attribute(const dttrain_context& context, cudaDeviceAttr which) {
  int value = -1;
  return cudaDeviceGetAttribute(&value, which, context.device) == cudaSuccess ? value : -1;
}

int megahertz(int kilohertz) {
  return kilohertz > 0 ? kilohertz / 1000 : 0;
}

const char* facts(dttrain_context* context, dttrain_facts* facts) {
  cudaDeviceProp properties;
  std::size_t available = 0;
  std::size_t all = 0;
  if (const char* const wrong = context->check(
          cudaGetDeviceProperties(&properties, context->device), "cudaGetDeviceProperties"))
    return wrong;
  if (const char* const wrong = context->check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo"))
    return wrong;
  facts->memory = available;
  facts->ecc = attribute(*context, cudaDevAttrEccEnabled);
  facts->clock = megahertz(attribute(*context, cudaDevAttrClockRate));
  facts->memory_clock = megahertz(attribute(*context, cudaDevAttrMemoryClockRate));
  int driver = 0;
  const std::string kernel = driver_version();
  (void)cudaDriverGetVersion(&driver);  // 0 if unknown
  put(facts->driver, kernel + (kernel.empty() ? "" : ", ") + "CUDA " + version_text(driver));
  const auto version = static_cast<int>(cublasLtGetVersion());
  put(facts->name, properties.name);
  put(facts->pci, pci_of(context->device));
  facts->numa = context->numa;
  facts->slow_products = context->products_by_kernel;
  put(facts->libraries,
      "compute capability " + version_text(properties.major, properties.minor) + ", cuBLASLt " +
          version_text(version / 10000, version / 100 % 100) + "." + std::to_string(version % 100));
  std::string uuid;
  for (const char byte : properties.uuid.bytes)
    for (const int shift : {4, 0})
      uuid += "0123456789abcdef"[(static_cast<unsigned char>(byte) >> shift) & 15];
  put(facts->uuid, uuid);
  return nullptr;
}

#ifndef DTTRAIN_HAS_NCCL
const dttrain_exchange* cuda_exchange() {
  return nullptr;
}
#endif

const dttrain_device k_table{DTTRAIN_DEVICE_ABI,
                             sizeof(dttrain_device),
                             dts::train::accelerator::Kernels::signature(),
                             "cuda",
                             count,
                             open,
                             close,
                             facts,
                             cuda_allocate,
                             cuda_release,
                             cuda_allocate_host,
                             cuda_release_host,
                             cuda_to_device,
                             cuda_to_host,
                             cuda_clear,
                             cuda_launch,
                             cuda_multiply,
                             cuda_wait,
                             cuda_new_event,
                             cuda_free_event,
                             cuda_record,
                             cuda_follow,
                             cuda_wait_event,
                             cuda_seconds_between,
                             cuda_begin_graph,
                             cuda_end_graph,
                             cuda_replay,
                             cuda_free_graph,
                             cuda_exchange(),
                             cuda_copy,
                             cuda_copy_from,
                             cuda_reach,
                             cuda_pin,
                             cuda_unpin,
                             cuda_start_timer,
                             cuda_stop_timer};

}  // namespace

DTTRAIN_DEVICE_EXPORT const dttrain_device* dttrain_device_v1() {
  return &k_table;
}
