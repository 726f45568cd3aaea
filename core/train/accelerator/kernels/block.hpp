// SPDX-License-Identifier: Apache-2.0
// How to write kernels for accelerators, once for the compilers of the device and of the host.
//
// A kernel is a struct of its arguments with
//   k_threads                the threads of a block, a power of two
//   k_blocks_together        if it needs many registers: how many blocks share a multiprocessor
//   Shared                   what the threads of a block share: plain arrays, undefined at first
//   blocks()                 how many blocks there are; they are independent of each other
//   run(block, shared)       the code of one block
//   accesses(visit)          visits all memory that the kernel accesses; only for tests, on hosts
// A block's code consists of calls of block.each(work), which calls work(t) for each thread t and
// ends with a barrier. On a device each thread makes its own call; on the host a loop makes all of
// them. each_in_warps(work) is the same, but its barrier synchronises only the 32 threads of a
// warp: until the next each(), what a thread has written is visible only to its own warp.
//
// Both behave the same under these rules. Shared is accessed only within work. Within one each(),
// no thread accesses what another thread writes. Only two things of a thread outlive each(): what
// it has stored in memory, and Block::Kept<Value> kept(block), where kept[t] may be accessed only
// in work(t) and by instructions of t's warp. Kept values are undefined at first; on a device they
// are in registers, provided that loops over them are unrolled. A loop around each() is the same
// for all threads. There are no atomics. Tests run threads and blocks in both directions and
// compare bits, because code that breaks these rules depends on the direction.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define DTS_BLOCK_CODE __device__
#define DTS_CODE_OF_BOTH __host__ __device__
#define DTS_PRAGMA(words) _Pragma(#words)
#define DTS_UNROLLED(times) DTS_PRAGMA(unroll times)  // otherwise it needs too many registers
#else
#define DTS_BLOCK_CODE
#define DTS_CODE_OF_BOTH
#define DTS_UNROLLED(times)
#endif

namespace dts::train::accelerator {

// Used by most kernels.
inline constexpr int k_block_threads = 256;

// The number of blocks of `each` elements that cover `count`.
[[nodiscard]] constexpr std::size_t blocks_of(std::size_t count, std::size_t each) {
  return (count + each - 1) / each;
}

// The offset of a row in an array of rows without gaps.
[[nodiscard]] DTS_CODE_OF_BOTH inline std::size_t row_begin(std::size_t row, int width) {
  return row * static_cast<std::size_t>(width);
}

// Bytes that are read, or, if `writes`, written and possibly also read.
struct Access {
  const void* at = nullptr;
  std::size_t bytes = 0;
  bool writes = false;
};

// Visit an array unless `at` is nullptr.
template <class Visit, class Value>
void reads(const Visit& visit, const Value* at, std::size_t count) {
  if (at != nullptr) visit(Access{at, count * sizeof(Value), false});
}

template <class Visit, class Value>
void writes(const Visit& visit, Value* at, std::size_t count) {
  if (at != nullptr) visit(Access{at, count * sizeof(Value), true});
}

struct Sum {
  template <class Value>
  DTS_BLOCK_CODE Value operator()(Value a, Value b) const {
    return a + b;
  }
};

struct Larger {
  DTS_BLOCK_CODE float operator()(float a, float b) const { return a < b ? b : a; }
};

struct Smaller {
  DTS_BLOCK_CODE int operator()(int a, int b) const { return b < a ? b : a; }
};

// Folds values[t], one value per thread, along a fixed binary tree. Afterwards values[i] is the
// result of all threads t with t % results == i.
template <class Block, class Value, std::size_t threads, class Operation>
DTS_BLOCK_CODE void fold(const Block& block,
                         Value (&values)[threads],
                         Operation operation,
                         std::size_t results = 1) {
  static_assert((threads & (threads - 1)) == 0);
  for (std::size_t half = threads / 2; half >= results; half /= 2)
    block.each([&](int thread) {
      const auto t = static_cast<std::size_t>(thread);
      if (t < half) values[t] = operation(values[t], values[t + half]);
    });
}

// The same for each run of `lanes` adjacent threads of a warp, all runs at once: afterwards
// values[t] of the first thread of a run is the run's result.
template <int lanes, class Block, class Value, std::size_t threads, class Operation>
DTS_BLOCK_CODE void fold_runs(const Block& block, Value (&values)[threads], Operation operation) {
  static_assert((lanes & (lanes - 1)) == 0 && threads % lanes == 0 && lanes <= 32);
  for (int half = lanes / 2; half > 0; half /= 2)
    block.each_in_warps([&](int thread) {
      if (thread % lanes < half) values[thread] = operation(values[thread], values[thread + half]);
    });
}

// Calls work(i) for a thread's share of the elements below `count`: i = thread, thread + threads,
// and so on.
template <int threads, class Work>
DTS_BLOCK_CODE void strided(int thread, int count, const Work& work) {
  for (int i = thread; i < count; i += threads) work(i);
}

// Calls work(i, read(i)) for i = begin, begin + step, and so on below `end`. Reads several values
// before it works on any of them. A compiler cannot do this unless it knows that the arrays do not
// overlap, and a thread that waits for each value separately does not saturate memory.
template <int ahead, class Index, class Read, class Work>
DTS_BLOCK_CODE void read_ahead(
    Index begin, Index end, Index step, const Read& read, const Work& work) {
  Index i = begin;
  for (; i < end && (ahead - 1) * step < end - i; i += ahead * step) {
    decltype(read(begin)) values[ahead];
    for (int j = 0; j < ahead; ++j) values[j] = read(i + static_cast<Index>(j) * step);
    for (int j = 0; j < ahead; ++j) work(i + static_cast<Index>(j) * step, values[j]);
  }
  for (; i < end; i += step) work(i, read(i));
}

// The base of kernels that compute each of `count` elements separately, one per thread.
struct Elementwise {
  static constexpr int k_threads = k_block_threads;

