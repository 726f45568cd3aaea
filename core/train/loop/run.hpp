// SPDX-License-Identifier: Apache-2.0
// One rank's training run: owns its parts and makes their common decisions. trainer.hpp is its
// interface.
#pragma once

#include "core/base/files/beat_page.hpp"
#include "core/train/accelerator/dttrain_device.h"
#include "core/train/backend/backend.hpp"
#include "core/train/comm/comm.hpp"
#include "core/train/data/shared_samples.hpp"
#include "core/train/loop/agree_on_error.hpp"
#include "core/train/loop/checkpoints.hpp"
#include "core/train/loop/device_places.hpp"
#include "core/train/options/options.hpp"
#include "core/train/rehearsal/rehearsal.hpp"
#include "core/train/telemetry/gpu_health.hpp"
#include "core/train/telemetry/report.hpp"
#include "core/train/telemetry/trace.hpp"
#include "core/train/timing/timeline.hpp"
#include "core/train/timing/tuner.hpp"
#include "core/train/update/audit.hpp"
#include "core/train/update/sharded_update.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dts::train {

namespace accelerator {
struct OpenedDevice;
class DeviceSums;
}  // namespace accelerator

// The name by which dtsubmit knows this node.
[[nodiscard]] std::string node_name();

// Not thread-safe. All member functions except the const ones are collective.
class Run {
 public:
  Run(Comm& comm, const Options& options);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  ~Run();

  // Returns the exit code, which is the same on every rank.
  [[nodiscard]] int run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Next { step, save, stop, fail, not_finite, damaged };

  int agree_on_error(const Result<void>& mine, std::optional<int> code = {}) {
    return train::agree_on_error(comm_, mine, code);
  }

  // run_set_up.cpp:
  int prepare();
  int agree(InstructionSet own, InstructionSet lowest);
  int agree_on_precision(InstructionSet own);
  int open_files();
  int resume();
  int rehearse();
  [[nodiscard]] Result<SharedSamples> find_samples();
  [[nodiscard]] Checkpoints::Hooks hooks();
  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] Result<void> check_batch() const;
  [[nodiscard]] Fingerprint fingerprint() const;
  void add_optimization(Fingerprint& fingerprint) const;
  [[nodiscard]] Fingerprint agreed_fields() const;

  // run_device.cpp:
  int open_device();
  [[nodiscard]] std::size_t own_floats() const;
  [[nodiscard]] Result<void> make_backend();
  [[nodiscard]] std::size_t device_memory();

  // run_devices.cpp:
  [[nodiscard]] Result<void> place_devices(const accelerator::OpenedDevice& mine);
  void look_at_devices(const std::vector<DevicePlace>& all);
  [[nodiscard]] double measured_peak(int device) const;
  void report_devices();
  void report_slow_products();

  // run_exchange.cpp:
  int link_devices();
  int link_devices_by(const std::string& library);
  [[nodiscard]] Result<std::string> choose_link();
  [[nodiscard]] Result<std::string> find_link() const;

  // trainer.cpp:
  int loop();
  Next step();
  Next update(const float* tail, Clock::time_point start);
  ShardedUpdate::Ended apply(double lr);
  void report_step(const float* tail, double lr, double seconds);
  int after(Next next);
  void evaluate();
  int stop();
  int finish();

  // run_saves.cpp:
  int save();
  bool distribute_state(Snapshot* saved);
  bool has_digest();

  // run_async.cpp:
  class Asynchrony;
  void begin_asynchrony();
  Next stretch();
  void amend(StepEvent& event, const float* tail) const;
  [[nodiscard]] std::optional<StartEvent::Asynchronous> asynchronous() const;

  // run_buckets.cpp:
  BucketScheme first_scheme();
  [[nodiscard]] ChunkUpdate* accelerated();
  void make_update(const BucketScheme& way);
  void send_in_rounds();
  void make_window(int threads);
  [[nodiscard]] std::vector<Span> runs() const;
  Partials compute(const StepInput& input);
  int tune(double seconds);

  // run_trace.cpp:
  void begin_trace();
  int trace_step();
  int write_trace();

  // run_faults.cpp:
  Next skip_step(const std::string& what);
  bool passes(const Audit& audit, const StepInput& input);
  std::string locate(const std::string& what);
  int stop_not_finite();
  int stop_damaged();

  [[nodiscard]] StepInput input() const;
  [[nodiscard]] bool evaluates_now() const;
  [[nodiscard]] bool save_is_due() const;
  void inject();
  void set_flags(float* tail) const;
  void delay() const;

  Comm& comm_;
  Options options_;
  const Model& model_;
  Layout layout_;  // the model's, plus ballast and the optimiser's moments
  int stage_;      // of ZeRO; 1 if there is only one rank, which has nothing to divide
  State state_;
  std::unique_ptr<Rehearsal> rehearsal_;  // nullptr unless this is a rehearsal
  Report report_;
  InstructionSet instruction_set_ = InstructionSet::portable;
  Bf16Instructions bf16_ = Bf16Instructions::none;
  Fingerprint numerics_;
  SharedSamples samples_;
  std::unique_ptr<accelerator::OpenedDevice> device_;  // nullptr: the processor computes
  std::string devices_;                                // of all ranks, as JSON
  Peaks peaks_;                                        // of all ranks
  std::optional<GpuMonitor> monitor_;                  // if there is a device
  std::uint64_t throttled_ = 0;                        // reasons that were already reported
  bool shares_device_ = false;                         // whether any ranks share a device
  std::unique_ptr<Backend> backend_;
  accelerator::DeviceSums* device_sums_ = nullptr;  // backend_, if a device computes
  int slow_products_ = -1;                          // that were reported; -1: not asked yet
  std::string exchange_;                            // way between devices, as JSON; empty: none
  std::unique_ptr<ShardedUpdate> update_;
  std::optional<Tuner> tuner_;              // while it tries settings
  std::shared_ptr<Asynchrony> asynchrony_;  // nullptr: synchronous
  std::optional<Window> window_;            // of the weights, in stage 3
  GradientBuckets gradient_buckets_;  // empty: nothing is handed over before all sums are complete
  Schedule schedule_;
  std::optional<BeatPage> beat_;  // absent if dtsubmit did not start this program
  Checkpoints checkpoints_;
  bool ranks_write_ = false;  // whether any was writing a checkpoint at the last step
  Timeline timeline_;         // of the current step
  double saving_ = 0;         // seconds since the last step
  std::optional<Trace> trace_;
  std::uint64_t begun_ = 0;  // number of the current step
  std::uint64_t steps_per_epoch_ = 0;
  std::uint64_t saved_step_ = 0;
  std::uint64_t digest_ = 0;  // of the state after step digest_step_
  std::optional<std::uint64_t> digest_step_;
  Clock::time_point saved_at_;
  std::string not_finite_;     // what and where
  std::vector<Blame> blames_;  // what an audit found
  double accuracy_ = 0;
};

}  // namespace dts::train
