// SPDX-License-Identifier: Apache-2.0
// The folder of checkpoints: fencing, take-over, pruning, errors.
#include "tests/unit/train/checkpoint_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <set>
#include <thread>

using namespace dts;
using namespace dts::train;

namespace {

// Attempt 1 is about to commit step 20, and attempt 2 is about to begin; step 10 exists.
struct Rivals : Store {
  struct Writers {
    CheckpointStore old;
    CheckpointStore heir;
    Manifest manifest;
  };

  Writers writers{{options, layout()}, {later(), layout()}, {}};

  Rivals() {
    save(10);
    REQUIRE(writers.old.take_over());
    writers.manifest = stage(writers.old, state_at(20), 2);
  }

  [[nodiscard]] StoreOptions later() const {
    StoreOptions changed = options;
    changed.attempt = 2;
    return changed;
  }
};

}  // namespace

TEST_CASE("a newer attempt's fence refuses the commit and leaves nothing behind") {
  Store store;
  store.options.attempt = 2;
  store.save(10);
  {
    CheckpointStore writer(store.options, layout());
    REQUIRE(writer.take_over());
    const Manifest manifest = stage(writer, state_at(20), 1);
    REQUIRE(write_file(store.path + "/fence", "3\n"));
    const auto refused = writer.commit(manifest);
    REQUIRE(refused);
    CHECK(refused->refusal.find("attempt 3") != std::string::npos);
    CHECK(refused->refusal.find("attempt 2") != std::string::npos);
  }
  CHECK(list_folder(store.path) == std::vector<std::string>{"fence", "step-000000010"});
  CHECK(store.save(20).refusal.find("attempt 3") != std::string::npos);
  CHECK(list_folder(store.path) == std::vector<std::string>{"fence", "step-000000010"});
  REQUIRE(write_file(store.path + "/fence", "2\n"));
  CHECK(store.save(20).refusal.empty());
  REQUIRE(write_file(store.path + "/fence", "rubbish"));
  CHECK_FALSE(store.try_save(state_at(30)));
}

// Without a file `fence`, as if a writer checked it just before it was raised.
TEST_CASE("an attempt that took over between the check of the fence and the rename is obeyed") {
  Rivals store;
  auto& [old, heir, manifest] = store.writers;
  REQUIRE(heir.take_over()->refusal.empty());
  SUBCASE("it has loaded what there was") {}
  SUBCASE("it has committed the same step, with its own bits") {
    State other = state_at(20);
    other.weights.data()[0] += 1;
    REQUIRE(heir.commit(stage(heir, other, 1))->refusal.empty());
  }
  const std::vector<std::string> before = list_folder(store.path);
  const auto refused = old.commit(manifest);
  REQUIRE(refused);
  CHECK(refused->refusal.find("a later start of this training has taken over") == 0);
  CHECK(list_folder(store.path) == before);
  if (before.size() > 2) CHECK(read_manifest(store.folder_of(20))->files.size() == 1);
  // An older attempt cannot take over in turn.
  CheckpointStore late(store.options, layout());
  CHECK(late.take_over()->refusal.find("attempt 2 is writing") == 0);
}

TEST_CASE("of a commit and a take-over at the same time, either is first") {
  int committed = 0;
  for (int turn = 0; turn < 20; ++turn) {
    Rivals store;
    CheckpointStore& heir = store.writers.heir;
    auto commit = std::async(std::launch::async,
                             [&store] { return store.writers.old.commit(store.writers.manifest); });
    std::this_thread::sleep_for(std::chrono::microseconds(turn * 1500));
    REQUIRE(heir.take_over()->refusal.empty());
    State state(layout());
    const auto loaded = load_newest(heir, k_config, {}, state);
    REQUIRE(loaded);
    CHECK(loaded->refusals.empty());
    const auto result = commit.get();
    REQUIRE(result);
    // Refused, or committed before the take-over, which then saw it complete.
    CHECK(loaded->name == (result->refusal.empty() ? "step-000000020" : "step-000000010"));
    CHECK(exists(store.folder_of(20)) == result->refusal.empty());
    committed += result->refusal.empty() ? 1 : 0;
  }
  MESSAGE(committed << " of 20 commits came before the take-over");
}