  struct Shared {};

  std::size_t count = 0;

  [[nodiscard]] std::size_t blocks() const { return blocks_of(count, k_threads); }

  template <class Block, class Work>
  DTS_BLOCK_CODE void for_each(const Block& block, const Work& work) const {
    block.each([&](int thread) {
      const std::size_t i = block.index() * k_threads + static_cast<std::size_t>(thread);
      if (i < count) work(i);
    });
  }
};

// The base of kernels that compute eight rows per block, one per warp, so that no row waits for
// another one.
struct Groupwise {
  static constexpr int k_threads = k_block_threads;
  static constexpr int k_lanes = 32;
  static constexpr int k_rows = k_threads / k_lanes;  // per block

  int rows = 0;
  int width = 0;

  [[nodiscard]] std::size_t blocks() const {
    return blocks_of(static_cast<std::size_t>(rows), k_rows);
  }

  // Number of values in all rows.
  [[nodiscard]] std::size_t area() const {
    return row_begin(static_cast<std::size_t>(rows), width);
  }

  // Calls work(thread, row, offset of its first value) in each thread whose row exists.
  template <class Block, class Work>
  DTS_BLOCK_CODE void each_row(const Block& block, const Work& work) const {
    block.each_in_warps([&](int thread) {
      const std::size_t row = block.index() * k_rows + static_cast<std::size_t>(thread / k_lanes);
      if (row < static_cast<std::size_t>(rows)) work(thread, row, row_begin(row, width));
    });
  }

  // Calls work(column) for a thread's share of the columns.
  template <class Work>
  DTS_BLOCK_CODE void each_column(int thread, const Work& work) const {
    strided<k_lanes>(thread % k_lanes, width, work);
  }

  // The thread at which fold_runs() leaves the result of this thread's row.
  [[nodiscard]] DTS_BLOCK_CODE static int first_of(int thread) {
    return thread / k_lanes * k_lanes;
  }
};

// The base of kernels that compute one row per block.
struct Rowwise {
  static constexpr int k_threads = k_block_threads;

  int rows = 0;
  int width = 0;

  [[nodiscard]] std::size_t blocks() const { return static_cast<std::size_t>(rows); }

  // Number of values in all rows.
  [[nodiscard]] std::size_t area() const { return row_begin(blocks(), width); }
};

}  // namespace dts::train::accelerator
