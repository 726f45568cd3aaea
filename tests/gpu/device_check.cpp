// SPDX-License-Identifier: Apache-2.0
// device_check MODULE [REPEATS [small|products]]: compares every kernel and product of a device's
// module with the host's, with itself (20 times, and as a graph), and checks its exchange. "small"
// omits large shapes and the exchange, for tools that slow kernels down; "products" runs only
// products. Prints a line of JSON for each; exits with 1 if one is wrong, with 77 if the module
// finds no device. Needs neither MPI nor oneDNN, so that it can be built on any machine with a
// card.
#include "tests/gpu/device_cases.hpp"
#include "tests/support/host_device.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace dts::train::accelerator;
using namespace device_check;

// One by one, or as a graph after all of it has run once.
enum class By { pieces, graph };

std::vector<Floats> run(Queue& queue, const Case& one, By by = By::pieces) {
  Places at;
  for (const Floats& array : one.arrays) {
    at.push_back(queue.allocate(array.size()));
    queue.to_device(at.back(), array.data(), array.size());
  }
  if (one.scratch > 0) at.push_back(queue.allocate(one.scratch));
  if (by == By::pieces)
    one.enqueue(queue, at);
  else
    queue.replay(queue.graph_of([&] { one.enqueue(queue, at); }));
  std::vector<Floats> after = one.arrays;
  for (std::size_t i = 0; i < after.size(); ++i)
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

// Converts rounded arrays to floats.
std::vector<Floats> widened(const Case& one, std::vector<Floats> arrays) {
  for (const std::size_t which : one.rounded) {
    const Floats stored = std::exchange(arrays[which], {});
    std::vector<Bfloat> values(2 * stored.size());
    std::memcpy(values.data(), stored.data(), stored.size() * sizeof(float));
    for (const Bfloat value : values) arrays[which].push_back(value_of(value));
  }
  return arrays;
}

// Runs a case and prints its line; returns whether it is right.
bool check(Queue& device, Queue& host, const Case& one, int repeats) {
  const std::vector<Floats> first = run(device, one);
  const double off = worst(widened(one, first), widened(one, run(host, one)));
  bool is_same = true;
  for (int i = 1; i < repeats && is_same; ++i) is_same = same_bits(run(device, one), first);
  const bool has_same_graph = !device.has_graphs() || same_bits(run(device, one, By::graph), first);
  const bool fits = off <= one.tolerance && is_same && has_same_graph;
  std::printf(
      "{\"check\": \"%s\", \"worst\": %.3g, \"tolerance\": %.3g, \"repeats\": %s, \"graph\": %s, "
      "\"ok\": %s}\n",
      one.name.c_str(),
      std::isinf(off) ? 1e99 : off,
      one.tolerance,
      is_same ? "true" : "false",
      has_same_graph ? "true" : "false",
      fits ? "true" : "false");
  return fits;
}

// Returns whether the cases have launched every kernel; prints a line with the numbers of the
// others.
bool all_were_tried() {
  std::string others;
  for (std::uint32_t number = 0; number < Kernels::count(); ++number)
    if (!host_device::has_launched(number))
      others += (others.empty() ? "" : ", ") + std::to_string(number);
  std::printf("{\"check\": \"every kernel\", \"never tried\": [%s], \"ok\": %s}\n",
              others.c_str(),
              others.empty() ? "true" : "false");
  return others.empty();
}

// Prints for how many shapes of products the device's library had no algorithm.
void print_slow_products(Queue& device) {
  std::printf("{\"check\": \"algorithms of the library\", \"shapes without\": %d, \"ok\": true}\n",
              device.facts().slow_products);
}

// A case that ends with an error of the device does not prevent the others.
int check_each(Queue& device, Queue& host, const std::vector<Case>& cases, int repeats) {
  int wrong = 0;
  for (const Case& one : cases) {
    try {
      wrong += check(device, host, one, repeats) ? 0 : 1;
    } catch (const DeviceError& e) {
      ++wrong;
      std::printf("{\"check\": \"%s\", \"wrong\": \"%s\", \"ok\": false}\n",
                  one.name.c_str(),
                  in_json(e.what()).c_str());
    }
    std::fflush(stdout);
  }
  return wrong == 0 ? 0 : 1;
}

int check_all(Queue& device, Queue& host, const std::string& which, int repeats) {
  if (which == "products") {
    std::vector<Case> products;
    add_products(products, Sizes::all);
    return check_each(device, host, products, repeats);
  }
  const Sizes sizes = which == "small" ? Sizes::small : Sizes::all;
  const int checked = check_each(device, host, all_cases(sizes), repeats);
  const int tried = all_were_tried() ? 0 : 1;
  if (checked == 0) print_slow_products(device);
  // Last, because a link that hangs leaves a stream that never ends.
  const int linked = which.empty() ? check_link(device) : 0;
  return std::max({checked, tried, linked});
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
    const int repeats = argc >= 3 ? std::atoi(argv[2]) : 20;
    return check_all(device, host, argc >= 4 ? argv[3] : "", repeats);
  } catch (const DeviceError& e) {
    std::fprintf(stderr, "device_check: %s\n", e.what());
    return 1;
  }
}
