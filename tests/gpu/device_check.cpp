// SPDX-License-Identifier: Apache-2.0
// device_check MODULE [REPEATS]: every kernel and product of a device's module beside the host's,
// and beside itself 20 times. A line of JSON for each; exits with 1 if one is wrong, with 77 if the
// module finds no device. Needs neither MPI nor oneDNN, so that it can be built on any machine with
// a card.
#include "core/base/random.hpp"
#include "core/train/accelerator/queue.hpp"
#include "tests/support/host_device.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace dts::train::accelerator;

using Floats = std::vector<float>;
using Places = std::vector<float*>;

// Arrays, and what is enqueued with them where they are.
struct Case {
  std::string name;
  double tolerance;  // relative to the larger of 1 and the value
  std::vector<Floats> arrays;
  std::function<void(Queue&, const Places&)> enqueue;
};

Floats noise(std::size_t count, std::uint64_t seed, float size = 1) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = size * static_cast<float>(
                           static_cast<double>(dts::mix(seed * 1000003 + i) >> 11) * 0x1.0p-52 - 1);
  return values;
}

Floats nothing(std::size_t count) {
  return Floats(count, std::numeric_limits<float>::quiet_NaN());
}

// Whole numbers below `most`, in an array of floats.
Floats numbers(std::size_t count, std::uint64_t most) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint32_t>(dts::mix(i) % most);
    std::memcpy(&values[i], &number, sizeof number);
  }
  return values;
}

const std::uint32_t* as_numbers(const float* at) {
  return reinterpret_cast<const std::uint32_t*>(at);
}

std::vector<Floats> run(Queue& queue, const Case& one) {
  Places at;
  for (const Floats& array : one.arrays) {
    at.push_back(queue.allocate(array.size()));
    queue.to_device(at.back(), array.data(), array.size());
  }
  one.enqueue(queue, at);
  std::vector<Floats> after = one.arrays;
  for (std::size_t i = 0; i < at.size(); ++i)
    queue.to_host(after[i].data(), at[i], after[i].size());
  return after;
}

bool same_bits(const std::vector<Floats>& a, const std::vector<Floats>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](const Floats& x, const Floats& y) {
    return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  });
}

double worst(const std::vector<Floats>& values, const std::vector<Floats>& expected) {
  double worst = 0;
  for (std::size_t array = 0; array < values.size(); ++array)
    for (std::size_t i = 0; i < values[array].size(); ++i) {
      const float value = values[array][i];
      const float wanted = expected[array][i];
      if (std::memcmp(&value, &wanted, sizeof value) == 0) continue;
      const double off = std::abs(static_cast<double>(value) - static_cast<double>(wanted)) /
                         std::max(1.0, std::abs(static_cast<double>(wanted)));
      worst = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(worst, off);
    }
  return worst;
}

void add_elements(std::vector<Case>& all) {
  constexpr std::size_t k_count = 100003;
  const Floats x = noise(k_count, 1, 5);
  const Floats y = noise(k_count, 2);
  all.push_back({"add", 0, {x, y}, [](Queue& queue, const Places& at) {
                   queue.launch(Add{{k_count}, at[0], at[1]});
                 }});
  all.push_back({"gelu_forward", 1e-6, {x, nothing(k_count)}, [](Queue& queue, const Places& at) {
                   queue.launch(GeluForward{{k_count}, at[0], at[1]});
                 }});
  all.push_back({"gelu_backward", 2e-6, {x, y}, [](Queue& queue, const Places& at) {
                   queue.launch(GeluBackward{{k_count}, at[0], at[1], at[1]});
                 }});
  all.push_back({"swiglu",
                 2e-6,
                 {x, y, nothing(k_count), noise(k_count, 18), nothing(k_count)},
                 [](Queue& queue, const Places& at) {
                   queue.launch(SwigluForward{{k_count}, at[0], at[1], at[2]});
                   queue.launch(SwigluBackward{{k_count}, at[0], at[1], at[3], at[4], at[3]});
                 }});
  all.push_back({"rotate",
                 1e-6,
                 {noise(60 * 200, 19), noise(10 * 24, 20), noise(10 * 24, 21)},
                 [](Queue& queue, const Places& at) {
                   queue.launch(Rotate{{60 * 4 * 24}, 10, 4, 24, 200, at[1], at[2], -1, at[0]});
                 }});
  all.push_back(
      {"begin_rows", 0, {noise(101, 3), y, nothing(k_count)}, [](Queue& queue, const Places& at) {
         queue.launch(BeginRows{{k_count}, 101, at[0], at[1], at[2]});
       }});
  all.push_back({"squares", 1e-6, {x, nothing(4), nothing(1)}, [](Queue& queue, const Places& at) {
                   auto* const partials = reinterpret_cast<double*>(at[1]);
                   queue.launch(Squares{at[0], k_count, partials});
                   queue.launch(Total<double>{partials, 2, at[2]});
                 }});
  all.push_back({"total", 1e-6, {x, nothing(1)}, [](Queue& queue, const Places& at) {
                   queue.launch(Total<float>{at[0], k_count, at[1]});
                 }});
}

