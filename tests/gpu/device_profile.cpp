// SPDX-License-Identifier: Apache-2.0
// device_profile MODEL MICRO_BATCH SHARDS PRECISION [REPEATS]: where a training step
// spends its time. Each call of the module's table is timed by the device's own clock,
// minus the time of an empty call ("empty_call_s"), which clears one float. "floor_s" is
// the least time in which the device could do it, by its measured rates, for the bytes
// that the call must move and its operations. Prints a JSON object; exits with 77 if there
// is no device.
#include "core/train/bench/gpu/gpu.hpp"
#include "core/train/bench/gpu/gpu_step.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/models/model_table.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace {

using namespace dts::train;
using namespace dts::train::accelerator;

// All calls of one kind.
struct Part {
  int calls = 0;
  double seconds = 0;
  double bytes = 0;
  double operations = 0;
};

const dttrain_device* g_table = nullptr;
std::map<std::string, Part> g_parts;
double g_empty_call = 0;  // seconds

template <class Call>
const char* timed(dttrain_context* context, const std::string& name, const Call& call, Part part) {
  if (const char* const wrong = g_table->start_timer(context)) return wrong;
  if (const char* const wrong = call()) return wrong;
  const char* const wrong = g_table->stop_timer(context, &part.seconds);
  Part& all = g_parts[name];
  ++all.calls;
  all.seconds += std::max(0.0, part.seconds - g_empty_call);
  all.bytes += part.bytes;
  all.operations += part.operations;
  return wrong;
}

