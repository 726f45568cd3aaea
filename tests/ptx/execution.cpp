// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/execution.hpp"

#include "tests/ptx/matrices.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ptx {
namespace {

constexpr int k_lanes = 32;

// A cp.async that has not ended. Its addresses are those of when it began.
struct Copy {
  const Instruction* at = nullptr;
  std::uint64_t to = 0;
  std::uint64_t from = 0;
};

struct Thread {
  Word* registers = nullptr;
  std::size_t next = 0;        // of the kernel's code
  std::vector<Copy> copies{};  // that have not ended

  [[nodiscard]] Word& slot(int number) const { return registers[number]; }

  [[nodiscard]] std::uint64_t address(const Instruction& one, std::size_t which = 0) const {
    return slot(one.at[which]) + static_cast<std::uint64_t>(one.offset[which]);
  }

  [[nodiscard]] bool skips(const Instruction& one) const {
    return one.guard >= 0 && (slot(one.guard) != 0) == one.is_guard_negated;
  }
};

void begin_randomly(std::vector<int>& order, int first, std::mt19937& random) {
  std::iota(order.begin(), order.end(), first);
  std::shuffle(order.begin(), order.end(), random);
}

// Of all blocks of a launch, one after another.
class Execution {
 public:
  Execution(const Kernel& kernel, const Launch& launch)
      : kernel_(kernel),
        random_(launch.seed),
        memory_(launch, kernel.shared_bytes),
        registers_(kernel.slots.size() * static_cast<std::size_t>(launch.threads)),
        threads_(static_cast<std::size_t>(launch.threads)),
        warp_phases_(static_cast<std::size_t>(launch.threads / k_lanes)) {}

  void run_block(int block) {
    begin_block(block);
    std::vector<int> order(warp_phases_.size());
    std::size_t ended = 0;
    for (; ended == 0; ++phase_) {
      begin_randomly(order, 0, random_);
      for (const int warp : order) ended += run_warp(warp) ? 1 : 0;
    }
    if (ended != order.size())
      refuse(kernel_.code.back(), 0, "some warps wait at a barrier, the others have ended");
  }

  [[nodiscard]] std::mt19937& random() { return random_; }

 private:
  [[noreturn]] void refuse(const Instruction& one, int thread, const std::string& what) const {
    throw std::runtime_error(kernel_.name + ": line " + std::to_string(one.line) +
                             " of its PTX, block " + std::to_string(block_) + ", thread " +
                             std::to_string(thread) + ": " + what);
  }

  Thread& thread(int number) { return threads_[static_cast<std::size_t>(number)]; }

  void begin_block(int block) {
    block_ = block;
    phase_ = 0;
    memory_.begin_block();
    std::fill(warp_phases_.begin(), warp_phases_.end(), 0);
    Word* registers = registers_.data();
    Word number = 0;
    for (Thread& one : threads_) {
      one = {registers};
      registers = std::copy(kernel_.slots.begin(), kernel_.slots.end(), registers);
      if (kernel_.thread_slot >= 0) one.slot(kernel_.thread_slot) = number++;
      if (kernel_.block_slot >= 0) one.slot(kernel_.block_slot) = static_cast<Word>(block);
    }
  }

  // Runs a warp to the block's next barrier; true if it has ended instead.
  bool run_warp(int warp) {
    const int first = warp * k_lanes;
    std::vector<int> order(k_lanes);
    for (;;) {
      begin_randomly(order, first, random_);
      for (const int number : order) run_thread(number);
      const Instruction& one = together(first);
      if (one.kind == Kind::end) return true;
      if (one.kind == Kind::load_matrices) load_matrices(first, one);
      if (one.kind == Kind::multiply_matrices) multiply_matrices(first, one);
      if (one.kind == Kind::warp_barrier) ++warp_phases_[static_cast<std::size_t>(warp)];
      for (const int number : order) ++thread(number).next;
      if (one.kind == Kind::barrier) return false;
    }
  }

  // The instruction at which all threads of a warp have arrived.
  const Instruction& together(int first) {
    const Instruction& one = kernel_.code[thread(first).next];
    for (int number = first + 1; number < first + k_lanes; ++number)
      if (thread(number).next != thread(first).next)
        refuse(kernel_.code[thread(number).next],
               number,
               "thread " + std::to_string(first) + " of the same warp is in line " +
                   std::to_string(one.line));
    return one;
  }

  // Runs a thread to its end or to what the threads of its warp do together.
  void run_thread(int number) {
    Thread& now = thread(number);
    for (;; ++now.next) {
      const Instruction& one = kernel_.code[now.next];
      if (now.skips(one)) continue;
      switch (one.kind) {
        case Kind::operation:
          one.operation(now.registers, one.slots.data());
          break;
        case Kind::branch:
          now.next = one.target - 1;
          break;
        case Kind::load:
          load(number, one);
          break;
        case Kind::store:
          store(number, one);
          break;
        case Kind::copy_async:
          begin_copy(number, one);
          break;
        case Kind::wait_copies:
          end_copies(number);
          break;
        default:
          return;
      }
    }
  }

