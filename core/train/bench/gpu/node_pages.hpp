// SPDX-License-Identifier: Apache-2.0
// Memory of the host on one NUMA node (mbind(2)).
#pragma once

#include <cstddef>
#include <optional>

namespace dts::train::bench {

// Whole pages, filled with numbers that are small and odd both as floats and as pairs of bf16:
// zeros would be faster, since GPUs compress them and save power on them. Not thread-safe.
class NodePages {
 public:
  // On the NUMA node of that number; nullopt: wherever the calling thread gets memory.
  NodePages(std::size_t bytes, std::optional<int> numa);
  NodePages(const NodePages&) = delete;
  NodePages& operator=(const NodePages&) = delete;
  ~NodePages();

  // nullptr if there is no such memory.
  [[nodiscard]] void* data() const { return at_; }

  [[nodiscard]] std::size_t size() const { return bytes_; }

  // The node that the kernel has taken the first page from; nullopt if it does not say.
  [[nodiscard]] std::optional<int> numa() const;

 private:
  std::size_t bytes_;
  void* at_ = nullptr;
};

}  // namespace dts::train::bench
