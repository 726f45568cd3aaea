// SPDX-License-Identifier: Apache-2.0
// Gradients and weights that travel between devices: sums equal those of the host's exchange for
// all numbers of ranks, buckets and nodes; changed messages are detected; and a failed link ends
// the run with the name of the call. The devices are host devices, each on a thread.
#include "core/train/accelerator/exchange/device_exchange.hpp"
#include "core/train/comm/self_transport.hpp"
#include "core/train/update/gradient_exchange.hpp"
#include "tests/support/recording_device.hpp"
#include "tests/unit/accelerator/step.hpp"
#include "tests/unit/train/rank_threads.hpp"

#include <cstdlib>
#include <deque>
#include <numeric>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

constexpr int k_all = 7;  // shards

const Model& small_model() {
  static const auto made = make_model(k_small).value();
  return made;
}

const Layout& small_layout() {
  return small_model().layout;
}

const ChunkGrid& small_grid() {
  static const ChunkGrid made(small_layout());
  return made;
}

struct Way {
  std::vector<int> nodes = {};  // by rank; empty: flat
  std::size_t bucket_bytes = 0;
  std::optional<Injection> fault = {};
};

LinkId id_of(Group& group, const Queue& queue) {
  LinkId id{};
  if (group.rank() == 0) id = make_link_id(queue).value();
  group.broadcast(id.data(), id.size());
  return id;
}

// The same partials, on the host and on a device.
struct Sums {
  std::deque<Floats> arrays;
  Partials here, there;

  Sums(Queue& queue, Span run) {
    for (const Span node : maximal_nodes(k_all, run)) {
      arrays.push_back(
          noise(small_layout().sum_floats(), static_cast<std::uint64_t>(node.lo * 100 + node.hi)));
      here[node] = arrays.back().data();
      there[node] = queue.allocate(arrays.back().size());
      queue.to_device(there[node], arrays.back().data(), arrays.back().size());
    }
  }
};

// Returns "" if the sums of two steps equal those of the host's exchange, otherwise what differs.
std::string exchanged(Group& group, const Way& way) {
  const auto queue = new_queue();
  const Ownership ownership(small_grid(), {group.size(), group.size()}, way.bucket_bytes);
  Levels levels(group, way.nodes.empty() ? Hierarchy(group.size()) : Hierarchy(way.nodes));
  const Sums mine(*queue, part_of({0, k_all}, group.size(), group.rank()));
  DeviceExchange devices(group, *queue, small_layout(), mine.there, id_of(group, *queue), {});
  GradientExchange host(levels, small_layout(), small_grid(), ownership, {k_all, true, {}});
  GradientExchange device(
      levels, small_layout(), small_grid(), ownership, {k_all, true, way.fault, &devices});
  std::string wrong;
  for (std::uint64_t step = 0; step < 2; ++step) {
    const auto expected = host.sum(mine.here, step);
    const auto sums = device.sum(mine.here, step);
    const float* const tail = sums.tail;
    Floats came(ownership.floats_of(group.rank()));
    devices.to_host(came.data(), sums.gradients, came.size());
    if (!std::equal(came.begin(), came.end(), expected.gradients)) wrong += "sums ";
    if (!std::equal(tail, tail + small_layout().tail_floats(), expected.tail)) wrong += "tail ";
    for (const auto& one : device.damaged()) wrong += "by rank " + std::to_string(one.peer);
    group.barrier();
  }
  // Weights, of which each rank owns some.
  const std::size_t count = small_layout().parameter_floats;
  Floats values(count), own(count), came(count);
  std::iota(values.begin(), values.end(), 0.0F);
  std::vector<Levels::Sliced> all;
  float* const whole = queue->allocate(count);
  for (const Range run : ownership.runs_of(group.rank()))
    queue->to_device(whole + run.begin, values.data() + run.begin, run.size());
  for (int bucket = 0; bucket < ownership.buckets(); ++bucket)
    all.push_back({whole, ownership.slices(bucket)});
  levels.gather(all, &devices);
  devices.to_host(came.data(), whole, count);
  group.barrier();
  return came == values ? wrong : "weights";
}

struct Fault {
  explicit Fault(const std::string& words) { ::setenv("HOST_DEVICE_EXCHANGE", words.c_str(), 1); }

  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  ~Fault() { ::unsetenv("HOST_DEVICE_EXCHANGE"); }
};

Group alone() {
  return {std::make_shared<SelfTransport>(), {0}, 0, settings(k_long)};
}

}  // namespace

TEST_CASE(
    "sums and weights of devices have the bits of the host's, for any ranks, buckets and nodes") {
  for (const int ranks : {2, 3, 5, 7})
    for (const std::size_t bytes : {0U, 4096U, 30000U}) {
      CAPTURE(ranks);
      CAPTURE(bytes);
      for (const std::string& end : on_threads(ranks, k_long, [&](Group& group) {
             return exchanged(group, {{}, bytes, {}});
           }))
        CHECK(end == "");
    }
  for (const std::vector<int>& nodes :
       {std::vector{0, 0, 1}, {0, 0, 1, 1}, {0, 1, 0, 1, 1}, {0, 0, 0}})
    for (const std::string& end :
         on_threads(static_cast<int>(nodes.size()), k_long, [&](Group& group) {
           return exchanged(group, {nodes, 9000, {}});
         }))
      CHECK(end == "");
}