  [[nodiscard]] Access by(int number) const {
    const int warp = number / k_lanes;
    return {block_, warp, number, phase_, warp_phases_[static_cast<std::size_t>(warp)]};
  }

  // What an access to memory returns; what is wrong with it gets its place.
  template <class Do>
  auto placed(int number, const Instruction& one, const Do& access) {
    try {
      return access();
    } catch (const std::runtime_error& e) {
      refuse(one, number, e.what());
    }
  }

  const std::byte* read(
      int number, const Instruction& one, Space space, std::uint64_t at, int bytes) {
    return placed(number, one, [&] { return memory_.read(space, at, bytes, by(number)); });
  }

  std::byte* write(int number, const Instruction& one, Space space, std::uint64_t at, int bytes) {
    return placed(number, one, [&] { return memory_.write(space, at, bytes, by(number)); });
  }

  void load(int number, const Instruction& one) {
    const Thread& now = thread(number);
    const std::byte* const from =
        read(number, one, one.space, now.address(one), one.bytes * one.count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(one.count); ++i) {
      const auto bytes = static_cast<std::size_t>(one.bytes);
      Word value = 0;
      std::memcpy(&value, from + i * bytes, bytes);
      const std::size_t spare = 64 - 8 * bytes;
      if (one.is_signed)
        value = static_cast<Word>(static_cast<std::int64_t>(value << spare) >> spare);
      now.slot(one.slots[i]) = value;
    }
  }

  void store(int number, const Instruction& one) {
    const Thread& now = thread(number);
    std::byte* const to = write(number, one, one.space, now.address(one), one.bytes * one.count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(one.count); ++i) {
      const auto bytes = static_cast<std::size_t>(one.bytes);
      std::memcpy(to + i * bytes, &now.slot(one.slots[i]), bytes);
    }
  }

  // A copy accesses its bytes at any time from here on, and at the latest in end_copies().
  void begin_copy(int number, const Instruction& one) {
    Thread& now = thread(number);
    now.copies.push_back({&one, now.address(one, 0), now.address(one, 1)});
    (void)source_and_target(number, now.copies.back());
  }

  void end_copies(int number) {
    for (const Copy& copy : thread(number).copies) {
      const auto [from, to] = source_and_target(number, copy);
      std::memcpy(to, from, static_cast<std::size_t>(copy.at->bytes));
    }
    thread(number).copies.clear();
  }

  std::pair<const std::byte*, std::byte*> source_and_target(int number, const Copy& copy) {
    const Instruction& one = *copy.at;
    return {read(number, one, Space::global, copy.from, one.bytes),
            write(number, one, Space::shared, copy.to, one.bytes)};
  }

  void load_matrices(int first, const Instruction& one) {
    Lines lines;
    for (int lane = 0; lane < k_lanes; ++lane)
      std::memcpy(lines[static_cast<std::size_t>(lane)].data(),
                  read(first + lane, one, Space::shared, thread(first + lane).address(one), 16),
                  16);
    for (int lane = 0; lane < k_lanes; ++lane)
      for (int matrix = 0; matrix < 4; ++matrix)
        thread(first + lane).slot(one.slots[static_cast<std::size_t>(matrix)]) =
            loaded_word(lines, lane, matrix, one.is_transposed);
  }

  void multiply_matrices(int first, const Instruction& one) {
    Fragments fragments;
    for (int lane = 0; lane < k_lanes; ++lane)
      for (std::size_t i = 0; i < k_fragment; ++i)
        fragments[static_cast<std::size_t>(lane)][i] =
            static_cast<std::uint32_t>(thread(first + lane).slot(one.slots[4 + i]));
    for (int lane = 0; lane < k_lanes; ++lane)
      for (int sum = 0; sum < 4; ++sum)
        thread(first + lane).slot(one.slots[static_cast<std::size_t>(sum)]) =
            product_word(fragments, lane, sum);
  }

  const Kernel& kernel_;
  std::mt19937 random_;
  Memory memory_;
  std::vector<Word> registers_;  // [thread][slot]
  std::vector<Thread> threads_;
  std::vector<int> warp_phases_;  // barriers of each warp so far
  int block_ = 0;
  int phase_ = 0;  // barriers of the block so far
};

}  // namespace

void execute(const Kernel& kernel, const Launch& launch) {
  Execution execution(kernel, launch);
  std::vector<int> order(launch.blocks);
  begin_randomly(order, 0, execution.random());
  for (const int block : order) execution.run_block(block);
}

}  // namespace ptx
