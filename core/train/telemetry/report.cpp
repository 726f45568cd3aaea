// SPDX-License-Identifier: Apache-2.0
// Events as JSON lines and as text.
#include "core/train/telemetry/report.hpp"

#include "core/base/hash.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/units.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdio>

namespace dts::train {
namespace {

constexpr std::uint64_t k_print_every = 50;  // steps

// JSON has no NaN: such a value becomes a string, "nan", "inf" or "-inf".
std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : fmt::format("\"{}\"", value);
}

std::string root_field(std::uint64_t root) {
  return root == 0 ? "" : fmt::format(R"(,"root":"{}")", to_hex(root));
}

void say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

void print_error(const Error& error, int rank) {
  const std::string who = rank < 0 ? "dttrain" : fmt::format("dttrain: rank {}", rank);
  const std::string help = error.hint.empty() ? "" : fmt::format("  help: {}\n", error.hint);
  tell("{}: {}\n{}", who, error.message, help);
}

void Report::event(const char* name, std::uint64_t step, const std::string& fields) {
  metrics_.write(
      fmt::format(R"("event":"{}","attempt":{},"step":{},{})", name, attempt_, step, fields));
}

void Report::resumed(const Loaded& loaded) const {
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
  tells_loss_ = e.reads_tokens;
  event(
      "start",
      e.step,
      fmt::format(
          R"("time":"{}","total":{},"world_size":{},"shards":{},"threads":{},"batch":{},"instruction_set":"{}")",
          format_utc(std::chrono::system_clock::now()),
          e.total,
          e.world_size,
          e.shards,
          e.threads,
          e.batch,
          e.instruction_set));
  say(fmt::format("attempt {}: {} x {}, {}, batch {}, steps {} to {}\n",
                  attempt_,
                  counted(e.world_size, "rank"),
                  counted(e.threads, "thread"),
                  counted(e.shards, "shard"),
                  e.batch,
                  e.step,
                  e.total));
}

void Report::step(const StepEvent& e) {
  const auto rate = [&](double count) { return e.seconds > 0 ? count / e.seconds : 0; };
  const std::string tokens =
      e.tokens > 0 ? fmt::format(R"("tokens_per_s":{},)", number(rate(e.tokens))) : "";
  event(
      "step",
      e.step,
      fmt::format(
          R"("loss":{},"accuracy":{},"lr":{},"gradient_norm":{},"samples_per_s":{},{}"seconds":{}{})",
          number(e.loss),
          number(e.accuracy),
          number(e.lr),
          number(e.gradient_norm),
          number(rate(e.samples)),
          tokens,
          number(e.seconds),
          root_field(e.root)));
  if (e.step % k_print_every == 0)
    say(fmt::format("step {:>6}/{}  loss {:.4f}  {:.0f} {}/s\n",
                    e.step,
                    e.total,
                    e.loss,
                    rate(e.tokens > 0 ? e.tokens : e.samples),
                    e.tokens > 0 ? "tokens" : "images"));
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

void Report::not_finite(std::uint64_t step, const std::string& what) {
  if (active_) event("not_finite", step, fmt::format(R"("what":{})", json_string(what)));
}

void Report::corrupted(std::uint64_t step, int rank, const std::string& what) {
  if (active_)
    event("corruption", step, fmt::format(R"("rank":{},"what":{})", rank, json_string(what)));
}

void Report::evaluated(std::uint64_t step, double accuracy, double loss) {
  if (!active_) return;
  event(
      "evaluate", step, fmt::format(R"("accuracy":{},"loss":{})", number(accuracy), number(loss)));
  say(fmt::format("step {:>6}  test accuracy {:.2f} %{}\n",
                  step,
                  100 * accuracy,
                  tells_loss_ ? fmt::format(", loss {:.4f}", loss) : ""));
}

void Report::rehearses(const std::string& lines) const {
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
