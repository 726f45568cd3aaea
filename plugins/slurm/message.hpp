// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace slurm_plugin {

template <class T, void (*Free)(T*)>
struct MessageDeleter {
  void operator()(T* message) const { Free(message); }
};

// Owns the memory that a slurm_load_* call allocated.
template <class T, void (*Free)(T*)>
using Message = std::unique_ptr<T, MessageDeleter<T, Free>>;

}  // namespace slurm_plugin
