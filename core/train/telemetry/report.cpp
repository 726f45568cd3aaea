// SPDX-License-Identifier: Apache-2.0
// Formats events as JSON lines and as text.
#include "core/train/telemetry/report.hpp"

#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/units.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace dts::train {
namespace {

constexpr std::uint64_t k_print_every = 50;  // steps

// JSON has no NaN: these values become strings, "nan", "inf" or "-inf".
std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : fmt::format("\"{}\"", value);
}

std::string root_field(std::uint64_t root) {
  return root == 0 ? "" : fmt::format(R"(,"root":"{}")", to_hex(root));
}

std::string peaks_field(const StartEvent& e) {
  const auto known = [](double peak) { return peak > 0 ? number(peak) : R"("unknown")"; };
  return fmt::format(R"(,"gemm_peak":{},"sheet_peak":{})", known(e.gemm_peak), known(e.sheet_peak));
}

// A JSON string with its quotes.
std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// "loss":2.3,"lr":0.1
std::string members(const tensorboard::Scalars& values) {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format(R"({}"{}":{})", text.empty() ? "" : ",", name, number(value));
  return text;
}

// The seconds of a step's phases.
tensorboard::Scalars phase_values(const PhaseSeconds& seconds) {
  tensorboard::Scalars values;
  for (std::size_t phase = 0; phase <= static_cast<std::size_t>(Phase::save); ++phase)
    values.emplace_back(to_string(static_cast<Phase>(phase)), seconds[phase]);
  return values;
}

void add(const char* group, const tensorboard::Scalars& values, tensorboard::Scalars& to) {
  for (const auto& [name, value] : values) to.emplace_back(group + name, value);
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

void print_error(const Error& error, int rank) {
  const std::string who = rank < 0 ? "dttrain" : fmt::format("dttrain: rank {}", rank);
  const std::string help = error.hint.empty() ? "" : fmt::format("  help: {}\n", error.hint);
  tell("{}: {}\n{}", who, error.message, help);
}

void Report::event(const char* name, std::uint64_t step, const std::string& fields) {
  metrics_.append(fmt::format(
      "{{\"event\":\"{}\",\"attempt\":{},\"step\":{},{}}}\n", name, attempt_, step, fields));
}

void Report::say(const std::string& line) {
  progress_.hide();
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
}

Result<void> Report::open_tensorboard(const std::string& folder) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  DTS_TRY(make_folders(folder));
  const double time = now();
  DTS_TRY(tensorboard_.open(
      fmt::format("{}/{}.{}", folder, tensorboard::file_name(time, host.data()), ::getpid())));
  tensorboard_.append(tensorboard::version_record(time));
  return tensorboard_.status();
}

void Report::resumed(const Loaded& loaded) {
  for (const std::string& refusal : loaded.refusals) tell("dttrain: checkpoint {}\n", refusal);
  if (!loaded.other_bits.empty())
    tell(
        "dttrain: warning: checkpoint {} {}: the weights will not be bit-identical to those "
        "of an undisturbed run\n",
        loaded.name,
        loaded.other_bits);
  if (!loaded.name.empty())
    say(fmt::format("resumed from checkpoint {}\n", loaded.name));
  else if (!loaded.refusals.empty())
    tell("dttrain: warning: all {} checkpoints are damaged: starting over at step 0\n",
         loaded.refusals.size());
}

void Report::started(const StartEvent& e) {
  if (!active_) return;
  start_ = e;
  tensorboard_.append(tensorboard::start_record(now(), e.step + 1));
  event(
      "start",
      e.step,
      fmt::format(
          R"("time":"{}","total":{},"world_size":{},"shards":{},"threads":{},"batch":{},"instruction_set":"{}","precision":"{}","device":"{}","hierarchy":"{}"{}{}{}{})",
          format_utc(std::chrono::system_clock::now()),
          e.total,
          e.world_size,
          e.shards,
          e.threads,
          e.batch,
          e.instruction_set,
          e.precision,
          e.device,
          e.is_node_first ? "node" : "flat",
          e.asynchronous ? fmt::format(R"(,"staleness":{})", e.asynchronous->staleness) : "",
          e.devices.empty()
              ? ""
              : fmt::format(R"(,"devices":{},"device_memory":{})", e.devices, e.device_memory),
          e.exchange.empty() ? "" : R"(,"exchange":)" + e.exchange,
          e.devices.empty() ? "" : peaks_field(e)));
  say(fmt::format("attempt {}: {} x {}{}, {}, batch {}, steps {} to {}\n",
                  attempt_,
                  counted(e.world_size, "rank"),
                  counted(e.threads, "thread"),
                  e.is_node_first ? " (node first)" : "",
                  counted(e.shards, "shard"),
                  e.batch,
                  e.step,
                  e.total));
  if (e.asynchronous)
    say(fmt::format("asynchronous: {}, staleness {}; bits depend on timing, runs do not repeat\n",
                    e.asynchronous->who,
                    e.asynchronous->staleness));
  progress_.begin(e.step, e.total);
}

