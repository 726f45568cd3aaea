// SPDX-License-Identifier: Apache-2.0
// A folder of checkpoints for tests, and states to save in it.
#pragma once

#include "core/base/files/files.hpp"
#include "core/train/checkpoint/checkpoint_store.hpp"
#include "core/train/data/sampler.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/train/cnn2.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace dts::train {

inline const Fingerprint k_config{{"model", "cnn2"}, {"seed", "1"}};

inline State state_at(std::uint64_t step) {
  State state(layout());
  initial_weights(layout(), step, state.weights.data());
  initial_weights(layout(), step + 1000, state.momentum.data());
  initial_statistics(layout(), state.running.data());
  state.step = step;
  return state;
}

// Writes the files of one checkpoint, as the ranks of a training would, and returns its manifest.
inline Manifest stage(const CheckpointStore& store,
                      const State& state,
                      int parts,
                      const Fingerprint& config = k_config) {
  const std::string folder = store.staging() + "/" + checkpoint_name(state.step);
  Manifest manifest{state.step, state.step * 256, 1, digest(state), {}, config};
  manifest.skipped = state.skipped;
  // Not REQUIRE: a later attempt may have removed the folder.
  if (!make_folders(folder)) return manifest;
  for (int part = 0; part < parts; ++part) {
    Snapshot snapshot(layout(), parts, part);
    snapshot.take(state);
    if (auto file = snapshot.write(folder + "/" + part_name(parts, part)))
      manifest.files.push_back(*file);
  }
  return manifest;
}

// As ranks do together: loads the newest checkpoint that also has the right digest.
inline Result<Loaded> load_newest(CheckpointStore& store,
                                  const Fingerprint& config,
                                  const Fingerprint& numerics,
                                  State& state) {
  for (;;) {
    auto found = store.find_newest(config, numerics, [&](const std::string& name) {
      return read_checkpoint(store.folder() + "/" + name, layout(), nullptr);
    });
    if (!found || found->name.empty()) return found;
    const std::string folder = store.folder() + "/" + found->name;
    // In two runs, of which the first ends within a row.
    const std::size_t all = layout().parameter_floats;
    const auto read = read_runs(folder, layout(), {{0, all / 3}, {all / 3, all}}, state);
    if (!read) return tl::unexpected(read.error());
    if (digest(state) == found->digest) return found;
    store.refuse(*found, digest(state));
  }
}

struct Store : dts::tests::TemporaryFolder {
  StoreOptions options{path, 1, 3};
  Fingerprint numerics;  // of the ranks that save and load

  Result<Commit> try_save(const State& state,
                          int parts = 1,
                          const Fingerprint& config = k_config) const {
    CheckpointStore store(options, layout());
    auto taken = store.take_over();
    if (!taken || !taken->refusal.empty()) return taken;
    Manifest manifest = stage(store, state, parts, config);
    manifest.numerics = numerics;
    return store.commit(manifest);
  }

  Commit save(std::uint64_t step, int parts = 1) const {
    const auto commit = try_save(state_at(step), parts);
    REQUIRE(commit);
    return *commit;
  }

  Result<Loaded> try_load(State& state, const Fingerprint& config = k_config) const {
    CheckpointStore store(options, layout());
    REQUIRE(store.take_over());
    return load_newest(store, config, numerics, state);
  }

  // Returns the loaded step, or 0 if there is none.
  std::uint64_t load(Loaded* report = nullptr) const {
    State state(layout());
    const auto loaded = try_load(state);
    REQUIRE(loaded);
    if (report != nullptr) *report = *loaded;
    if (loaded->name.empty()) return 0;
    CHECK(digest(state) == digest(state_at(state.step)));
    return state.step;
  }

  [[nodiscard]] std::string folder_of(std::uint64_t step) const {
    return path + "/" + checkpoint_name(step);
  }

  [[nodiscard]] std::string state_path(std::uint64_t step) const {
    return folder_of(step) + "/state.safetensors";
  }
};

}  // namespace dts::train
