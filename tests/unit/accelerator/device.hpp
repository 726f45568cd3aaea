// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of kernels and networks on the host device.
#pragma once

#include "core/base/random.hpp"
#include "core/train/accelerator/queue/queue.hpp"
#include "tests/support/host_device.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <vector>

namespace dts::train::accelerator {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

inline std::unique_ptr<Queue> new_queue() {
  dttrain_answer answer{};
  return std::make_unique<Queue>(*host_device::table(), host_device::table()->open(0, &answer));
}

// Values in [-size, size), a pure function of `seed` and the index.
inline Floats noise(std::size_t count, std::uint64_t seed, float size = 1) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = static_cast<double>(mix(seed * 1000003 + i) >> 11);
    values[i] = size * static_cast<float>(word * 0x1.0p-52 - 1);
  }
  return values;
}

inline Floats poisoned(std::size_t count) {
  return Floats(count, std::numeric_limits<float>::quiet_NaN());
}

// Arrays of rounded values, and conversions.
using Bfloats = std::vector<Bfloat>;

inline Bfloats rounded(const Floats& values) {
  Bfloats all;
  for (const float value : values) all.push_back(rounded_to_bf16(value));
  return all;
}

inline Floats widened(const Bfloats& values) {
  Floats all;
  for (const Bfloat value : values) all.push_back(value_of(value));
  return all;
}

inline Bfloats rounded_poison(std::size_t count) {
  return rounded(poisoned(count));
}

template <class Make, class Array>
void run_in_both_orders(const Make& make, const std::vector<Array*>& written) {
  const auto queue = new_queue();
  std::vector<Array> before;
  std::vector<Array> first;
  for (const Array* const one : written) before.push_back(*one);
  for (const auto order : {host_device::Order::descending, host_device::Order::ascending}) {
    host_device::set_order(order);
    for (std::size_t i = 0; i < written.size(); ++i) *written[i] = before[i];
    queue->launch(make());
    queue->wait();
    if (order == host_device::Order::ascending) break;
    for (const Array* const one : written) first.push_back(*one);
  }
  const auto same = [](auto a, auto b) {
    return a == b || (std::isnan(value_of(a)) && std::isnan(value_of(b)));
  };
  for (std::size_t i = 0; i < written.size(); ++i)
    CHECK(std::equal(first[i].begin(), first[i].end(), written[i]->begin(), same));
}

// Runs one kernel on host arrays in both orders of its blocks and threads, which must give the same
// bits. `make()` returns the kernel; `written` are the arrays that it writes.
template <class Make>
void run_both(const Make& make, std::initializer_list<Floats*> written) {
  run_in_both_orders(make, std::vector(written));
}

template <class Make>
void run_both(const Make& make, std::initializer_list<Bfloats*> written) {
  run_in_both_orders(make, std::vector(written));
}

// The largest difference, relative to the expected value or to `least`, whichever is larger;
// infinite for NaN.
inline double worst(const Floats& values, const Doubles& expected, double least = 1) {
  REQUIRE(values.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double off = std::abs(static_cast<double>(values[i]) - expected[i]) /
                       std::max(std::abs(expected[i]), least);
    if (std::isnan(off)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, off);
  }
  return worst;
}

}  // namespace dts::train::accelerator