TEST_CASE("what a device receives changed is found, and whose it was") {
  const Injection fault{Injection::Target::message, 5, 0, 1, 1};
  const auto ends = on_threads(3, k_long, [&](Group& group) {
    return exchanged(group, {{}, 0, fault});
  });
  CHECK(ends[0] == "");
  CHECK(ends[1] == "sums by rank 0");
  CHECK(ends[2] == "");
}

TEST_CASE("a link that fails ends the run, by the name of the call, before anybody waits for it") {
  const auto run = [](std::chrono::milliseconds timeout) {
    return on_threads(3, timeout, [&](Group& group) { return exchanged(group, {}); });
  };
  {
    const Fault fault("error:1:2");  // in the second step
    for (const std::string& end : run(k_long))
      CHECK(end.find("scatter of partial sums of ") != std::string::npos);
  }
  {
    const Fault fault("leave:2:2");
    const auto ends = run(std::chrono::seconds(5));
    CAPTURE(ends[0]);
    CAPTURE(ends[1]);
    // The first rank that sees it closes its own links, which the other one may see first.
    const bool is_named_by_0 = ends[0].find(": rank 2 is gone") != std::string::npos;
    const bool is_named_by_1 = ends[1].find(": rank 2 is gone") != std::string::npos;
    CHECK((is_named_by_0 || ends[0].find(": rank 1 is gone") != std::string::npos));
    CHECK((is_named_by_1 || ends[1].find(": rank 0 is gone") != std::string::npos));
    CHECK((is_named_by_0 || is_named_by_1));
    CHECK(ends[2].find("all ranks have arrived, but it did not complete within 5 s") !=
          std::string::npos);
  }
  {
    const Fault fault("hang-init:0");
    for (const std::string& end : run(std::chrono::seconds(1))) {
      CHECK(end.find("timed out: call ") == 0);
      CHECK(end.find("connection of devices") != std::string::npos);
    }
  }
}

TEST_CASE("what links devices is named where it is missing, too old or not built") {
  const auto queue = new_queue();
  CHECK(std::string(find_link(*queue).value().library) == "Sockets 1.0.0");
  for (const char* const word : {"missing", "old"}) {
    const Fault fault(word);
    const auto found = find_link(*queue);
    REQUIRE_FALSE(found);
    CHECK(found.error().message.find("NCCL cannot be used: ") == 0);
    CHECK(found.error().hint.find("--device-exchange staged") != std::string::npos);
  }
  dttrain_device table = *host_device::table();
  table.exchange = nullptr;
  dttrain_answer answer{};
  const Queue other(table, table.open(0, &answer));
  CHECK(find_link(other).error().message == "the module was built without NCCL's header, nccl.h");
}

TEST_CASE(
    "the order of an exchange and what is around it is the queue's, and the host's once it waits") {
  for (const bool waits : {true, false}) {
    const auto queue = recording_device::new_queue();
    Group group = alone();
    const Partials none;
    DeviceExchange devices(group, *queue, small_layout(), none, id_of(group, *queue), {});
    constexpr std::size_t k_count = 1000;
    const Floats values = noise(k_count, 1);
    float* const from = queue->allocate(k_count);
    float* const sent = queue->allocate(k_count);
    float* const came = queue->allocate(k_count);
    queue->to_device(from, values.data(), k_count);
    queue->launch(Copy<float>{{k_count}, from, sent});
    (void)devices.post_slices(group,
                              Call::gather_slices,
                              {},
                              0,
                              {{0, sent, k_count * sizeof(float)}},
                              {{0, came, k_count * sizeof(float)}});
    queue->launch(Copy<float>{{k_count}, from, sent});  // may be used again
    queue->launch(Add<float>{{k_count}, came, from});
    if (waits) queue->wait();
    recording_device::touch(came, sizeof(float), false);
    recording_device::touch(sent, sizeof(float), true);
    CHECK(recording_device::races().empty() == waits);
    CHECK(recording_device::strays().empty());
    Floats twice(k_count);
    devices.to_host(twice.data(), came, k_count);
    for (std::size_t i = 0; i < k_count; ++i) REQUIRE(twice[i] == values[i] + values[i]);
  }
}

TEST_CASE("the recorder knows what messages read and write") {
  const auto queue = recording_device::new_queue();
  Group group = alone();
  const Partials none;
  DeviceExchange devices(group, *queue, small_layout(), none, id_of(group, *queue), {});
  float* const sent = queue->allocate(16);
  float* const came = queue->allocate(16);
  queue->wait();
  (void)devices.post_slices(group, Call::gather_slices, {}, 0, {{0, sent, 64}}, {{0, came, 64}});
  recording_device::touch(sent, 64, false);  // the device only reads it, too
  CHECK(recording_device::races().empty());
  recording_device::touch(sent, 64, true);
  CHECK(recording_device::races() == std::vector<std::string>{"exchange and the host"});
  recording_device::touch(came, 64, false);
  CHECK(recording_device::races().size() == 1);  // the same description
  queue->wait();
  recording_device::touch(came, 64, true);
  CHECK(recording_device::races().size() == 1);
}