Report::Values Report::values_of(const StepEvent& e) {
  const auto rate = [&](double count) { return e.seconds > 0 ? count / e.seconds : 0; };
  Values values{{"loss", e.loss},
                {"accuracy", e.accuracy},
                {"lr", e.lr},
                {"gradient_norm", e.gradient_norm},
                {"samples_per_s", rate(e.samples)}};
  if (e.tokens > 0) values.emplace_back("tokens_per_s", rate(e.tokens));
  if (start_.flops > 0) values.emplace_back("flop_per_s", rate(start_.flops));
  if (start_.peak > 0) values.emplace_back("peak_share", rate(start_.flops) / start_.peak);
  if (start_.gemm_peak > 0) values.emplace_back("mfu_gemm", rate(start_.flops) / start_.gemm_peak);
  if (start_.sheet_peak > 0)
    values.emplace_back("mfu_sheet", rate(start_.flops) / start_.sheet_peak);
  values.emplace_back("seconds", e.seconds);
  if (e.staleness) {
    values.emplace_back("staleness_mean", e.staleness->first);
    values.emplace_back("staleness_most", e.staleness->second);
  }
  const auto noise = estimate_noise({e.samples,
                                     static_cast<double>(start_.shards),
                                     e.gradient_norm * e.gradient_norm,
                                     e.shard_squares.value_or(0)});
  if (!e.shard_squares || !noise) return values;
  noise_scale_.add(*noise);
  values.emplace_back("gradient_signal", noise->signal);
  values.emplace_back("gradient_variance", noise->variance);
  if (const auto scale = noise_scale_.value()) values.emplace_back("noise_scale", *scale);
  return values;
}

void Report::step(const StepEvent& e) {
  const Values values = values_of(e);
  const Values phases = phase_values(e.phases);
  event(
      "step",
      e.step,
      fmt::format(R"({},"phases":{{{}}}{})", members(values), members(phases), root_field(e.root)));
  Values all;
  add("train/", values, all);
  add("phases/", phases, all);
  tensorboard_.append(tensorboard::scalars_record(now(), e.step, all));
  const double count = e.tokens > 0 ? e.tokens : e.samples;
  const std::string details = fmt::format("loss {:.4f}  {:.0f} {}/s",
                                          e.loss,
                                          e.seconds > 0 ? count / e.seconds : 0,
                                          e.tokens > 0 ? "tokens" : "images");
  if (e.step % k_print_every == 0)
    say(fmt::format("step {:>6}/{}  {}\n", e.step, e.total, details));
  progress_.show(e.step, details);
}

void Report::devices(std::uint64_t step, const std::string& healths) {
  if (active_) event("devices", step, R"("devices":)" + healths);
}

void Report::saved(const SaveEvent& e) {
  if (!active_) return;
  event("save",
        e.step,
        fmt::format(R"("seconds":{},"waited":{},"until_committed":{},"digest":"{}")",
                    number(e.stalled),
                    number(e.waited),
                    number(e.seconds),
                    to_hex(e.digest)));
}

void Report::skipped(std::uint64_t step,
                     const std::string& what,
                     std::uint64_t count,
                     std::uint64_t most) {
  if (!active_) return;
  event("skip", step, fmt::format(R"("what":{},"skipped":{})", json_string(what), count));
  say(fmt::format(
      "step {:>6}  skipped: {} is not finite ({} of at most {})\n", step, what, count, most));
}

void Report::tuned(std::uint64_t step, const std::string& table) {
  if (active_) say(fmt::format("step {:>6}  --bucket-size auto:\n{}", step, table));
}

void Report::not_finite(std::uint64_t step, const std::string& what) {
  progress_.hide();
  if (active_) event("not_finite", step, fmt::format(R"("what":{})", json_string(what)));
}

void Report::corrupted(std::uint64_t step, int rank, const std::string& what) {
  progress_.hide();
  if (active_)
    event("corruption", step, fmt::format(R"("rank":{},"what":{})", rank, json_string(what)));
}

void Report::evaluated(std::uint64_t step, double accuracy, double loss) {
  if (!active_) return;
  tensorboard_.append(tensorboard::scalars_record(
      now(), step, {{"validation/accuracy", accuracy}, {"validation/loss", loss}}));
  event(
      "evaluate", step, fmt::format(R"("accuracy":{},"loss":{})", number(accuracy), number(loss)));
  say(fmt::format("step {:>6}  test accuracy {:.2f} %{}\n",
                  step,
                  100 * accuracy,
                  start_.reads_tokens ? fmt::format(", loss {:.4f}", loss) : ""));
}

void Report::note(const std::string& lines) {
  if (active_) say(lines);
}

void Report::stopped(std::uint64_t step, const Digests& digests, bool saved) {
  if (!active_) return;
  event("stop",
        step,
        fmt::format(R"("digest":"{}"{})", to_hex(digests.whole), root_field(digests.root)));
  say(fmt::format("stopped after step {}{}, digest {}\n",
                  step,
                  saved ? ", checkpoint saved" : ", nothing saved (no --checkpoint-dir)",
                  to_hex(digests.whole)));
}

void Report::done(std::uint64_t step, double accuracy, const Digests& digests) {
  if (!active_) return;
  event("done",
        step,
        fmt::format(R"("accuracy":{},"digest":"{}"{})",
                    number(accuracy),
                    to_hex(digests.whole),
                    root_field(digests.root)));
  say(fmt::format("done: {} steps, test accuracy {:.2f} %, digest {}\n",
                  step,
                  100 * accuracy,
                  to_hex(digests.whole)));
}

}  // namespace dts::train
