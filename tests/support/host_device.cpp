// SPDX-License-Identifier: Apache-2.0
#include "tests/support/host_device.hpp"

#include "core/train/accelerator/kernels/kernel_list.hpp"
#include "tests/support/host_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

struct dttrain_context {
  int device = 0;
  std::vector<std::function<void()>> work;
  std::unique_ptr<host_device::HostLink> link;
  std::string wrong;

  const char* enqueue(std::function<void()> piece) {
    work.push_back(std::move(piece));
    return nullptr;
  }
};

namespace host_device {
namespace {

using namespace dts::train::accelerator;

Order g_order = Order::ascending;
int g_lack = 0;

// Calls work(i) for all i below `count`.
template <class Work>
void in_order(std::size_t count, const Work& work) {
  for (std::size_t i = 0; i < count; ++i) work(g_order == Order::ascending ? i : count - 1 - i);
}

class HostBlock {
 public:
  HostBlock(std::size_t index, int threads) : index_(index), threads_(threads) {}

  [[nodiscard]] std::size_t index() const { return index_; }

  template <class Work>
  void each(const Work& work) const {
    in_order(static_cast<std::size_t>(threads_), [&](std::size_t t) { work(static_cast<int>(t)); });
  }

  [[nodiscard]] int threads() const { return threads_; }

  template <class Value>
  class Kept {
   public:
    explicit Kept(const HostBlock& block) : values_(static_cast<std::size_t>(block.threads())) {
      std::memset(static_cast<void*>(values_.data()), 0xff, values_.size() * sizeof(Value));
    }

    [[nodiscard]] Value& operator[](int thread) {
      return values_[static_cast<std::size_t>(thread)];
    }

   private:
    std::vector<Value> values_;
  };

 private:
  std::size_t index_;
  int threads_;
};

template <class Kernel>
void run(const Kernel& kernel) {
  in_order(kernel.blocks(), [&](std::size_t index) {
    typename Kernel::Shared shared;
    std::memset(static_cast<void*>(&shared), 0xff, sizeof shared);  // NaN
    kernel.run(HostBlock(index, Kernel::k_threads), shared);
  });
}

// As a device that reads 10 bits of a fraction may have it: to nearest, ties to even.
float in_tf32(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7F800000U) == 0x7F800000U) return value;
  bits += 0xFFFU + ((bits >> 13) & 1U);
  return std::bit_cast<float>(bits & ~0x1FFFU);
}

float at(const dttrain_factor& factor, int factors, int matrix, int row, int column) {
  if (factor.is_transposed != 0) std::swap(row, column);
  const std::int64_t place =
      matrix * factor.stride + static_cast<std::int64_t>(row) * factor.pitch + column;
  if (factors == DTTRAIN_BF16)
    return std::bit_cast<float>(
        static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(factor.values)[place]) << 16);
  const float value = static_cast<const float*>(factor.values)[place];
  return factors == DTTRAIN_TF32 ? in_tf32(value) : value;
}

void multiply_now(const dttrain_product& p) {
  const auto columns = static_cast<std::size_t>(p.columns);
  std::vector<float> row(columns);
  std::vector<float> right(static_cast<std::size_t>(p.inner) * columns);
  for (int matrix = 0; matrix < p.count; ++matrix) {
    for (int k = 0; k < p.inner; ++k)
      for (int c = 0; c < p.columns; ++c)
        right[static_cast<std::size_t>(k) * columns + static_cast<std::size_t>(c)] =
            at(p.right, p.factors, matrix, k, c);
    for (int r = 0; r < p.rows; ++r) {
      std::fill(row.begin(), row.end(), 0.0F);
      for (int k = 0; k < p.inner; ++k) {
        const float left = at(p.left, p.factors, matrix, r, k);
        const float* const along = right.data() + static_cast<std::size_t>(k) * columns;
        for (std::size_t c = 0; c < columns; ++c) row[c] += left * along[c];
      }
      float* const out = p.out + matrix * p.stride + static_cast<std::int64_t>(r) * p.pitch;
      for (int c = 0; c < p.columns; ++c)
        out[c] = row[static_cast<std::size_t>(c)] + (p.adds != 0 ? out[c] : 0.0F);
    }
  }
}

int lacks(dttrain_answer* answer) {
  *answer = {g_lack, ""};
  if (g_lack != 0) std::snprintf(answer->text, sizeof answer->text, "as the test wants it");
  return g_lack;
}

int count(dttrain_answer* answer) {
  return lacks(answer) != 0 ? 0 : 2;
}

dttrain_context* open(int device, dttrain_answer* answer) {
  return lacks(answer) != 0 ? nullptr : new dttrain_context{device, {}, nullptr, ""};
}

void close(dttrain_context* context) {
  delete context;
}

