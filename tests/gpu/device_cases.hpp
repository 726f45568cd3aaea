// SPDX-License-Identifier: Apache-2.0
// The cases that device_check runs on two devices.
#pragma once

#include "core/base/random.hpp"
#include "core/train/accelerator/queue/queue.hpp"

#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace device_check {

using dts::train::accelerator::Queue;
using Floats = std::vector<float>;
using Places = std::vector<float*>;

// Arrays, and the work that is enqueued with their addresses in device memory.
struct Case {
  std::string name;
  double tolerance;  // relative to the larger of 1 and the value
  std::vector<Floats> arrays;
  std::function<void(Queue&, const Places&)> enqueue;
  std::size_t scratch = 0;                // size of one more array, not compared
  std::vector<std::size_t> rounded = {};  // arrays that hold two Bfloat per float
};

// Values in [-size, size), a pure function of `seed` and the index.
inline Floats noise(std::size_t count, std::uint64_t seed, float size = 1) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = size * static_cast<float>(
                           static_cast<double>(dts::mix(seed * 1000003 + i) >> 11) * 0x1.0p-52 - 1);
  return values;
}

inline Floats nothing(std::size_t count) {
  return Floats(count, std::numeric_limits<float>::quiet_NaN());
}

// Copies the bytes of any values to an array of floats.
template <class Value>
Floats as_floats(const std::vector<Value>& values) {
  Floats array((values.size() * sizeof(Value) + sizeof(float) - 1) / sizeof(float));
  std::memcpy(array.data(), values.data(), values.size() * sizeof(Value));
  return array;
}

// Converts floats to the type that kernels of `Value` read, in an array of floats.
template <class Value>
Floats stored(const Floats& values) {
  std::vector<Value> all(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) dts::train::accelerator::store(all[i], values[i]);
  return as_floats(all);
}

template <class Value>
constexpr bool k_is_rounded = sizeof(Value) < sizeof(float);

// Escapes a text for JSON, roughly.
inline std::string in_json(std::string text) {
  for (char& c : text) {
    if (c == '"') c = '\'';
    if (c == '\\' || static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

// All shapes, or only those for a tool that slows kernels down a hundredfold.
enum class Sizes { all, small };

// Every product, in various shapes and precisions.
void add_products(std::vector<Case>& all, Sizes sizes);

// The kernels for products that the device's library does not offer.
void add_kernel_products(std::vector<Case>& all);

// The kernels of image networks.
void add_images(std::vector<Case>& all);

// Every kernel and product, in various shapes.
[[nodiscard]] std::vector<Case> all_cases(Sizes sizes);

// Checks the module's exchange and prints a line of JSON; returns 1 if it is wrong, otherwise 0.
[[nodiscard]] int check_link(Queue& queue);

}  // namespace device_check
