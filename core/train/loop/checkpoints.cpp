// SPDX-License-Identifier: Apache-2.0
// The phases of a save, and loading.
#include "core/train/loop/checkpoints.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/files/files.hpp"
#include "core/train/hub/weights.hpp"
#include "core/train/loop/agree_on_error.hpp"
#include "core/train/timing/timeline.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace dts::train {
namespace {

template <class T>
bool is_running(const std::future<T>& task) {
  return task.valid() && task.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

StoreOptions store_options(const Options& options) {
  return {options.checkpoint_dir,
          options.attempt,
          static_cast<unsigned>(options.keep),
          options.begin_anew};
}

// Copies rank 0's text to all ranks.
void broadcast_text(Comm& comm, std::string& text) {
  std::uint64_t length = text.size();
  comm.broadcast(&length, sizeof length);
  text.resize(length);
  comm.broadcast(text.data(), length);
}

}  // namespace

Checkpoints::Checkpoints(Comm& comm, const Options& options, const Layout& layout, Hooks hooks)
    : comm_(comm),
      options_(options),
      layout_(layout),
      hooks_(std::move(hooks)),
      store_(store_options(options), layout),
      snapshot_(layout, comm.size(), comm.rank()) {}

Result<void> Checkpoints::take_over(int& code) {
  DTS_TRY(make_folders(options_.checkpoint_dir));
  DTS_ASSIGN(const Commit taken, store_.take_over());
  staging_ = store_.staging();
  if (taken.refusal.empty()) return {};
  code = k_no_restart;
  return fail(Errc::invalid, taken.refusal);
}

int Checkpoints::open(const Fingerprint& config, const Fingerprint& numerics) {
  if (!active()) return 0;
  manifest_.config = config;
  manifest_.numerics = numerics;
  manifest_.attempt = options_.attempt;
  int code = exit_code(Errc::io);
  Result<void> opened;
  if (comm_.rank() == 0) opened = take_over(code);
  if (const int agreed = agree_on_error(comm_, opened, code); agreed != 0) return agreed;
  broadcast_text(comm_, staging_);
  if (!exists(staging_))
    opened = fail(Errc::io,
                  "this rank does not see rank 0's folder " + staging_,
                  "put the checkpoints on a file system that all nodes share");
  return agree_on_error(comm_, opened);
}

std::string Checkpoints::path_of(const std::string& name) const {
  return options_.checkpoint_dir + "/" + name;
}

// Returns the result for this rank's share, and whether all ranks found theirs intact.
std::pair<Result<Manifest>, bool> Checkpoints::check_together(const std::string& name) {
  auto mine = check_share(path_of(name), layout_, comm_.rank(), comm_.size());
  const bool all_whole = comm_.agree(mine ? 0 : exit_code(mine.error().code)).code == 0;
  return {std::move(mine), all_whole};
}

// Checks the checkpoints that rank 0 names, one after another. Returns this rank's result for the
// last one.
Result<void> Checkpoints::check_what_is_named() {
  Result<void> last;
  std::string name;
  for (broadcast_text(comm_, name); !name.empty(); broadcast_text(comm_, name)) {
    const Result<Manifest> mine = check_together(name).first;
    last = mine ? Result<void>()
                : fail(Errc::io,
                       fmt::format("this rank cannot read what rank 0 reads of {}: {}",
                                   path_of(name),
                                   mine.error().message),
                       "look at the file system and the memory of this rank's node");
  }
  return last;
}

// Rank 0 names one checkpoint after another, which all ranks check, until one is intact.
Result<void> Checkpoints::find() {
  if (comm_.rank() != 0) return check_what_is_named();
  std::string name;
  auto found = store_.find_newest(
      manifest_.config, manifest_.numerics, [&](const std::string& next) -> Result<Manifest> {
        name = next;
        broadcast_text(comm_, name);
        auto [mine, all_whole] = check_together(name);
        if (all_whole) return std::move(mine);
        return read_checkpoint(path_of(name), layout_, nullptr);  // says what is wrong
      });
  name.clear();
  broadcast_text(comm_, name);
  if (!found) return tl::unexpected(found.error());
  loaded_ = *std::move(found);
  return {};
}

int Checkpoints::load(State& state) {
  if (state.momentum.size() == 0) state.momentum = Buffer::sparse(layout_.moment_floats());
  Result<void> loaded;
  if (active()) {
    loaded = find();
    broadcast_text(comm_, loaded_.name);
    // If rank 0 refused the checkpoint, it does not matter what this rank found.
    if (comm_.rank() != 0 && !has_loaded()) loaded = {};
    if (const int agreed = agree_on_error(comm_, loaded); agreed != 0) return agreed;
  }
  const std::vector<Range> own = hooks_.own();
  if (has_loaded()) {
    const std::string folder = path_of(loaded_.name);
    if (auto read = read_runs(folder, layout_, own, state); !read)
      loaded = tl::unexpected(std::move(read).error().during(folder));
  } else {
    initialise(layout_, options_.seed, state, hooks_.on_weights);
    if (!options_.from.empty())
      loaded = read_hub_weights(options_.from, *options_.model, own, state.weights.data());
  }
  return agree_on_error(comm_, loaded);
}

bool Checkpoints::is_right(std::uint64_t digest, Report& report) {
  if (!active()) return true;
  bool right = true;
  if (comm_.rank() == 0) {
    right = !has_loaded() || digest == loaded_.digest;
    if (right)
      report.resumed(loaded_);
    else
      store_.refuse(loaded_, digest);
  }
  comm_.broadcast(&right, sizeof right);
  return right;
}

int Checkpoints::start(const State& state,
                       const std::function<std::optional<std::uint64_t>(Snapshot&)>& gather) {
  if (!active()) return 0;
  const Clock::time_point now = Clock::now();
  if (const int code = drain(); code != 0) return code;
  requested_ = now;
  const double waited = seconds_since(requested_);
  snapshot_.take(state);
  const std::optional<std::uint64_t> digest = gather(snapshot_);
  if (!digest) return 0;
  event_ = {state.step, 0, waited, 0, *digest};
  manifest_.step = state.step;
  manifest_.samples_seen = state.step * options_.batch;
  manifest_.digest = *digest;
  manifest_.skipped = state.skipped;
  written_ = std::async(std::launch::async, [this, step = state.step] { return write(step); });
  phase_ = Phase::writing;
  event_.stalled = seconds_since(requested_);
  return 0;
}

Result<PartFile> Checkpoints::write(std::uint64_t step) const {
  const std::string folder = staging_ + "/" + checkpoint_name(step);
  if (comm_.rank() == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(options_.save_delay_ms));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail_errno("cannot create folder " + folder);
  if (hooks_.beside) DTS_TRY(hooks_.beside(folder, step));
  // Rank 0 syncs the folder when it adds the manifest.
  return snapshot_.write(folder + "/" + part_name(comm_.size(), comm_.rank()));
}

bool Checkpoints::busy() const {
  return is_running(written_) || is_running(committed_);
}

int Checkpoints::advance(bool ranks_busy) {
  return phase_ == Phase::idle || ranks_busy ? 0 : end_phase();
}

int Checkpoints::drain() {
  while (phase_ != Phase::idle)
    if (const int code = end_phase(); code != 0) return code;
  return 0;
}

int Checkpoints::finish() {
  finishing_ = Clock::now();
  const int code = drain();
  finishing_.reset();
  return code;
}

int Checkpoints::end_phase() {
  return phase_ == Phase::writing ? end_writing() : end_committing();
}

Result<void> Checkpoints::failure(const Error& error, int& code) const {
  if (const auto why = refusal(store_options(options_), staging_, &error); why && !why->empty()) {
    code = k_no_restart;
    return fail(Errc::invalid, *why);
  }
  return tl::unexpected(Error(error).during("cannot save " + checkpoint_name(manifest_.step)));
}

int Checkpoints::end_writing() {
  phase_ = Phase::idle;
  int code = exit_code(Errc::io);
  const auto file = written_.get();
  const Result<void> result = file ? Result<void>{} : failure(file.error(), code);
  if (const int agreed = agree_on_error(comm_, result, code); agreed != 0) return agreed;
  const auto bytes = comm_.gather(file->bytes);
  const auto hashes = comm_.gather(file->hash);
  if (comm_.rank() == 0) {
    manifest_.files.clear();
    for (std::size_t i = 0; i < bytes.size(); ++i)
      manifest_.files.push_back(
          {part_name(comm_.size(), static_cast<int>(i)), bytes[i], hashes[i]});
    committed_ = std::async(std::launch::async, [this] { return store_.commit(manifest_); });
  }
  phase_ = Phase::committing;
  return 0;
}

int Checkpoints::end_committing() {
  phase_ = Phase::idle;
  int code = exit_code(Errc::io);
  Result<void> result;
  if (comm_.rank() == 0) {
    const auto commit = committed_.get();
    if (!commit) {
      result = failure(commit.error(), code);
    } else if (!commit->refusal.empty()) {
      result = fail(Errc::invalid, commit->refusal);
      code = k_no_restart;
    }
  }
  if (const int agreed = agree_on_error(comm_, result, code); agreed != 0) return agreed;
  event_.seconds = seconds_since(requested_);
  if (finishing_) event_.stalled += seconds_since(*finishing_);
  hooks_.on_saved(event_);
  return 0;
}

}  // namespace dts::train