void add_rows(std::vector<Case>& all, int rows, int width) {
  const std::string shape = " " + std::to_string(rows) + "x" + std::to_string(width);
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
  const auto columns = static_cast<std::size_t>(width);
  const auto each = static_cast<std::size_t>(rows);
  all.push_back({"layer_norm" + shape,
                 2e-5,
                 {noise(count, 4, 3),
                  noise(columns, 5),
                  noise(columns, 6),
                  nothing(count),
                  nothing(each),
                  nothing(each),
                  noise(count, 7),
                  noise(count, 8),
                  nothing(columns),
                  nothing(columns),
                  nothing(columns)},
                 [=](Queue& queue, const Places& at) {
                   queue.launch(Normalise<About::mean>{
                       {rows, width}, 1e-5F, at[0], at[1], at[2], at[3], at[4], at[5]});
                   queue.launch(NormaliseBackward<About::mean>{
                       {rows, width}, at[0], at[1], at[4], at[5], at[6], at[7], true});
                   queue.launch(NormGradients<About::mean>{
                       {rows, width}, at[0], at[4], at[5], at[6], at[8], at[9]});
                   queue.launch(ColumnSums{{rows, width}, at[6], at[10]});
                 }});
  all.push_back({"rms_norm" + shape,
                 2e-5,
                 {noise(count, 4, 3),
                  noise(columns, 5),
                  nothing(count),
                  nothing(each),
                  noise(count, 7),
                  noise(count, 8),
                  nothing(columns)},
                 [=](Queue& queue, const Places& at) {
                   constexpr auto k_zero = About::zero;
                   queue.launch(Normalise<k_zero>{
                       {rows, width}, 1e-6F, at[0], at[1], nullptr, at[2], nullptr, at[3]});
                   queue.launch(NormaliseBackward<k_zero>{
                       {rows, width}, at[0], at[1], nullptr, at[3], at[4], at[5], true});
                   queue.launch(NormGradients<k_zero>{
                       {rows, width}, at[0], nullptr, at[3], at[4], at[6], nullptr});
                 }});
  all.push_back({"cross_entropy" + shape,
                 1e-5,
                 {noise(count, 9, 9), numbers(each, columns), nothing(each), nothing(each)},
                 [=](Queue& queue, const Places& at) {
                   queue.launch(CrossEntropy{
                       {rows, width}, at[0], as_numbers(at[1]), 0.5F, 0.1F, true, at[2], at[3]});
                 }});
}

void add_attention(std::vector<Case>& all, int context, int heads) {
  const auto rows = static_cast<std::size_t>(context) * static_cast<std::size_t>(heads);
  const std::size_t count = rows * static_cast<std::size_t>(context);
  all.push_back({"causal_softmax " + std::to_string(context),
                 3e-6,
                 {noise(count, 10, 40), noise(count, 11)},
                 [=](Queue& queue, const Places& at) {
                   const Rowwise shape{heads * context, context};
                   queue.launch(CausalSoftmax{shape, 0.125F, at[0]});
                   queue.launch(CausalSoftmaxBackward{shape, 0.125F, at[0], at[1]});
                 }});
}

void add_embedding(std::vector<Case>& all, int vocabulary, int width) {
  constexpr int k_context = 65;
  constexpr int k_rows = 3 * k_context;
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t table = static_cast<std::size_t>(vocabulary) * columns;
  all.push_back(
      {"embedding " + std::to_string(vocabulary) + "x" + std::to_string(width),
       0,
       {numbers(k_rows, static_cast<std::uint64_t>(vocabulary)),
        noise(table, 12),
        noise(k_context * columns, 13),
        nothing(k_rows * columns),
        noise(table, 14),
        nothing(k_context * columns)},
       [=](Queue& queue, const Places& at) {
         queue.launch(EmbeddingForward{
             {k_rows * columns}, width, k_context, as_numbers(at[0]), at[1], at[2], at[3]});
         queue.launch(
             TokenGradients{{vocabulary, width}, k_rows, as_numbers(at[0]), at[3], at[4], false});
         queue.launch(PositionGradients{{k_context * columns}, 3, at[3], at[5]});
       }});
}

