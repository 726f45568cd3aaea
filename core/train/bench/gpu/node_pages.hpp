// SPDX-License-Identifier: Apache-2.0
// Host memory on one NUMA node (mbind(2)).
#pragma once

#include <cstddef>
#include <optional>

namespace dts::train::bench {

// Whole pages, filled with numbers that are small and not round, both as floats and as pairs of
// bf16. Zeros would be faster, because GPUs compress them and save power on them. Not thread-safe.
class NodePages {
 public:
  // On NUMA node `numa`; nullopt: where the kernel puts the calling thread's memory.
  NodePages(std::size_t bytes, std::optional<int> numa);
  NodePages(const NodePages&) = delete;
  NodePages& operator=(const NodePages&) = delete;
  ~NodePages();

  // nullptr if the allocation failed.
  [[nodiscard]] void* data() const { return at_; }

  [[nodiscard]] std::size_t size() const { return bytes_; }

  // The NUMA node of the first page; nullopt if the kernel does not report it.
  [[nodiscard]] std::optional<int> numa() const;

 private:
  std::size_t bytes_;
  void* at_ = nullptr;
};

}  // namespace dts::train::bench
