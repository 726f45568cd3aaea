// SPDX-License-Identifier: Apache-2.0
// Kernels over chunks of parameters, one block per chunk, so that sums, checksums and bits depend
// only on the chunk. Checksums are those of device/kernels.hpp, which have 8 chains of 16 lanes:
// 128 threads compute one each.
#pragma once

#include "core/train/accelerator/kernels/block.hpp"
#include "core/train/optim/chunk.hpp"

#include <cstring>

namespace dts::train::accelerator {

struct Chunkwise {
  static constexpr int k_threads = 128;
  static constexpr int k_lanes = 16;

  std::size_t count = 0;
  const OwnChunk* chunks = nullptr;
  std::size_t owned = 0;       // floats of all these chunks
  std::size_t parameters = 0;  // floats of all parameters

  [[nodiscard]] std::size_t blocks() const { return count; }

  // Calls work(i) for a thread's share of a chunk's floats, in the order of its chain.
  template <class Work>
  DTS_BLOCK_CODE static void each_float(int thread, const OwnChunk& chunk, const Work& work) {
    const std::uint32_t whole = chunk.count / k_threads * k_threads;
    const auto first = static_cast<std::uint32_t>(thread);
    for (std::uint32_t i = first; i < whole; i += k_threads) work(i);
    if (thread < k_lanes)
      for (std::uint32_t i = whole + first; i < chunk.count; i += k_lanes) work(i);
  }

  // Calls work(i, read(i)) for the same floats; see read_ahead().
  template <class Read, class Work>
  DTS_BLOCK_CODE static void each_float(int thread,
                                        const OwnChunk& chunk,
                                        const Read& read,
                                        const Work& work) {
    constexpr int k_ahead = 4;
    const std::uint32_t whole = chunk.count / k_threads * k_threads;
    const auto first = static_cast<std::uint32_t>(thread);
    read_ahead<k_ahead, std::uint32_t>(first, whole, k_threads, read, work);
    if (thread < k_lanes)
      read_ahead<k_ahead, std::uint32_t>(whole + first, chunk.count, k_lanes, read, work);
  }
};

// Computes the checksums of `arrays` arrays of a chunk's length at once.
template <int arrays>
struct Checksums {
  std::uint32_t chains[arrays][Chunkwise::k_threads];
  std::uint64_t lanes[arrays][Chunkwise::k_lanes];
  std::uint64_t all[arrays];

  static constexpr std::uint32_t k_factor = 0x9E3779B1U;

  DTS_BLOCK_CODE static void add(std::uint32_t& chain, float value) {
    std::uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    chain = chain * k_factor + bits;
  }

  // Combines the chains, which an earlier each() stored, into `all`.
  template <class Block>
  DTS_BLOCK_CODE void finish(const Block& block, std::uint32_t count) {
    block.each([&](int thread) {
      if (thread >= arrays * Chunkwise::k_lanes) return;
      const int array = thread / Chunkwise::k_lanes;
      const int lane = thread % Chunkwise::k_lanes;
      std::uint32_t sum = 0;
      for (int chain = 0; chain < Chunkwise::k_threads; chain += Chunkwise::k_lanes)
        sum = sum * k_factor + chains[array][chain + lane];
      constexpr std::uint64_t k_last = 0x9E3779B185EBCA87ULL;
      lanes[array][lane] = sum * (k_last * (2 * static_cast<std::uint64_t>(lane) + 1));
    });
    block.each([&](int thread) {
      if (thread >= arrays) return;
      std::uint64_t hash = count;
      for (const std::uint64_t lane : lanes[thread]) hash += lane;
      all[thread] = hash;
    });
  }
};

// The checksums of the current weights and moments.
struct ChecksumChunks : Chunkwise {
  static constexpr int k_arrays = 1 + k_most_chunk_moments;

  struct Shared {
    Checksums<k_arrays> sums;
  };

  const float* weights = nullptr;  // of all parameters
  const float* moments = nullptr;  // of what is owned, one moment after the other
  int kinds = 0;                   // number of moments
  ChunkReport* reports = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, chunks, count);
    accelerator::reads(visit, weights, parameters);
    accelerator::reads(visit, moments, static_cast<std::size_t>(kinds) * owned);
    accelerator::writes(visit, reports, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const OwnChunk chunk = chunks[block.index()];
    block.each([&](int thread) {
      std::uint32_t of[k_arrays] = {};
      each_float(thread, chunk, [&](std::uint32_t i) {
        Checksums<k_arrays>::add(of[0], weights[chunk.begin + i]);
        for (std::size_t kind = 0; kind < k_most_chunk_moments; ++kind)
          if (kind < static_cast<std::size_t>(kinds))
            Checksums<k_arrays>::add(of[1 + kind], moments[kind * owned + chunk.place + i]);
      });
      for (int array = 0; array < k_arrays; ++array) shared.sums.chains[array][thread] = of[array];
    });
    shared.sums.finish(block, chunk.count);
    block.each([&](int thread) {
      if (thread != 0) return;
      ChunkReport& report = reports[block.index()];
      report.weights = shared.sums.all[0];
      for (int kind = 0; kind < kinds; ++kind) report.moments[kind] = shared.sums.all[1 + kind];
    });
  }
};

// squares[chunk] = the sum of the squares of the chunk's gradients.
struct ChunkSquares : Chunkwise {
  struct Shared {
    double sums[k_threads];
  };

  const float* gradients = nullptr;
  double* squares = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, chunks, count);
    accelerator::reads(visit, gradients, owned);
    accelerator::writes(visit, squares, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const OwnChunk chunk = chunks[block.index()];
    block.each([&](int thread) {
      double sum = 0;
      each_float(thread, chunk, [&](std::uint32_t i) {
        const double g = gradients[chunk.place + i];
        sum += g * g;
      });
      shared.sums[thread] = sum;
    });
    fold(block, shared.sums, Sum());
    block.each([&](int thread) {
      if (thread == 0) squares[block.index()] = shared.sums[0];
    });
  }
};

}  // namespace dts::train::accelerator