// The name of a kernel's type without namespaces, as "UpdateChunks<(UpdateRule)2>".
std::string name_of(const char* type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(type, nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? text.get() : type;
  for (const char* const outer : {"dts::train::accelerator::", "dts::train::"})
    for (std::size_t at = name.find(outer); at != std::string::npos; at = name.find(outer))
      name.erase(at, std::string(outer).size());
  return name;
}

const char* launch(dttrain_context* context, std::uint32_t number, const void* arguments) {
  std::string name = "?";
  Part part;
  Kernels::visit(number, arguments, [&](const auto& kernel) {
    name = name_of(typeid(kernel).name());
    kernel.accesses([&](const Access& one) { part.bytes += static_cast<double>(one.bytes); });
  });
  return timed(
      context, name, [&] { return g_table->launch(context, number, arguments); }, part);
}

const char* multiply(dttrain_context* context, const dttrain_product* p) {
  const double rows = p->rows, columns = p->columns, inner = p->inner;
  const double width = p->factors == DTTRAIN_BF16 ? 2 : 4;
  Part part;
  part.operations = 2 * rows * columns * inner * p->count;
  const double width_of_out = p->rounds != 0 ? 2 : 4;
  const int arrays = 1 + (p->plus != nullptr ? 1 : 0) + (p->before != nullptr ? 1 : 0);
  part.bytes =
      p->count * (width * inner * (rows + columns) + width_of_out * rows * columns * arrays);
  if (p->sums != nullptr)
    part.bytes += sizeof(float) *
                  static_cast<double>(Columnwise{p->rows, p->columns, p->sum_rows}.sums_of_runs());
  constexpr const char* k_curves[] = {"", ", GELU", ", gradient of GELU"};
  return timed(
      context,
      fmt::format(
          "product {}x{}x{} x {}{}", p->rows, p->columns, p->inner, p->count, k_curves[p->curve]),
      [&] { return g_table->multiply(context, p); },
      part);
}

const char* to_device(dttrain_context* context, void* to, const void* from, std::size_t bytes) {
  return timed(context,
               "copy to the device",
               [&] { return g_table->to_device(context, to, from, bytes); },
               {});
}

const char* to_host(dttrain_context* context, void* to, const void* from, std::size_t bytes) {
  return timed(
      context, "copy to the host", [&] { return g_table->to_host(context, to, from, bytes); }, {});
}

const char* clear(dttrain_context* context, void* at, std::size_t bytes) {
  Part part;
  part.bytes = static_cast<double>(bytes);
  return timed(
      context, "clear", [&] { return g_table->clear(context, at, bytes); }, part);
}

struct Settings {
  std::string model;
  int micro_batch = 1;
  int shards = 1;
  Precision precision = Precision::fp32;
  int repeats = 5;
};

// The device's rates, by key of `dttrain bench`.
std::map<std::string, double> rates_of_device(const DeviceModule& module) {
  constexpr std::size_t k_bytes = std::size_t{64} << 20;
  std::map<std::string, double> rates;
  std::vector<std::string> notes;
  bench::MeasuredGpu gpu(module, 0);
  const auto opened = gpu.open(k_bytes);
  const auto all = opened ? bench::rates_of(gpu, k_bytes, 1.0, notes)
                          : tl::unexpected<dts::Error>(opened.error());
  if (!all) throw DeviceError(all.error().message);
  for (const bench::Measure& one : *all) rates[one.key] = std::max(rates[one.key], one.value);
  return rates;
}

// The median time of a call that does almost nothing. Throws DeviceError.
double empty_call_seconds(const dttrain_device& table) {
  constexpr int k_calls = 100;
  dttrain_answer answer{};
  dttrain_context* const context = table.open(0, &answer);
  if (context == nullptr) throw DeviceError(answer.text);
  Queue queue(table, context);
  float* const one = queue.allocate(1);
  std::vector<double> calls;
  for (int i = -1; i < k_calls; ++i) {  // the first call creates the timer
    const double seconds = queue.seconds_of([&] { queue.clear(one, 1); });
    if (i >= 0) calls.push_back(seconds);
  }
  return dts::median(std::move(calls));
}

std::unique_ptr<DeviceSums> sums_on(const dttrain_device& table,
                                    const Model& model,
                                    const Settings& settings) {
  dttrain_answer answer{};
  dttrain_context* const context = table.open(0, &answer);
  if (context == nullptr) throw DeviceError(answer.text);
  auto made = DeviceSums::create(model,
                                 std::make_unique<Queue>(table, context),
                                 {.shards = settings.shards,
                                  .own_shards = settings.shards,
                                  .micro_batch = settings.micro_batch,
                                  .precision = settings.precision,
                                  .own_floats = model.layout.parameter_floats,
                                  .moments = bench::GpuStep::optimizer().moments.size()});
  if (!made) throw DeviceError(made.error().message);
  return std::move(*made);
}

// Seconds of a whole step, without timers in between.
double step_seconds(const DeviceModule& module, const Model& model, const Settings& settings) {
  const auto sums = sums_on(*module.table, model, settings);
  bench::GpuStep step(model, *sums, settings.shards, settings.micro_batch);
  std::vector<double> rounds;
  (void)step.run();
  for (int i = 0; i < settings.repeats; ++i) {
    const auto start = bench::Clock::now();
    (void)step.run();
    rounds.push_back(bench::seconds_since(start));
  }
  return dts::median(std::move(rounds));
}

void profile(const DeviceModule& module, const Model& model, const Settings& settings) {
  g_table = module.table;
  g_empty_call = empty_call_seconds(*module.table);
  static dttrain_device table = *module.table;
  table.launch = launch;
  table.multiply = multiply;
  table.to_device = to_device;
  table.to_host = to_host;
  table.clear = clear;
  table.begin_graph = nullptr;  // so that each piece is timed
  table.end_graph = nullptr;
  table.replay = nullptr;
  table.free_graph = nullptr;
  const auto sums = sums_on(table, model, settings);
  bench::GpuStep step(model, *sums, settings.shards, settings.micro_batch);
  (void)step.run();  // chooses algorithms
  g_parts.clear();
  for (int i = 0; i < settings.repeats; ++i) (void)step.run();
}

void print(const DeviceModule& module, const Model& model, const Settings& settings) {
  const auto rates = rates_of_device(module);
  const double whole = step_seconds(module, model, settings);
  profile(module, model, settings);
  const double peak = rates.at(settings.precision == Precision::bf16 ? "gpu_bf16" : "gpu_fp32");
  const double copies = rates.at("hbm");
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  double floors = 0, inside = 0;
  for (const auto& [name, all] : g_parts) {
    const double repeats = settings.repeats;
    const double seconds = all.seconds / repeats;
    const double floor = std::max(all.bytes / copies, all.operations / peak) / repeats;
    floors += floor;
    inside += seconds;
    parts.push_back({{"part", name},
                     {"calls", all.calls / repeats},
                     {"bytes", all.bytes / repeats},
                     {"flop", all.operations / repeats},
                     {"floor_s", floor},
                     {"seconds", seconds}});
  }
  const double samples = settings.shards * settings.micro_batch;
  const nlohmann::ordered_json all{{"model", settings.model},
                                   {"precision", to_string(settings.precision)},
                                   {"samples", samples},
                                   {"tokens", samples * model.reads.context},
                                   {"gemm_peak", peak},
                                   {"copy_rate", copies},
                                   {"model_flop", model.flops * samples},
                                   {"step_s", whole},
                                   {"empty_call_s", g_empty_call},
                                   {"parts_s", inside},
                                   {"floor_s", floors},
                                   {"parts", parts}};
  std::printf("%s\n", all.dump(1).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, int otherwise) {
    return argc > at ? std::max(1, std::atoi(argv[at])) : otherwise;
  };
  const Settings settings{argc > 1 ? argv[1] : "gpt2:124M",
                          number(2, 1),
                          number(3, 1),
                          precision_of(argc > 4 ? argv[4] : "bf16").value_or(Precision::bf16),
                          number(5, 5)};
  const auto module = load_device_module("cuda");
  const auto count = module ? count_devices(*module) : tl::unexpected<dts::Error>(module.error());
  if (!count) {
    std::printf("skipped: %s\n", count.error().message.c_str());
    return 77;
  }
  const auto model = make_model(settings.model);
  try {
    if (!model) throw DeviceError(model.error().message);
    print(*module, *model, settings);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "device_profile: %s\n", e.what());
    return 1;
  }
  return 0;
}