const char* facts(dttrain_context* context, dttrain_facts* facts) {
  std::snprintf(facts->name, sizeof facts->name, "the host as a device, for tests");
  std::snprintf(facts->uuid, sizeof facts->uuid, "host-%d", context->device);
  std::snprintf(facts->driver, sizeof facts->driver, "none");
  facts->ecc = -1;
  std::snprintf(facts->libraries, sizeof facts->libraries, "plain loops");
  facts->memory = std::size_t{1} << 30;
  return nullptr;
}

const char* allocate(dttrain_context* /*context*/, std::size_t bytes, void** at) {
  *at = std::malloc(bytes);
  if (*at == nullptr) return "out of memory";
  std::memset(*at, 0xff, bytes);
  return nullptr;
}

void release(dttrain_context* /*context*/, void* at) {
  std::free(at);
}

const char* copy(dttrain_context* context, void* to, const void* from, std::size_t bytes) {
  return context->enqueue([=] { std::memcpy(to, from, bytes); });
}

const char* clear(dttrain_context* context, void* at, std::size_t bytes) {
  return context->enqueue([=] { std::memset(at, 0, bytes); });
}

const char* launch(dttrain_context* context, std::uint32_t number, const void* arguments) {
  const bool is_known = Kernels::visit(number, arguments, [&](const auto& kernel) {
    (void)context->enqueue([kernel] { run(kernel); });
  });
  return is_known ? nullptr : "no such kernel";
}

const char* multiply(dttrain_context* context, const dttrain_product* product) {
  return context->enqueue([product = *product] { multiply_now(product); });
}

const char* wait(dttrain_context* context) {
  for (const auto& piece : context->work) piece();
  context->work.clear();
  return nullptr;
}

const char* tell(dttrain_context* context, const std::string& wrong) {
  context->wrong = wrong;
  return wrong.empty() ? nullptr : context->wrong.c_str();
}

const char* find_link(dttrain_context* context, dttrain_link_facts* facts) {
  if (has_fault("missing")) return tell(context, "libhost.so: cannot open shared object file");
  if (has_fault("old"))
    return tell(context, "/lib/libhost.so is Sockets 0.9.0, 1.0.0 or later is needed");
  std::snprintf(facts->library, sizeof facts->library, "Sockets 1.0.0");
  std::snprintf(facts->path, sizeof facts->path, "/lib/libhost.so");
  facts->shares_devices = has_fault("alone") ? 0 : 1;
  return nullptr;
}

const char* make_link_id(dttrain_context* /*context*/, unsigned char* id) {
  const std::string name =
      std::to_string(std::random_device()()) + std::to_string(std::random_device()());
  std::memset(id, 0, DTTRAIN_LINK_ID_BYTES);
  std::memcpy(id, name.data(), name.size());
  return nullptr;
}

const char* join(
    dttrain_context* context, const unsigned char* id, int ranks, int rank, int /*shares*/) {
  context->link = std::make_unique<HostLink>();
  context->link->join(reinterpret_cast<const char*>(id), ranks, rank);
  return nullptr;
}

// What was enqueued before is done now: the group goes on by itself from here, as on a device.
const char* post(dttrain_context* context, const dttrain_message* messages, std::size_t count) {
  (void)wait(context);
  context->link->post({messages, messages + count});
  return context->enqueue([link = context->link.get()] { link->wait(); });
}

const char* progress(dttrain_context* context, dttrain_progress* now) {
  return tell(context, context->link->progress(*now));
}

const char* leave(dttrain_context* /*context*/) {
  return nullptr;
}

void abort_link(dttrain_context* context) {
  if (context->link != nullptr) context->link->abort();
}

}  // namespace

void set_order(Order order) {
  g_order = order;
}

void set_lack(int lack) {
  g_lack = lack;
}

const dttrain_exchange* exchange() {
  static const dttrain_exchange made{
      find_link, make_link_id, join, post, progress, leave, abort_link};
  return &made;
}

const dttrain_device* table() {
  static const dttrain_device made{DTTRAIN_DEVICE_ABI,
                                   sizeof(dttrain_device),
                                   Kernels::signature(),
                                   "cuda",
                                   count,
                                   open,
                                   close,
                                   facts,
                                   allocate,
                                   release,
                                   allocate,
                                   release,
                                   copy,
                                   copy,
                                   clear,
                                   launch,
                                   multiply,
                                   wait,
                                   exchange()};
  return &made;
}

}  // namespace host_device

// As a module it may also be told what it lacks.
DTTRAIN_DEVICE_EXPORT const dttrain_device* dttrain_device_v1() {
  if (const char* const lack = std::getenv("HOST_DEVICE_LACK"))
    host_device::set_lack(std::atoi(lack));
  return host_device::table();
}
