// SPDX-License-Identifier: Apache-2.0
// The kernels, compiled for devices. Each block of a kernel is a CUDA block.
#include "core/train/accelerator/kernels/kernel_list.hpp"
#include "plugins/cuda/context.hpp"

#include <climits>
#include <type_traits>

namespace {

using namespace dts::train::accelerator;

class DeviceBlock {
 public:
  [[nodiscard]] __device__ std::size_t index() const { return blockIdx.x; }

  template <class Work>
  __device__ void each(const Work& work) const {
    work(static_cast<int>(threadIdx.x));
    __syncthreads();
  }

  template <class Work>
  __device__ void each_in_warps(const Work& work) const {
    work(static_cast<int>(threadIdx.x));
    __syncwarp();
  }

  // The value of the calling thread only.
  template <class Value>
  class Kept {
   public:
    __device__ explicit Kept(const DeviceBlock& /*block*/) {}

    [[nodiscard]] __device__ Value& operator[](int /*thread*/) { return value_; }

   private:
    Value value_;
  };
};

// The number of blocks that a multiprocessor should be able to run, which limits registers; 0: the
// compiler decides.
template <class Kernel>
constexpr int blocks_together() {
  if constexpr (requires { Kernel::k_blocks_together; })
    return Kernel::k_blocks_together;
  else
    return 0;
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::k_threads, blocks_together<Kernel>())
    run_block(const __grid_constant__ Kernel kernel) {
  __shared__ typename Kernel::Shared shared;
  kernel.run(DeviceBlock(), shared);
}

}  // namespace

const char* cuda_launch(dttrain_context* context, uint32_t number, const void* arguments) {
  cudaError_t status = cudaErrorInvalidDeviceFunction;  // if there is no such kernel
  Kernels::visit(number, arguments, [&](const auto& kernel) {
    using Kernel = std::decay_t<decltype(kernel)>;
    status = cudaErrorInvalidConfiguration;
    if (kernel.blocks() > INT_MAX) return;
    status = cudaSuccess;  // CUDA refuses a launch of no blocks
    if (kernel.blocks() == 0) return;
    (void)cudaGetLastError();  // of earlier calls, which returned it
    run_block<Kernel>
        <<<static_cast<unsigned>(kernel.blocks()), Kernel::k_threads, 0, context->stream>>>(kernel);
    status = cudaGetLastError();
  });
  return context->check(status, "the launch of a kernel");
}

cudaError_t cuda_find_kernels() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, run_block<Add<float>>);
}
