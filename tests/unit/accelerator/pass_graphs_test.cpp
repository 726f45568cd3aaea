// SPDX-License-Identifier: Apache-2.0
// The content and order of a graph, and the results of a replayed pass.
#include "core/train/accelerator/queue/pass_graphs.hpp"

#include "tests/unit/accelerator/step.hpp"

#include <cstring>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

// Calls of the host device while a graph is made, and the number of replays.
struct Calls {
  bool in_graph = false;
  std::vector<std::string> pieces;
  int replays = 0;
  std::size_t allocations = 0;
  std::size_t bytes = 0;  // on the device
};

Calls g_calls;

const dttrain_device& host() {
  return *host_device::table();
}

void in_graph(const std::string& what) {
  if (g_calls.in_graph) g_calls.pieces.push_back(what);
}

dttrain_device watched_table() {
  g_calls = {};
  dttrain_device table = host();
  table.launch = [](dttrain_context* context, std::uint32_t kernel, const void* arguments) {
    in_graph("kernel " + std::to_string(kernel));
    return host().launch(context, kernel, arguments);
  };
  table.multiply = [](dttrain_context* context, const dttrain_product* product) {
    in_graph("product");
    return host().multiply(context, product);
  };
  table.clear = [](dttrain_context* context, void* at, std::size_t bytes) {
    in_graph("clear");
    return host().clear(context, at, bytes);
  };
  table.begin_graph = [](dttrain_context* context) {
    g_calls.in_graph = true;
    return host().begin_graph(context);
  };
  table.end_graph = [](dttrain_context* context, dttrain_graph** graph) {
    g_calls.in_graph = false;
    return host().end_graph(context, graph);
  };
  table.replay = [](dttrain_context* context, dttrain_graph* graph) {
    ++g_calls.replays;
    return host().replay(context, graph);
  };
  table.allocate = [](dttrain_context* context, std::size_t bytes, void** at) {
    ++g_calls.allocations;
    g_calls.bytes += bytes;
    return host().allocate(context, bytes, at);
  };
  table.allocate_host = [](dttrain_context* context, std::size_t bytes, void** at) {
    ++g_calls.allocations;
    return host().allocate_host(context, bytes, at);
  };
  return table;
}

std::unique_ptr<Queue> queue_of(const dttrain_device& table) {
  dttrain_answer answer{};
  return std::make_unique<Queue>(table, table.open(0, &answer));
}

std::unique_ptr<DeviceSums> device_of(const Step& step,
                                      const dttrain_device& table,
                                      std::vector<std::string>* messages = nullptr) {
  auto made = DeviceSums::create(step.model,
                                 queue_of(table),
                                 {.shards = k_shards,
                                  .own_shards = k_shards,
                                  .micro_batch = k_micro,
                                  .own_floats = step.model.layout.parameter_floats,
                                  .moments = 2,
                                  .notify = [messages](const std::string& line) {
                                    if (messages != nullptr) messages->push_back(line);
                                  }});
  REQUIRE(made);
  return std::move(*made);
}

// All results of a training: weights, tails of sums, scores.
class Training {
 public:
  Training(const Step& step, DeviceSums& device) : step_(step), device_(device) {
    const std::size_t floats = step.model.layout.parameter_floats;
    owned_.floats = floats;
    for (std::size_t at = 0; at < floats; at += 1024)
      owned_.chunks.push_back(
          {at, at, static_cast<std::uint32_t>(std::min<std::size_t>(1024, floats - at)), 1});
    const Floats moments(2 * floats);
    device.update()->begin(owned_, step.weights.data(), moments.data());
  }

  // Makes step `number`, with another learning rate and other samples than the step before.
  void make(std::uint64_t number) {
    StepInput input = step_.input;
    input.step = number;
    input.gradients_stay = true;
    input.timeline = &timeline_;
    const Partials sums = device_.sum(input, {0, k_shards});
    const Layout& layout = step_.model.layout;
    add(sums.begin()->second + layout.parameter_floats, layout.tail_floats());
    std::vector<ChunkReport> reports(owned_.chunks.size());
    ChunkUpdate& update = *device_.update();
    update.step(
        update_factors({}, {0.01 / static_cast<double>(number + 1), number + 1}), nullptr, reports);
    update.keep();
    Floats weights(layout.parameter_floats);
    update.weights(weights.data());
    add(weights.data(), weights.size());
  }

