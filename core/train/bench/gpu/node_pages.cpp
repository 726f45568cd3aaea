// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/gpu/node_pages.hpp"

#include "core/base/random.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace dts::train::bench {
namespace {

constexpr int k_most_nodes = 1024;
constexpr int k_word = 64;

// If the kernel refuses, as in containers, the first touch decides the node, and the thread that
// touches runs there.
void bind(void* at, std::size_t bytes, int numa) {
  std::array<std::uint64_t, k_most_nodes / k_word> mask{};
  mask.at(static_cast<std::size_t>(numa / k_word)) = std::uint64_t{1} << (numa % k_word);
  (void)::syscall(SYS_mbind, at, bytes, MPOL_BIND, mask.data(), k_most_nodes + 1, 0);
}

// The upper half of a float in +-[0.5, 1).
std::uint32_t bf16(std::uint64_t bits) {
  constexpr std::uint64_t k_sign_and_fraction = 0x807F;
  return static_cast<std::uint32_t>(0x3F00U | (bits & k_sign_and_fraction));
}

}  // namespace

NodePages::NodePages(std::size_t bytes, std::optional<int> numa) : bytes_(bytes) {
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return;
  at_ = at;
  if (numa && *numa < k_most_nodes) bind(at_, bytes, *numa);
  auto* const words = static_cast<std::uint32_t*>(at_);
  for (std::size_t i = 0; i < bytes / sizeof *words; ++i) {
    const std::uint64_t bits = mix(i);
    words[i] = bf16(bits) << 16 | bf16(bits >> 32);
  }
}

NodePages::~NodePages() {
  if (at_ != nullptr) ::munmap(at_, bytes_);
}

std::optional<int> NodePages::numa() const {
  int node = 0;
  const long status =
      ::syscall(SYS_get_mempolicy, &node, nullptr, 0, at_, MPOL_F_NODE | MPOL_F_ADDR);
  return status == 0 ? std::optional(node) : std::nullopt;
}

}  // namespace dts::train::bench
