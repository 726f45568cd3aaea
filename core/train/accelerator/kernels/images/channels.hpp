// SPDX-License-Identifier: Apache-2.0
// Kernels over images in the layout [image][row][column][channel]. A block handles 16 channels of
// some pixels, so that a thread has a single channel. Sums over all pixels are computed per block,
// and added up by a second kernel in double precision.
#pragma once

#include "core/train/accelerator/kernels/block.hpp"

namespace dts::train::accelerator {

struct Channelwise {
  static constexpr int k_threads = k_block_threads;
  static constexpr int k_channels = 16;  // per block
  static constexpr int k_lanes_each = k_threads / k_channels;
  static constexpr int k_rows = 32 * k_lanes_each;  // per block

  int rows = 0;      // pixels of all images
  int channels = 0;  // a multiple of k_channels

  // The number of partial sums per channel.
  [[nodiscard]] DTS_CODE_OF_BOTH std::size_t parts() const {
    return (static_cast<std::size_t>(rows) + k_rows - 1) / k_rows;
  }

  [[nodiscard]] DTS_CODE_OF_BOTH std::size_t groups() const {
    return static_cast<std::size_t>(channels / k_channels);
  }

  [[nodiscard]] std::size_t blocks() const { return parts() * groups(); }

  // Number of values in all rows.
  [[nodiscard]] std::size_t area() const {
    return row_begin(static_cast<std::size_t>(rows), channels);
  }

  template <class Block>
  [[nodiscard]] DTS_BLOCK_CODE int channel(const Block& block, int thread) const {
    return static_cast<int>(block.index() % groups()) * k_channels + thread % k_channels;
  }

  // Calls work(row) for a thread's rows, about 32.
  template <class Block, class Work>
  DTS_BLOCK_CODE void for_each_row(const Block& block, int thread, const Work& work) const {
    const auto begin = static_cast<int>(block.index() / groups()) * k_rows;
    const int end = begin + k_rows < rows ? begin + k_rows : rows;
    for (int row = begin + thread / k_channels; row < end; row += k_lanes_each) work(row);
  }

  // Calls work(row, read(row)) for the same ones.
  template <class Block, class Read, class Work>
  DTS_BLOCK_CODE void for_each_row(const Block& block,
                                   int thread,
                                   const Read& read,
                                   const Work& work) const {
    constexpr int k_ahead = 8;
    const auto begin = static_cast<int>(block.index() / groups()) * k_rows;
    const int end = begin + k_rows < rows ? begin + k_rows : rows;
    read_ahead<k_ahead>(begin + thread / k_channels, end, k_lanes_each, read, work);
  }

  [[nodiscard]] DTS_BLOCK_CODE std::size_t place(int row, int channel) const {
    return row_begin(static_cast<std::size_t>(row), channels) + static_cast<std::size_t>(channel);
  }
};

// Two sums for each channel.
struct TwoSums {
  float first = 0;
  float second = 0;
};

// The base of kernels that add up over pixels into partials [parts][2][channels].
struct ChannelPartials : Channelwise {
  struct Shared {
    double first[k_threads];
    double second[k_threads];
  };

  double* partials = nullptr;

  // `sums(thread)` returns the sums of a thread's rows.
  template <class Block, class Sums>
  DTS_BLOCK_CODE void add_up(const Block& block, Shared& shared, const Sums& sums) const {
    block.each([&](int thread) {
      const TwoSums mine = sums(thread);
      shared.first[thread] = static_cast<double>(mine.first);
      shared.second[thread] = static_cast<double>(mine.second);
    });
    fold(block, shared.first, Sum(), k_channels);
    fold(block, shared.second, Sum(), k_channels);
    block.each([&](int thread) {
      if (thread >= k_channels) return;
      double* const to = partials + 2 * (block.index() / groups()) * channels_wide();
      to[channel(block, thread)] = shared.first[thread];
      to[channels_wide() + static_cast<std::size_t>(channel(block, thread))] =
          shared.second[thread];
    });
  }

  template <class Visit>
  void writes_partials(const Visit& visit) const {
    accelerator::writes(visit, partials, 2 * parts() * channels_wide());
  }

 private:
  [[nodiscard]] DTS_CODE_OF_BOTH std::size_t channels_wide() const {
    return static_cast<std::size_t>(channels);
  }
};

// The base of kernels that add up these partials, with one block per channel.
struct ChannelTotals {
  static constexpr int k_threads = k_block_threads;

  struct Shared {
    double first[k_threads];
    double second[k_threads];
  };

  int channels = 0;
  int parts = 0;
  const double* partials = nullptr;

  [[nodiscard]] std::size_t blocks() const { return static_cast<std::size_t>(channels); }

  template <class Visit>
  void reads_partials(const Visit& visit) const {
    accelerator::reads(visit, partials, 2 * blocks() * static_cast<std::size_t>(parts));
  }

  // Calls end(first, second) in one thread.
  template <class Block, class Finish>
  DTS_BLOCK_CODE void add_up(const Block& block, Shared& shared, const Finish& finish) const {
    block.each([&](int thread) {
      double first = 0;
      double second = 0;
      strided<k_threads>(thread, parts, [&](int part) {
        const double* const from =
            partials + row_begin(static_cast<std::size_t>(part), 2 * channels);
        first += from[block.index()];
        second += from[block.index() + static_cast<std::size_t>(channels)];
      });
      shared.first[thread] = first;
      shared.second[thread] = second;
    });
    fold(block, shared.first, Sum());
    fold(block, shared.second, Sum());
    block.each([&](int thread) {
      if (thread == 0) finish(shared.first[0], shared.second[0]);
    });
  }
};

}  // namespace dts::train::accelerator
