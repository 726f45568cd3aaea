// SPDX-License-Identifier: Apache-2.0
// Measurements of a training, and their output for other programs.
#include "core/train/models/model_table.hpp"
#include "core/train/telemetry/noise_scale.hpp"
#include "core/train/telemetry/progress.hpp"
#include "core/train/telemetry/tensorboard.hpp"
#include "core/train/telemetry/trace.hpp"
#include "core/train/timing/timeline.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace dts::train;
using namespace std::chrono_literals;

namespace {

constexpr Stretch::Clock::time_point k_zero{};

double of(const PhaseSeconds& seconds, Phase phase) {
  return seconds[static_cast<std::size_t>(phase)];
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr const char* k_digits = "0123456789abcdef";
    text += k_digits[static_cast<unsigned char>(byte) >> 4U];
    text += k_digits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

}  // namespace

TEST_CASE("phases are those of the slowest thread, without what interrupts them") {
  Timeline timeline(2);
  timeline.track(0).add(Phase::forward, k_zero, k_zero + 10ms);
  timeline.track(0).add(Phase::backward, k_zero + 10ms, k_zero + 30ms);
  timeline.track(1).add(Phase::forward, k_zero, k_zero + 15ms);
  timeline.track(1).add(Phase::backward, k_zero + 15ms, k_zero + 35ms);
  {
    const Timed reducing(timeline.track(0), Phase::reduce);
    const auto now = Stretch::Clock::now();
    timeline.track(0).add(Phase::communication, now, now + 2ms, "gather");
  }
  timeline.track(0).add(Phase::communication, k_zero + 50ms, k_zero + 51ms);
  const PhaseSeconds seconds = phase_seconds(timeline);
  CHECK(of(seconds, Phase::forward) == doctest::Approx(0.015));
  CHECK(of(seconds, Phase::backward) == doctest::Approx(0.020));
  CHECK(of(seconds, Phase::communication) == doctest::Approx(0.003));
  CHECK(of(seconds, Phase::reduce) < 0);  // its interruption is longer than the phase itself
  CHECK(of(seconds, Phase::optimizer) == 0);
  timeline.clear();
  CHECK(of(phase_seconds(timeline), Phase::forward) == 0);
}

TEST_CASE("a stopwatch adds phases one after the other, and nothing without a track") {
  Track track;
  Stopwatch watch(&track);
  watch.lap(Phase::data);
  watch.lap(Phase::forward);
  REQUIRE(track.stretches().size() == 2);
  CHECK(track.stretches()[0].end == track.stretches()[1].begin);
  Stopwatch(nullptr).lap(Phase::data);
}

TEST_CASE("operations of a sample are those of its matrices, three times over") {
  const auto flops = [](const char* words) {
    const auto model = make_model(words);
    REQUIRE(model);
    return model->flops;
  };
  const double conv1 = 2.0 * 9 * 16 * 28 * 28;
  const double others = 2.0 * 9 * 16 * 32 * 14 * 14 + 2.0 * 1568 * 128 + 2.0 * 128 * 10;
  CHECK(flops("cnn2") == 2 * conv1 + 3 * others);
  const double stages = 9.0 * 784 * (6 * 16 * 16) + 9.0 * 196 * (16 * 32 + 5 * 32 * 32) +
                        9.0 * 49 * (32 * 64 + 5 * 64 * 64);
  CHECK(flops("resnet:20") == 2 * 2 * 9.0 * 784 * 16 + 3 * 2 * (stages + 64 * 10));
  CHECK(flops("mlp,hidden_size=32,num_hidden_layers=2") ==
        2 * 2.0 * 784 * 32 + 3 * 2.0 * (32 * 32 + 32 * 10));
  // 12 width^2 per layer, plus the tied head; positions are only looked up.
  const double n = 4 * 12.0 * 128 * 128 + 256.0 * 128;
  CHECK(flops("gpt2:char-mini") == 64 * (6 * n + 12.0 * 4 * 128 * 64));
  // An untied table of tokens is only looked up; a tied one is also the head.
  const double layer = 2.0 * 128 * 128 + 2.0 * 64 * 128 + 3.0 * 384 * 128;
  const double llama = 64 * (6 * (4 * layer + 256.0 * 128) + 12.0 * 4 * 128 * 64);
  CHECK(flops("llama:char-mini") == llama);
  CHECK(flops("llama:char-mini,tie_word_embeddings=1") == llama);
}

TEST_CASE("the noise scale is found from two sizes of batch") {
  // Gradients with |G|^2 = 4 and a covariance of trace 48, over 32 samples and 8 shards of 4:
  // E|g|^2 = |G|^2 + trace / batch.
  const double of_step = 4 + 48.0 / 32;
  const double of_shard = 4 + 48.0 / 4;
  const auto noise = estimate_noise({32, 8, of_step, 8 * of_shard / 64});
  REQUIRE(noise);
  CHECK(noise->signal == doctest::Approx(4));
  CHECK(noise->variance == doctest::Approx(48));
  NoiseScale scale;
  CHECK(!scale.value());
  for (int i = 0; i < 3; ++i) scale.add(*noise);
  scale.add({INFINITY, -INFINITY});
  CHECK(scale.value().value() == doctest::Approx(12));
  for (int i = 0; i < 100; ++i) scale.add({-1, 1});
  CHECK(!scale.value());
  CHECK(!estimate_noise({32, 1, 1, 1}));
}

TEST_CASE("records of TensorBoard have the checksums and the wire format of TFRecord") {
  using namespace tensorboard;
  CHECK(crc32c("123456789") == 0xE3069283);            // the check value of the catalogue of CRCs
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AA);  // RFC 3720, appendix B.4
  const std::string version = version_record(1.5);
  // Length 26; 1: 1.5, 2: 0, 3: "brain.Event:2".
  CHECK(hex(version.substr(0, 8)) == "1a00000000000000");
  CHECK(hex(version.substr(12, 26)) ==
        "09000000000000f83f1000"
        "1a0d" +
            hex("brain.Event:2"));
  CHECK(version.size() == 12 + 26 + 4);
  const std::string scalars = scalars_record(2, 300, {{"a", 0.5}});
  // 5: {1: {1: "a", 2: 0.5}}
  CHECK(hex(scalars.substr(12, scalars.size() - 16)) ==
        "0900000000000000"
        "40"
        "10ac02"
        "2a0a"
        "0a08"
        "0a0161"
        "150000003f");
  const std::string start = start_record(2, 7);
  CHECK(hex(start.substr(12, start.size() - 16)) ==
        "0900000000000000"
        "40"
        "1007"
        "3a02"
        "0801");
  CHECK(file_name(1795523784.25, "host") == "events.out.tfevents.1795523784.250000.host");
}

