// SPDX-License-Identifier: Apache-2.0
// Kernels in PTX, the assembly language that nvcc compiles them to ("Parallel Thread Execution
// ISA", NVIDIA), in a form that the host can execute (execution.hpp).
#pragma once

#include "tests/ptx/operations.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptx {

enum class Kind {
  operation,
  branch,
  load,
  store,
  copy_async,    // cp.async from global to shared memory
  wait_copies,   // for the thread's own
  barrier,       // of the block
  warp_barrier,  // of the warp, as are the next two
  load_matrices,
  multiply_matrices,
  end
};

enum class Space { parameters, shared, global };

struct Instruction {
  static constexpr int k_most = 14;  // operands of mma: four sums, four and two words, four sums

  Kind kind = Kind::operation;
  int guard = -1;  // the predicate's slot; -1: always executed
  bool is_guard_negated = false;
  Operation operation = nullptr;
  std::array<int, k_most> slots{};  // of registers and constants: what is written comes first
  Space space = Space::global;
  bool is_transposed = false;  // load_matrices
  bool is_signed = false;      // load
  int bytes = 0;               // of each value; of a copy
  int count = 0;               // of values that are loaded or stored
  std::array<int, 2> at{};     // slots of addresses
  std::array<std::int64_t, 2> offset{};
  std::size_t target = 0;  // index of the next instruction after a branch
  int line = 0;            // in the text, from 1
};

struct Kernel {
  std::string name;  // demangled, of the first template argument
  std::vector<Instruction> code;
  std::vector<Word> slots;  // initial values; only those of constants matter
  int thread_slot = -1;     // %tid.x; -1: not used
  int block_slot = -1;      // %ctaid.x
  std::size_t shared_bytes = 0;
};

// The first byte of shared memory: not 0, so that a null address is wrong.
inline constexpr std::uint64_t k_shared_begin = 1024;

// The kernels of a text, by name: the type that is the argument of their template. Throws
// std::runtime_error with the line if the text contains anything that is not implemented.
[[nodiscard]] std::map<std::string, Kernel> parse(std::string_view text);

}  // namespace ptx