TEST_CASE("the newest checkpoints are kept and other writers' temporary folders removed") {
  const Store store;
  for (const std::string name :
       {"/step-000000015.tmp.0011223344556677", "/attempt-1.tmp.0011/step-000000020"})
    REQUIRE(make_folders(store.path + name));
  for (const std::uint64_t step : {10ULL, 20ULL, 30ULL, 40ULL, 1234567890ULL}) store.save(step);
  CHECK(store.load() == 1234567890);
  CHECK(list_folder(store.path) ==
        std::vector<std::string>{"step-000000030", "step-000000040", "step-1234567890"});
}

TEST_CASE("a damaged newer folder does not count as kept: the good ones before it stay") {
  Store store;
  store.options.keep = 1;
  store.save(200);
  store.save(300);  // removes 200
  REQUIRE(write_file(store.state_path(300), "short"));
  store.options.keep = 1;
  store.save(210);
  CHECK(store.load() == 210);
  store.save(220);
  CHECK(store.load() == 220);
  CHECK(list_folder(store.path) == std::vector<std::string>{"step-000000220", "step-000000300"});
}

TEST_CASE("a folder that is damaged while its writer goes on does not count as kept either") {
  Store store;
  store.options.keep = 1;
  CheckpointStore writer(store.options, layout());
  REQUIRE(writer.take_over());
  REQUIRE(writer.commit(stage(writer, state_at(10), 1)));
  REQUIRE(writer.commit(stage(writer, state_at(20), 1)));
  CHECK_FALSE(exists(store.folder_of(10)));
  REQUIRE(write_file(store.state_path(20), "short"));
  REQUIRE(writer.commit(stage(writer, state_at(15), 1)));
  CHECK(exists(store.folder_of(15)));
  REQUIRE(writer.commit(stage(writer, state_at(30), 1)));
  CHECK(list_folder(store.path).back() == "step-000000030");
  CHECK_FALSE(exists(store.folder_of(15)));
}

TEST_CASE("a save that cannot be written is an error and leaves the older ones") {
  Store store;
  store.save(10);
  store.options.folder = "/proc/dts";
  CHECK_FALSE(store.try_save(state_at(20)));
  store.options.folder = store.path;
  CHECK(store.load() == 10);
}

TEST_CASE(
    "a checkpoint that cannot be read now is not damaged, and nothing starts over without it") {
  Store store;
  store.save(10);
  store.save(20);
  store.options.begin_anew = true;
  CheckpointStore reader(store.options, layout());
  std::set<std::string> unreadable{"step-000000020"};
  const auto find = [&] {
    return reader.find_newest(k_config, {}, [&](const std::string& name) -> Result<Manifest> {
      if (unreadable.contains(name)) return fail(Errc::io, "cannot read it: Input/output error");
      return read_checkpoint(store.path + "/" + name, layout(), nullptr);
    });
  };
  CHECK(find()->name == "step-000000010");  // a disk may have lost the newer one for good
  unreadable.insert("step-000000010");
  const auto none = find();
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Errc::io);
  CHECK(none.error().message.find("cannot read any checkpoint of " + store.path) == 0);
  unreadable.clear();
  CHECK(find()->name == "step-000000020");
  // A folder that cannot be listed: its checkpoints are not absent.
  store.options.folder = store.path + "/" + std::string(300, 'x');
  CheckpointStore blind(store.options, layout());
  const auto listed = blind.find_newest(k_config, {}, nullptr);
  REQUIRE_FALSE(listed);
  CHECK(listed.error().code == Errc::io);
}

TEST_CASE("a folder that cannot be looked at was not taken over by a later attempt") {
  const Store store;
  CHECK(refusal(store.options, store.path + "/gone")->find("a later start of this training") == 0);
  CHECK(refusal(store.options, store.path + "/" + std::string(300, 'x'))->empty());
}
