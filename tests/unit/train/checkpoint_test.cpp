// SPDX-License-Identifier: Apache-2.0
// Checkpoints: round trip, damage, fall-back, fencing, pruning.
#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/train/checkpoint/checkpoint_store.hpp"
#include "core/train/data/sampler.hpp"
#include "tests/unit/train/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace dts;
using namespace dts::train;

namespace {

const Layout& layout() {
  static const Layout made = cnn2_layout();
  return made;
}

const Fingerprint k_config{{"model", "cnn2"}, {"seed", "1"}};

State state_at(std::uint64_t step) {
  State state(layout());
  initial_weights(layout(), step, state.weights.data());
  initial_weights(layout(), step + 1000, state.momentum.data());
  initial_statistics(layout(), state.running.data());
  state.step = step;
  return state;
}

struct Store : TemporaryFolder {
  StoreOptions options{path, 1, 3};

  Commit save(std::uint64_t step) const {
    const auto commit = save_checkpoint(options, layout(), state_at(step), step * 256, k_config);
    REQUIRE(commit);
    return *commit;
  }

  // The step loaded, 0 without one.
  std::uint64_t load(Loaded* report = nullptr) const {
    State state(layout());
    const auto loaded = load_newest_checkpoint(options, layout(), k_config, state);
    REQUIRE(loaded);
    if (report != nullptr) *report = *loaded;
    if (!loaded->name.empty()) CHECK(digest(state) == digest(state_at(state.step)));
    return state.step;
  }

  [[nodiscard]] std::string state_path(std::uint64_t step) const {
    return path + "/" + checkpoint_name(step) + "/" + k_state_file;
  }
};

std::string flipped(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  return bytes;
}

}  // namespace

TEST_CASE("a checkpoint comes back with the same bits") {
  const Store store;
  CHECK(store.load() == 0);
  store.save(7);
  CHECK(store.load() == 7);
}

TEST_CASE("the file does not depend on who wrote it and is a readable safetensors file") {
  const std::string bytes = encode_state(layout(), state_at(3));
  CHECK(bytes == encode_state(layout(), state_at(3)));
  CHECK(bytes.substr(8, 1) == "{");
  CHECK(bytes.find("\"model.conv1.weight\":{") != std::string::npos);
}

TEST_CASE(
    "a truncated or bit-flipped newest checkpoint is refused by name and the one before is used") {
  const Store store;
  store.save(10);
  store.save(20);
  const std::string whole = read_file(store.state_path(20)).value();
  Loaded report;
  SUBCASE("truncated") {
    REQUIRE(write_file(store.state_path(20), std::string_view(whole).substr(0, 1024)));
    CHECK(store.load(&report) == 10);
    REQUIRE(report.refusals.size() == 1);
    CHECK(report.refusals[0] ==
          "step-000000020 refused: state.safetensors: 1024 bytes, manifest says " +
              std::to_string(whole.size()));
  }
  SUBCASE("one bit in the middle") {
    REQUIRE(write_file(store.state_path(20), flipped(whole, whole.size() / 2)));
    CHECK(store.load(&report) == 10);
    REQUIRE(report.refusals.size() == 1);
    CHECK(report.refusals[0].starts_with("step-000000020 refused: state.safetensors: hash "));
  }
  SUBCASE("no manifest") {
    REQUIRE(remove_all(store.path + "/step-000000020/manifest.json"));
    CHECK(store.load(&report) == 10);
    CHECK(report.refusals.size() == 1);
  }
  SUBCASE("the manifest of another step") {
    REQUIRE(write_file(store.path + "/step-000000020/manifest.json",
                       read_file(store.path + "/step-000000010/manifest.json").value()));
    CHECK(store.load(&report) == 10);
    CHECK(report.refusals.size() == 1);
  }
  // Trained again up to that step: the bad one is replaced.
  store.save(20);
  CHECK(store.load() == 20);
}

TEST_CASE("where every checkpoint is damaged the training stops, unless it may begin anew") {
  Store store;
  for (const std::uint64_t step : {10U, 20U}) {
    store.save(step);
    REQUIRE(write_file(store.state_path(step), "short"));
  }
  State state(layout());
  const auto refused = load_newest_checkpoint(store.options, layout(), k_config, state);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::invalid);
  CHECK(refused.error().message.starts_with("no checkpoint can be loaded: all 2 in "));
  CHECK(refused.error().message.find("step-000000020 refused: ") != std::string::npos);
  CHECK(refused.error().hint.find("--on damaged=restart") != std::string::npos);
  store.options.begin_anew = true;
  Loaded report;
  CHECK(store.load(&report) == 0);
  CHECK(report.refusals.size() == 2);
}