// All transpositions, overwriting and adding, of a batch with gaps between rows.
void add_products(std::vector<Case>& all, int rows, int columns, int inner, int batch) {
  for (int way = 0; way < 8; ++way) {
    const bool left = (way & 1) != 0, right = (way & 2) != 0, adds = (way & 4) != 0;
    const int gap = 8 * batch - 8;
    const int left_pitch = (left ? rows : inner) + gap;
    const int right_pitch = (right ? inner : columns) + gap;
    const int pitch = columns + gap;
    const std::int64_t left_stride = std::int64_t{left_pitch} * (left ? inner : rows);
    const std::int64_t right_stride = std::int64_t{right_pitch} * (right ? columns : inner);
    const std::int64_t stride = std::int64_t{pitch} * rows;
    const auto floats = [&](std::int64_t one) { return static_cast<std::size_t>(one * batch); };
    all.push_back({"product " + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
                       std::to_string(inner) + (left ? " T" : " N") + (right ? "T" : "N") +
                       (adds ? " adds" : ""),
                   1e-5 * std::sqrt(static_cast<double>(inner)),
                   {noise(floats(left_stride), 15),
                    noise(floats(right_stride), 16),
                    noise(floats(stride), 17)},
                   [=](Queue& queue, const Places& at) {
                     queue.multiply({{at[0], left_pitch, left ? 1 : 0, left_stride},
                                     {at[1], right_pitch, right ? 1 : 0, right_stride},
                                     at[2],
                                     rows,
                                     columns,
                                     inner,
                                     pitch,
                                     stride,
                                     batch,
                                     adds ? 1 : 0,
                                     DTTRAIN_FP32});
                   }});
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  add_elements(all);
  for (const auto& [rows, width] : {std::pair{1, 1}, {5, 31}, {33, 257}, {64, 768}, {7, 50257}})
    add_rows(all, rows, width);
  for (const int context : {1, 31, 257}) add_attention(all, context, 3);
  add_embedding(all, 300, 48);
  add_embedding(all, 5003, 257);
  add_products(all, 64, 96, 128, 1);
  add_products(all, 17, 23, 9, 1);
  add_products(all, 65, 64, 40, 3);
  add_products(all, 256, 768, 768, 1);
  return all;
}

int check(Queue& device, Queue& host, int repeats) {
  int wrong = 0;
  for (const Case& one : all_cases()) {
    const std::vector<Floats> first = run(device, one);
    const double off = worst(first, run(host, one));
    bool is_same = true;
    for (int i = 1; i < repeats && is_same; ++i) is_same = same_bits(run(device, one), first);
    const bool fits = off <= one.tolerance && is_same;
    wrong += fits ? 0 : 1;
    std::printf(
        "{\"check\": \"%s\", \"worst\": %.3g, \"tolerance\": %.3g, \"repeats\": %s, \"ok\": %s}\n",
        one.name.c_str(),
        std::isinf(off) ? 1e99 : off,
        one.tolerance,
        is_same ? "true" : "false",
        fits ? "true" : "false");
    std::fflush(stdout);
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  void* const library = argc >= 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const symbol = library == nullptr ? nullptr : dlsym(library, DTTRAIN_DEVICE_SYMBOL);
  if (symbol == nullptr) {
    std::fprintf(stderr, "device_check MODULE: %s\n", argc >= 2 ? dlerror() : "names the module");
    return 2;
  }
  dttrain_device_entry entry = nullptr;
  std::memcpy(&entry, &symbol, sizeof entry);
  const dttrain_device* const table = entry();
  if (table->kernels != Kernels::signature()) {
    std::fprintf(stderr, "device_check: %s was built from other sources\n", argv[1]);
    return 2;
  }
  dttrain_answer answer{};
  dttrain_context* const context = table->count(&answer) > 0 ? table->open(0, &answer) : nullptr;
  if (context == nullptr) {
    std::printf("skipped: no device: %s\n", answer.text);
    return 77;
  }
  try {
    Queue device(*table, context);
    Queue host(*host_device::table(), host_device::table()->open(0, &answer));
    return check(device, host, argc >= 3 ? std::atoi(argv[2]) : 20);
  } catch (const DeviceError& e) {
    std::fprintf(stderr, "device_check: %s\n", e.what());
    return 1;
  }
}
