// SPDX-License-Identifier: Apache-2.0
#include "tests/support/host_device.hpp"

#include "core/train/accelerator/kernels/kernel_list.hpp"
#include "tests/support/host_context.hpp"
#include "tests/support/host_exchange.hpp"
#include "tests/support/host_products.hpp"
#include "tests/support/host_streams.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace host_device {
namespace {

using namespace dts::train::accelerator;

Order g_order = Order::ascending;
int g_lack = 0;
std::array<std::atomic<bool>, Kernels::count()> g_launched{};

// Calls work(i) for all i below `count`, in the current order.
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

  template <class Work>
  void each_in_warps(const Work& work) const {
    each(work);
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

int lacks(dttrain_answer* answer) {
  *answer = {g_lack, ""};
  if (g_lack != 0) std::snprintf(answer->text, sizeof answer->text, "as the test wants it");
  return g_lack;
}

int count(dttrain_answer* answer) {
  return lacks(answer) != 0 ? 0 : static_cast<int>(devices().size());
}

void close(dttrain_context* context) {
  hold(-1, 0);
  delete context;
}

dttrain_context* open(int device, dttrain_answer* answer) {
  if (lacks(answer) != 0) return nullptr;
  auto* const made = new dttrain_context{devices().at(static_cast<std::size_t>(device))};
  hold(1, 0);
  const char* const wrong = broken("open", *made);
  if (wrong == nullptr) return made;
  close(made);
  answer->lack = DTTRAIN_LACKS_OTHER;
  std::snprintf(answer->text, sizeof answer->text, "%s", wrong);
  return nullptr;
}

const char* facts(dttrain_context* context, dttrain_facts* facts) {
  std::snprintf(facts->name, sizeof facts->name, "the host as a device, for tests");
  std::snprintf(facts->uuid, sizeof facts->uuid, "host-%d", context->gpu.number);
  std::snprintf(facts->pci, sizeof facts->pci, "0000:%02x:00.0", 0x3b + context->gpu.number);
  std::snprintf(facts->driver, sizeof facts->driver, "none");
  facts->ecc = -1;
  facts->numa = 0;
  const char* const slow = std::getenv("HOST_DEVICE_SLOW_PRODUCTS");
  facts->slow_products = slow == nullptr ? 0 : std::atoi(slow);
  std::snprintf(facts->libraries, sizeof facts->libraries, "plain loops");
  facts->memory = std::size_t{1} << 30;
  return nullptr;
}

const char* allocate(dttrain_context* context, std::size_t bytes, void** at) {
  if (const char* const wrong = broken("allocate", *context)) return wrong;
  if (const char* const wrong = context->in_graph()) return wrong;
  *at = std::malloc(bytes);
  if (*at == nullptr) return "out of memory";
  std::memset(*at, 0xff, bytes);
  context->memory[*at] = bytes;
  hold(0, 1);
  return nullptr;
}

void release(dttrain_context* context, void* at) {
  if (context->memory.erase(at) != 0) hold(0, -1);
  std::free(at);
}

const char* to_device(dttrain_context* context, void* to, const void* from, size_t bytes) {
  context->spend(DTTRAIN_COPY_IN, static_cast<double>(bytes), context->gpu.to);
  return context->enqueue(DTTRAIN_COPY_IN, [=] { std::memcpy(to, from, bytes); });
}

const char* to_host(dttrain_context* context, void* to, const void* from, size_t bytes) {
  context->spend(DTTRAIN_COPY_OUT, static_cast<double>(bytes), context->gpu.from);
  return context->enqueue(DTTRAIN_COPY_OUT, [=] { std::memcpy(to, from, bytes); });
}

const char* clear(dttrain_context* context, void* at, std::size_t bytes) {
  return context->enqueue(DTTRAIN_COMPUTE, [=] { std::memset(at, 0, bytes); });
}

// True for the launch that goes wrong. Each step of training launches this kernel once per shard.
template <class Value>
bool flips(dttrain_context& context, const CrossEntropy<Value>& kernel) {
  return kernel.has_gradient && must_fail(context);
}

template <class Kernel>
bool flips(dttrain_context& /*context*/, const Kernel& /*kernel*/) {
  return false;
}

// The gradient is complete now. Flips a bit that bf16 keeps, but that the loss would not reveal.
void flip(const CrossEntropy<float>& kernel) {
  kernel.logits[0] =
      std::bit_cast<float>(std::bit_cast<std::uint32_t>(kernel.logits[0]) ^ 1U << 20);
}

void flip(const CrossEntropy<Bfloat>& kernel) {
  kernel.logits[0] ^= 1U << 4;
}

template <class Kernel>
void flip(const Kernel& /*kernel*/) {}

const char* launch(dttrain_context* context, std::uint32_t number, const void* arguments) {
  const bool is_known = Kernels::visit(number, arguments, [&](const auto& kernel) {
    g_launched[number] = true;
    (void)context->enqueue(DTTRAIN_COMPUTE, [context, kernel] {
      run(kernel);
      if (flips(*context, kernel)) flip(kernel);
    });
  });
  return is_known ? nullptr : "no such kernel";
}

const char* multiply(dttrain_context* context, const dttrain_product* product) {
  if (const char* const wrong = broken("multiply", *context)) return wrong;
  context->spend(DTTRAIN_COMPUTE,
                 2.0 * product->rows * product->columns * product->inner * product->count,
                 context->gpu.products);
  return context->enqueue(DTTRAIN_COMPUTE, [product = *product] { multiply_now(product); });
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

// First does what was enqueued before: from here on the group proceeds on its own, as on a device.
const char* post(dttrain_context* context, const dttrain_message* messages, std::size_t count) {
  (void)wait(context);
  double received = 0;
  for (const dttrain_message* one = messages; one < messages + count; ++one)
    if (one->is_sent == 0) received += static_cast<double>(one->bytes);
  context->spend(DTTRAIN_COMPUTE, received, context->gpu.between);
  context->link->post({messages, messages + count});
  return context->enqueue(DTTRAIN_COMPUTE, [link = context->link.get()] { link->wait(); });
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

bool has_launched(std::uint32_t number) {
  return g_launched[number];
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
                                   to_device,
                                   to_host,
                                   clear,
                                   launch,
                                   multiply,
                                   wait,
                                   new_event,
                                   free_event,
                                   record,
                                   follow,
                                   wait_event,
                                   seconds_between,
                                   begin_graph,
                                   end_graph,
                                   replay,
                                   free_graph,
                                   exchange(),
                                   copy,
                                   copy_from,
                                   reach,
                                   pin,
                                   unpin,
                                   start_timer,
                                   stop_timer};
  return &made;
}

const dttrain_device* table_of_module() {
  if (const char* const lack = std::getenv("HOST_DEVICE_LACK")) set_lack(std::atoi(lack));
  return table();
}

}  // namespace host_device