TEST_CASE("every single damaged byte of a manifest is refused or harmless, and never crashes") {
  const Manifest manifest{20, 5120, 1, digest(state_at(20)), 1000, 77, k_config};
  const std::string text = encode_manifest(manifest);
  for (std::size_t i = 0; i < text.size(); ++i) {
    (void)parse_manifest(std::string_view(text).substr(0, i));
    (void)parse_manifest(flipped(text, i));
  }
  CHECK_FALSE(parse_manifest(std::string_view(text).substr(0, text.size() - 2)));
  CHECK(parse_manifest(text));
}

TEST_CASE("a state file with lying offsets is refused before anything is copied out of bounds") {
  const std::string good = encode_state(layout(), state_at(1));
  State state(layout());
  REQUIRE(decode_state(good, layout(), state));
  for (const char* const length :
       {"\xff\xff\xff\xff\xff\xff\xff\xff", "\0\0\0\0\0\0\0\0", "\0\0\0\x40\0\0\0\0"})
    CHECK_FALSE(decode_state(std::string(length, 8) + good.substr(8), layout(), state));
  const std::string needle = "\"data_offsets\":[0,576]";
  const std::size_t at = good.find(needle);
  REQUIRE(at != std::string::npos);
  for (const std::string lie : {"[9,576]", "[576,0]", "[-1,57]", "[0,1e9]", "[0,57x]", "[[,576]"}) {
    std::string bad = good;
    bad.replace(at + 15, lie.size(), lie);
    CHECK_FALSE(decode_state(bad, layout(), state));
  }
  CHECK_FALSE(decode_state(good.substr(0, good.size() - 4), layout(), state));
  CHECK_FALSE(decode_state("", layout(), state));
}

TEST_CASE("a checkpoint of another instruction set is used, and what that means is told") {
  const Store store;
  Fingerprint wide = k_config, narrow = k_config;
  wide["instruction_set"] = "avx512";
  narrow["instruction_set"] = "avx2";
  REQUIRE(save_checkpoint(store.options, layout(), state_at(10), 0, wide));
  State state(layout());
  const auto loaded = load_newest_checkpoint(store.options, layout(), narrow, state);
  REQUIRE(loaded);
  CHECK(state.step == 10);
  CHECK(loaded->other_bits == "was computed with avx512, these ranks use avx2");
  CHECK(load_newest_checkpoint(store.options, layout(), wide, state)->other_bits.empty());
}

TEST_CASE("a checkpoint of another configuration is an error that says what differs") {
  const Store store;
  store.save(10);
  State state(layout());
  const auto loaded =
      load_newest_checkpoint(store.options, layout(), {{"model", "cnn2"}, {"seed", "2"}}, state);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == Errc::invalid);
  CHECK(loaded.error().message.find("seed: 1 there, 2 here") != std::string::npos);
}

TEST_CASE("a newer attempt's fence refuses the commit and leaves nothing behind") {
  Store store;
  store.options.attempt = 2;
  store.save(10);
  REQUIRE(write_file(store.path + "/fence", "3\n"));
  const Commit refused = store.save(20);
  CHECK(refused.refusal.find("attempt 3") != std::string::npos);
  CHECK(refused.refusal.find("attempt 2") != std::string::npos);
  CHECK(list_folder(store.path) == std::vector<std::string>{"fence", "step-000000010"});
  REQUIRE(write_file(store.path + "/fence", "2\n"));
  CHECK(store.save(20).refusal.empty());
  REQUIRE(write_file(store.path + "/fence", "rubbish"));
  CHECK_FALSE(save_checkpoint(store.options, layout(), state_at(30), 0, k_config));
}

TEST_CASE("the newest checkpoints are kept and other writers' temporary folders removed") {
  const Store store;
  REQUIRE(make_folders(store.path + "/step-000000015.tmp.0011223344556677"));
  for (const std::uint64_t step : {10ULL, 20ULL, 30ULL, 40ULL, 1234567890ULL}) store.save(step);
  CHECK(store.load() == 1234567890);
  CHECK(list_folder(store.path) ==
        std::vector<std::string>{"step-000000030", "step-000000040", "step-1234567890"});
}

TEST_CASE("a save that cannot be written is an error and leaves the older ones") {
  const Store store;
  store.save(10);
  StoreOptions elsewhere = store.options;
  elsewhere.folder = "/proc/dts";
  CHECK_FALSE(save_checkpoint(elsewhere, layout(), state_at(20), 0, k_config));
  CHECK(store.load() == 10);
}