  void evaluate(std::size_t count) {
    Samples samples = step_.samples();
    samples.count = count;
    const Score score = device_.evaluate(samples, nullptr, nullptr, 1, 0);
    const auto loss = static_cast<float>(score.loss);
    add(&loss, 1);
  }

  [[nodiscard]] const Floats& all() const { return all_; }

  [[nodiscard]] Timeline& timeline() { return timeline_; }

 private:
  void add(const float* values, std::size_t count) {
    all_.insert(all_.end(), values, values + count);
  }

  const Step& step_;
  DeviceSums& device_;
  ChunkUpdate::Owned owned_{find_optimizer("adamw"), {}, 0};
  Timeline timeline_{1};
  Floats all_;
};

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::string refusal(Queue& queue, const std::function<void()>& work) {
  try {
    (void)queue.graph_of(work);
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a training by graphs has the bits of one whose kernels are enqueued one by one") {
  for (const char* const words : {k_small,
                                  "llama,vocab_size=61,max_position_embeddings=9,hidden_size=48,"
                                  "intermediate_size=80,num_hidden_layers=2,num_attention_heads=6,"
                                  "num_key_value_heads=2"}) {
    const Step step(words);
    dttrain_device none = host();
    none.begin_graph = nullptr;
    const auto eager = device_of(step, none);
    const dttrain_device table = watched_table();
    std::vector<std::string> messages;
    const auto replayed = device_of(step, table, &messages);
    Training expected(step, *eager);
    Training training(step, *replayed);
    // The second evaluation's last chunk is smaller.
    for (Training* const one : {&expected, &training})
      for (std::uint64_t number = 0; number < 5; ++number) {
        one->make(number);
        if (number % 2 == 0) one->evaluate(number == 2 ? 5 : 6);
      }
    CHECK(eager->graphs().graphs() == 0);
    CHECK(replayed->graphs().graphs() > 4);
    CHECK(g_calls.replays > 5 * k_shards);  // of 2 * 5 * k_shards passes
    CHECK(same_bits(training.all(), expected.all()));
    CHECK(messages.size() == 3);
    CHECK(messages[0].find("the forward pass is one graph of ") == 0);
    CHECK(messages[1].find("the backward pass is one graph of ") == 0);
    CHECK(messages[2].find("the evaluation pass is one graph of ") == 0);
  }
}

TEST_CASE("a graph has the pieces of its pass in their order, and copies before it are followed") {
  const dttrain_device table = watched_table();
  const auto queue = queue_of(table);
  const Floats values = noise(700, 1);
  float* const x = queue->allocate(values.size());
  float* const y = queue->allocate(values.size());
  const Graph graph = queue->graph_of([&] {
    queue->clear(y, values.size());
    queue->launch(Add<float>{{values.size()}, y, x});
    queue->launch(GeluForward<float>{{values.size()}, y, x});
    queue->launch(Add<float>{{0}, y, x});  // does nothing
  });
  CHECK(graph.pieces == 3);
  const std::vector<std::string> expected = {
      "clear",
      "kernel " + std::to_string(Kernels::number_of<Add<float>>()),
      "kernel " + std::to_string(Kernels::number_of<GeluForward<float>>())};
  CHECK(g_calls.pieces == expected);
  // Nothing of it has been done yet; each replay uses the values that are in memory then.
  Floats got(values.size());
  for (const float factor : {1.0F, -2.0F}) {
    Floats sent = values;
    for (float& value : sent) value *= factor;
    queue->to_device(x, sent.data(), sent.size());
    queue->replay(graph);
    queue->to_host(got.data(), y, got.size());
    CHECK(same_bits(got, sent));
  }
}

TEST_CASE("what cannot be in a graph is refused by name, and the device still works") {
  const auto queue = new_queue();
  float value = 3;
  float* const at = queue->allocate(1);
  Event event = queue->new_event();
  const auto says = [&](const char* what, const std::function<void()>& work) {
    CHECK(refusal(*queue, work) ==
          std::string(what) + " cannot be in a graph: only kernels, products and clears can");
  };
  says("an allocation", [&] { (void)queue->allocate(1); });
  says("a copy to the device", [&] { queue->to_device(at, &value, 1); });
  says("a copy to the device", [&] { queue->to_device_after(event, at, &value, 1); });
  says("a copy to the host", [&] { queue->to_host(&value, at, 1); });
  says("a copy to the host", [&] { queue->to_host_after(event, &value, at, 1); });
  says("a wait of the host", [&] { queue->wait(); });
  says("a wait of the host", [&] { queue->wait(event); });
  says("a wait of the host", [&] { queue->release(at); });
  says("an event", [&] { queue->record(event); });
  says("a graph", [&] { (void)queue->graph_of([] {}); });
  queue->to_device(at, &value, 1);
  queue->launch(Add<float>{{1}, at, at});
  queue->to_host(&value, at, 1);
  CHECK(value == 6);
}

TEST_CASE("a module's own refusal is a message, too") {
  dttrain_answer answer{};
  dttrain_context* const context = host().open(0, &answer);
  REQUIRE(host().begin_graph(context) == nullptr);
  void* at = nullptr;
  float value = 0;
  CHECK(host().allocate(context, 8, &at) != nullptr);
  CHECK(host().to_device(context, &value, &value, 4) != nullptr);
  CHECK(host().wait(context) != nullptr);
  CHECK(host().begin_graph(context) != nullptr);
  dttrain_graph* graph = nullptr;
  CHECK(host().end_graph(context, &graph) == nullptr);
  host().free_graph(context, graph);
  CHECK(host().end_graph(context, &graph) != nullptr);
  host().close(context);
}

TEST_CASE("where no graph can be made, it is said once and passes are enqueued piece by piece") {
  dttrain_device table = host();
  table.end_graph = [](dttrain_context* context, dttrain_graph** graph) -> const char* {
    (void)host().end_graph(context, graph);
    host().free_graph(context, *graph);
    return "not of this";
  };
  const Step step;
  std::vector<std::string> messages;
  const auto device = device_of(step, table, &messages);
  Training training(step, *device);
  for (std::uint64_t number = 0; number < 3; ++number) training.make(number);
  CHECK(messages ==
        std::vector<std::string>{"the device makes no graph of the forward pass: not of this"});
  const auto other = device_of(step, host());
  Training expected(step, *other);
  for (std::uint64_t number = 0; number < 3; ++number) expected.make(number);
  CHECK(same_bits(training.all(), expected.all()));
}

TEST_CASE("once a training has its weights it allocates nothing, and has said how much it has") {
  const Step step;
  const dttrain_device table = watched_table();
  const auto device = device_of(step, table);
  Training training(step, *device);
  const std::size_t before = g_calls.allocations;
  CHECK(device->device_bytes() == g_calls.bytes);
  for (std::uint64_t number = 0; number < 5; ++number) {
    training.make(number);
    training.evaluate(5);
  }
  CHECK(g_calls.allocations == before);
  CHECK(device->device_bytes() == g_calls.bytes);
}

TEST_CASE("phases are timed by the device's clock, and follow each other") {
  const Step step;
  const auto device = step.device();
  Training training(step, *device);
  const auto begin = Stretch::Clock::now();
  training.make(0);
  const auto end = Stretch::Clock::now();
  const std::vector<Stretch>& all = training.timeline().track(0).stretches();
  REQUIRE(all.size() == 3 * k_shards);
  constexpr Phase k_order[] = {Phase::data, Phase::forward, Phase::backward};
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].phase == k_order[i % 3]);
    CHECK(all[i].begin <= all[i].end);
    CHECK(all[i].end <= end);
    CHECK(begin <= all[i].begin);
    if (i > 0) CHECK(all[i - 1].end <= all[i].begin);
  }
  const PhaseSeconds seconds = phase_seconds(training.timeline());
  CHECK(seconds[static_cast<std::size_t>(Phase::backward)] >
        seconds[static_cast<std::size_t>(Phase::data)]);
}