TEST_CASE("a trace is JSON that has each stretch, and ends after its steps") {
  Timeline timeline(2);
  timeline.track(0).add(Phase::forward, k_zero + 1us, k_zero + 3us);
  timeline.track(1).add(Phase::forward, k_zero + 2us, k_zero + 4us);
  timeline.track(0).add(Phase::communication, k_zero + 4us, k_zero + 5us, "gather");
  timeline.track(0).add(Phase::optimizer, k_zero + 4us, k_zero + 6us);
  timeline.track(0).add(Phase::save, k_zero + 7us, k_zero + 9us);
  Trace trace(3, 2, k_zero);
  trace.add(timeline, 11);
  CHECK(!trace.is_full());
  trace.add(timeline, 12);
  CHECK(trace.is_full());
  const std::string events = trace.events();
  trace.add(timeline, 13);
  CHECK(trace.events() == events);
  const auto file = nlohmann::json::parse(trace_file({"", events}));
  const auto& all = file["traceEvents"];
  CHECK(all.size() == 2 * 6 + 2);
  CHECK(all[0] ==
        nlohmann::json::parse(
            R"({"name":"forward","cat":"forward","ph":"X","ts":1,"dur":2,"pid":3,"tid":0})"));
  CHECK(all[1]["name"] == "gather");
  CHECK(all[1]["cat"] == "communication");
  CHECK(all[5]["name"] == "step 11");
  CHECK(all[5]["ts"] == 1);
  CHECK(all[5]["dur"] == 5);
  CHECK(nlohmann::json::parse(trace_file({}))["traceEvents"].empty());
}

TEST_CASE("the progress line tells the time that is left, and fits") {
  CHECK(progress_line({100, 150, 1000, 25}, "loss 2", 80) ==
        "step 150/1000  15 %  loss 2  0:07:05 left");
  CHECK(progress_line({0, 1, 100000, 3.6}, "x", 80) == "step 1/100000  0 %  x  99:59:56 left");
  CHECK(progress_line({5, 5, 5, 0}, "x", 80) == "step 5/5  100 %  x  0:00:00 left");
  CHECK(progress_line({100, 150, 1000, 25}, "loss 2", 8) == "step 150");
}
