// SPDX-License-Identifier: Apache-2.0
// Pinned host memory on the NUMA node nearest to the device. CUDA would allocate pages on the node
// of the calling thread, so pages are allocated here and then pinned.
#include "plugins/cuda/context.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace {

constexpr int k_most_nodes = 1024;
constexpr int k_word = 8 * sizeof(unsigned long);

// If the node has no memory left, another one is used (mbind(2)). If the kernel refuses the call,
// as in containers, the memory is on the thread's own node.
void prefer(void* at, std::size_t bytes, int numa) {
  if (numa < 0 || numa >= k_most_nodes) return;
  std::array<unsigned long, k_most_nodes / k_word> mask{};
  mask[static_cast<std::size_t>(numa / k_word)] = 1UL << (numa % k_word);
  (void)::syscall(SYS_mbind, at, bytes, MPOL_PREFERRED, mask.data(), k_most_nodes + 1, 0);
}

}  // namespace

int cuda_numa_of(const char* pci) {
  std::ifstream file("/sys/bus/pci/devices/" + std::string(pci) + "/numa_node");
  int node = -1;
  return file >> node ? node : -1;
}

const char* cuda_allocate_host(dttrain_context* context, size_t bytes, void** at) {
  void* const pages =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    context->wrong = "no memory of the host: " + std::string(std::strerror(errno));
    return context->wrong.c_str();
  }
  prefer(pages, bytes, context->numa);
  if (cudaHostRegister(pages, bytes, cudaHostRegisterPortable) == cudaSuccess) {
    context->pinned[pages] = bytes;
    *at = pages;
    return nullptr;
  }
  // Sandboxes may refuse to pin pages, but still provide the driver's own, on any node.
  (void)cudaGetLastError();
  ::munmap(pages, bytes);
  const char* const wrong =
      context->check(cudaHostAlloc(at, bytes, cudaHostAllocPortable), "pinning memory of the host");
  if (wrong == nullptr) context->pinned[*at] = dttrain_context::k_of_driver;
  return wrong;
}

void cuda_release_host(dttrain_context* context, void* at) {
  const auto found = context->pinned.find(at);
  if (found == context->pinned.end()) return;
  if (found->second == dttrain_context::k_of_driver) {
    (void)cudaFreeHost(at);
  } else {
    (void)cudaHostUnregister(at);
    ::munmap(at, found->second);
  }
  context->pinned.erase(found);
}
