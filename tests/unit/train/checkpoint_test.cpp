// SPDX-License-Identifier: Apache-2.0
// Checkpoints: round trip, formats, damage, fall-back.
#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/train/checkpoint_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cmath>

using namespace dts;
using namespace dts::train;

namespace {

std::string flipped(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  return bytes;
}

}  // namespace

TEST_CASE("a checkpoint comes back with the same bits, whatever the number of its writers") {
  const Store store;
  CHECK(store.load() == 0);
  std::uint64_t step = 7;
  for (const int parts : {1, 2, 3, 5, 16}) {
    store.save(++step, parts);
    CHECK(store.load() == step);
    CHECK(list_folder(store.folder_of(step)).size() == static_cast<std::size_t>(parts) + 1);
  }
}

TEST_CASE("arrays that come in pieces make the same files, and are known by who needs them") {
  const Store whole, pieces;
  Layout two = layout();  // two moments
  two.moments = {"exp_avg", "exp_avg_sq"};
  State state(two);
  initialise(two, 5, state);
  for (std::size_t i = 0; i < state.momentum.size(); ++i)
    state.momentum.data()[i] = static_cast<float>(i % 9973);
  State rest(two, false);
  initialise(two, 5, rest);
  rest.weights.set_to_zero();
  rest.momentum = Buffer();
  CHECK(digest(rest,
               hash64(state.momentum.data(), state.momentum.size() * sizeof(float)),
               hash64(state.weights.data(), state.weights.size() * sizeof(float))) ==
        digest(state));
  for (const int parts : {1, 3, 5})
    for (const std::size_t step : {std::size_t{1000}, std::size_t{77777}, std::size_t{1} << 30}) {
      const Shares shares(two, parts);
      for (int part = 0; part < parts; ++part) {
        Snapshot one(two, parts, part), other(two, parts, part);
        one.take(state);
        other.take(rest);
        for (const ArrayOf array : {ArrayOf{}, ArrayOf{0}, ArrayOf{1}})
          for (std::size_t at = 0; at < two.parameter_floats; at += step) {
            const Range run{at, std::min(at + step, two.parameter_floats)};
            const float* const all = array ? state.momentum.data() + *array * two.parameter_floats
                                           : state.weights.data();
            if (shares.has(part, array, run)) other.put(array, run, all + run.begin);
          }
        const std::string name = fmt::format("/{}-{}-{}", parts, step, part);
        const auto file = one.write(whole.path + name);
        REQUIRE(file);
        CHECK(*file == other.write(pieces.path + name).value());
      }
    }
}

TEST_CASE("of many writers each has an equal share, and some may have nothing to write") {
  std::size_t all = 0;
  for (const Rows& rows : all_rows(layout())) all += rows.floats();
  for (const int parts : {1, 2, 3, 7, 1024}) {
    std::size_t sum = 0;
    for (int part = 0; part < parts; ++part) {
      std::size_t floats = 0;
      for (const Rows& rows : share_of(layout(), parts, part)) floats += rows.floats();
      CHECK(floats <= all / static_cast<std::size_t>(parts) + k_cnn2_features + 1);
      sum += floats;
    }
    CHECK(sum == all);
  }
  const Store store;
  store.save(3, 64);
  CHECK(store.load() == 3);
}

TEST_CASE("the file does not depend on who wrote it and is a readable safetensors file") {
  const Store one, other;
  one.save(3);
  other.save(3);
  const std::string bytes = read_file(one.state_path(3)).value();
  CHECK(bytes == read_file(other.state_path(3)).value());
  CHECK(bytes.substr(8, 1) == "{");
  CHECK(bytes.find("\"model.conv1.weight\":{") != std::string::npos);
}

// The inputs of fc1 in PyTorch's order: input c * 49 + p of a row is channel c, pixel p.
TEST_CASE("the weights of fc1 have PyTorch's order of columns in the file") {
  const State state = state_at(3);
  const Tensor& fc1 = layout().parameter("fc1.weight");
  Rows rows{"model.fc1.weight", Rows::Array::weights, &fc1, 5, 2};
  std::vector<float> file(rows.floats());
  copy_out(state, rows, file.data());
  const float* const ours = state.weights.data() + fc1.offset + std::size_t{5} * k_cnn2_features;
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t c = 0; c < 32; ++c)
      for (std::size_t p = 0; p < 49; ++p)
        REQUIRE(file[row * k_cnn2_features + c * 49 + p] ==
                ours[row * k_cnn2_features + (c / 16 * 49 + p) * 16 + c % 16]);
}

// As the first release wrote it: one file, with columns in the trainer's own order.
TEST_CASE("a checkpoint of format 1 is still read") {
  const Store store;
  const State state = state_at(42);
  std::string header = "{\"__metadata__\":{\"format\":\"dttrain-checkpoint-1\",\"step\":\"42\"}";
  std::string data;
  for (const Rows& rows : all_rows(layout())) {
    const Buffer& buffer = rows.array == Rows::Array::weights    ? state.weights
                           : rows.array == Rows::Array::momentum ? state.momentum
                                                                 : state.running;
    std::string shape;
    for (const int extent : rows.tensor->shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    const std::size_t end = data.size() + rows.tensor->count * sizeof(float);
    header += ",\"" + rows.name + "\":{\"dtype\":\"F32\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(data.size()) + "," + std::to_string(end) +
              "]}";
    data.append(reinterpret_cast<const char*>(buffer.data() + rows.tensor->offset),
                end - data.size());
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size() & 0xff);
  bytes[1] = static_cast<char>(header.size() >> 8);
  bytes += header + data;
  Manifest manifest{
      42, 0, 1, digest(state), {{"state.safetensors", bytes.size(), hash64(bytes)}}, k_config};
  manifest.order = ColumnOrder::internal;
  const std::string text = encode_manifest(manifest);
  CHECK(text.find("\"format\": \"dttrain-checkpoint-1\"") != std::string::npos);
  REQUIRE(make_folders(store.folder_of(42)));
  REQUIRE(write_file(store.state_path(42), bytes));
  REQUIRE(write_file(store.folder_of(42) + "/manifest.json", text));
  CHECK(store.load() == 42);
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
    REQUIRE(remove_all(store.folder_of(20) + "/manifest.json"));
    CHECK(store.load(&report) == 10);
    CHECK(report.refusals.size() == 1);
  }
  SUBCASE("the manifest of another step") {
    REQUIRE(write_file(store.folder_of(20) + "/manifest.json",
                       read_file(store.folder_of(10) + "/manifest.json").value()));
    CHECK(store.load(&report) == 10);
    CHECK(report.refusals.size() == 1);
  }
  // After training up to that step again, the bad checkpoint is replaced.
  store.save(20);
  CHECK(store.load() == 20);
}

TEST_CASE("a checkpoint without one of its files, or with another's, is refused") {
  const Store store;
  store.save(10, 3);
  store.save(20, 3);
  const std::string second = store.folder_of(20) + "/" + part_name(3, 1);
  SUBCASE("missing") {
    REQUIRE(remove_all(second));
  }
  SUBCASE("of another step") {
    REQUIRE(write_file(second, read_file(store.folder_of(10) + "/" + part_name(3, 1)).value()));
  }
  SUBCASE("not in the manifest") {
    Manifest manifest = read_manifest(store.folder_of(20)).value();
    manifest.files.erase(manifest.files.begin() + 1);
    REQUIRE(write_file(store.folder_of(20) + "/manifest.json", encode_manifest(manifest)));
  }
  SUBCASE("in another order") {
    Manifest manifest = read_manifest(store.folder_of(20)).value();
    std::swap(manifest.files[1], manifest.files[2]);
    REQUIRE(write_file(store.folder_of(20) + "/manifest.json", encode_manifest(manifest)));
  }
  SUBCASE("a name that leads out of the folder") {
    Manifest manifest = read_manifest(store.folder_of(20)).value();
    manifest.files[1].name = "state/../../step-000000010/" + part_name(3, 1);
    REQUIRE(write_file(store.folder_of(20) + "/manifest.json", encode_manifest(manifest)));
  }
  Loaded report;
  CHECK(store.load(&report) == 10);
  CHECK(report.refusals.size() == 1);
}

TEST_CASE("where every checkpoint is damaged the training stops, unless it may begin anew") {
  Store store;
  for (const std::uint64_t step : {10U, 20U}) {
    store.save(step);
    REQUIRE(write_file(store.state_path(step), "short"));
  }
  State state(layout());
  const auto refused = store.try_load(state);
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
  const Manifest manifest{
      20, 5120, 1, digest(state_at(20)), {{"state.safetensors", 1000, 77}}, k_config};
  const std::string text = encode_manifest(manifest);
  for (std::size_t i = 0; i < text.size(); ++i) {
    (void)parse_manifest(std::string_view(text).substr(0, i));
    (void)parse_manifest(flipped(text, i));
  }
  CHECK_FALSE(parse_manifest(std::string_view(text).substr(0, text.size() - 2)));
  CHECK(parse_manifest(text));
}

// The manifest always matches the file; only the header of the file is wrong.
TEST_CASE("a state file with lying offsets is refused before anything is copied out of bounds") {
  const Store store;
  store.save(1);
  const std::string good = read_file(store.state_path(1)).value();
  Manifest manifest = read_manifest(store.folder_of(1)).value();
  const auto accepts = [&](const std::string& bytes) {
    manifest.files = {{"state.safetensors", bytes.size(), hash64(bytes)}};
    REQUIRE(write_file(store.state_path(1), bytes));
    REQUIRE(write_file(store.folder_of(1) + "/manifest.json", encode_manifest(manifest)));
    State state(layout());
    return read_checkpoint(store.folder_of(1), layout(), &state).has_value();
  };
  CHECK(accepts(good));
  for (const char* const length :
       {"\xff\xff\xff\xff\xff\xff\xff\xff", "\0\0\0\0\0\0\0\0", "\0\0\0\x40\0\0\0\0"})
    CHECK_FALSE(accepts(std::string(length, 8) + good.substr(8)));
  const std::string needle = "\"data_offsets\":[0,576]";
  const std::size_t at = good.find(needle);
  REQUIRE(at != std::string::npos);
  for (const std::string lie : {"[9,576]", "[576,0]", "[-1,57]", "[0,1e9]", "[0,57x]", "[[,576]"}) {
    std::string bad = good;
    bad.replace(at + 15, lie.size(), lie);
    CHECK_FALSE(accepts(bad));
  }
  CHECK_FALSE(accepts(good.substr(0, good.size() - 4)));
  CHECK_FALSE(accepts(good + "more"));
  CHECK_FALSE(accepts(""));
}

TEST_CASE("a checkpoint of another instruction set is used, and what that means is told") {
  const Store store;
  Fingerprint wide = k_config, narrow = k_config;
  wide["instruction_set"] = "avx512";
  narrow["instruction_set"] = "avx2";
  REQUIRE(store.try_save(state_at(10), 1, wide));
  State state(layout());
  const auto loaded = store.try_load(state, narrow);
  REQUIRE(loaded);
  CHECK(state.step == 10);
  CHECK(loaded->other_bits == "was computed with avx512, these ranks use avx2");
  CHECK(store.try_load(state, wide)->other_bits.empty());
}

TEST_CASE("a checkpoint of another machine or library is used, and what differs is told") {
  Store store;
  store.numerics = {{"cpu", "AuthenticAMD family 25 model 1"}, {"onednn", "2.6.3"}};
  store.save(10);
  Loaded report;
  CHECK(store.load(&report) == 10);
  CHECK(report.other_bits.empty());
  store.numerics["onednn"] = "3.1.1";
  CHECK(store.load(&report) == 10);
  CHECK(report.other_bits == "was computed elsewhere (onednn: 2.6.3 there, 3.1.1 here)");
}

TEST_CASE("a checkpoint from before there were numerics and skipped steps is loaded in silence") {
  const Store store;
  store.save(10);
  const std::string path = store.path + "/step-000000010/manifest.json";
  std::string manifest = read_file(path).value();
  for (const std::string& member :
       {std::string("  \"numerics\": {},\n"), std::string("  \"skipped\": 0,\n")}) {
    const std::size_t at = manifest.find(member);
    REQUIRE(at != std::string::npos);
    manifest.erase(at, member.size());
  }
  REQUIRE(write_file(path, manifest));
  Loaded report;
  CHECK(store.load(&report) == 10);
  CHECK(report.other_bits.empty());
  CHECK(report.refusals.empty());
}

TEST_CASE("the number of skipped steps comes back") {
  const Store store;
  State state = state_at(10);
  state.skipped = 3;
  REQUIRE(store.try_save(state));
  State loaded(layout());
  REQUIRE(store.try_load(loaded));
  CHECK(loaded.skipped == 3);
}

TEST_CASE("a state that is not finite is neither written nor loaded") {
  const Store store;
  State state = state_at(20);
  state.momentum.data()[layout().parameter("fc1.bias").offset] = NAN;
  Snapshot snapshot(layout(), 1, 0);
  snapshot.take(state);
  const auto refused = snapshot.write(store.path + "/state.safetensors");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "tensor momentum.fc1.bias is not finite");
  CHECK(list_folder(store.path).empty());

  // As a trainer without checks would have written it: with the right hash.
  const float marked = 1234.5F, nan = NAN;
  state.momentum.data()[layout().parameter("fc1.bias").offset] = marked;
  REQUIRE(store.try_save(state));
  std::string bytes = read_file(store.state_path(20)).value();
  const std::size_t at =
      bytes.find(std::string_view(reinterpret_cast<const char*>(&marked), sizeof marked));
  REQUIRE(at != std::string::npos);
  bytes.replace(at, sizeof nan, reinterpret_cast<const char*>(&nan), sizeof nan);
  REQUIRE(write_file(store.state_path(20), bytes));
  Manifest manifest = read_manifest(store.folder_of(20)).value();
  manifest.files[0].hash = hash64(bytes);
  REQUIRE(write_file(store.folder_of(20) + "/manifest.json", encode_manifest(manifest)));
  State decoded(layout());
  for (State* const into : {&decoded, static_cast<State*>(nullptr)}) {
    const auto bad = read_checkpoint(store.folder_of(20), layout(), into);
    REQUIRE_FALSE(bad);
    CHECK(bad.error().message == "state.safetensors: tensor momentum.fc1.bias: not finite");
  }
}

TEST_CASE("of several readers, the one of a damaged file finds it, and all find a damaged header") {
  constexpr int k_parts = 5;
  const Store store;
  REQUIRE(store.try_save(state_at(10), k_parts));
  const auto finders = [&](int readers) {
    std::vector<int> found;
    for (int reader = 0; reader < readers; ++reader)
      if (!check_share(store.folder_of(10), layout(), reader, readers)) found.push_back(reader);
    return found;
  };
  for (const int readers : {1, 2, 3, k_parts, 8}) CHECK(finders(readers).empty());
  const std::string path = store.folder_of(10) + "/" + part_name(k_parts, 3);
  const std::string good = read_file(path).value();
  std::string bad = good;
  bad.back() = static_cast<char>(bad.back() ^ 1);
  REQUIRE(write_file(path, bad));
  CHECK(finders(1) == std::vector<int>{0});
  CHECK(finders(2) == std::vector<int>{1});
  CHECK(finders(k_parts) == std::vector<int>{3});
  CHECK(finders(8) == std::vector<int>{3});
  bad = good;
  bad[0] = '\x7f';
  REQUIRE(write_file(path, bad));
  CHECK(finders(3) == std::vector<int>{0, 1, 2});
}

TEST_CASE("a checkpoint of another configuration is an error that says what differs") {
  const Store store;
  store.save(10);
  State state(layout());
  const auto loaded = store.try_load(state, {{"model", "cnn2"}, {"seed", "2"}});
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == Errc::invalid);
  CHECK(loaded.error().message.find("seed: 1 there, 2 here") != std::string::npos);
}

// More than 1 GiB in one file; once, files above that size were not read back.
TEST_CASE("a state of more than 1 GiB comes back") {
  if (tests::k_sanitized) {
    MESSAGE("skipped: it takes minutes with sanitizers");
    return;
  }

  struct statvfs disk {};

  const Store store;
  REQUIRE(statvfs(store.path.c_str(), &disk) == 0);
  constexpr int k_mib = 1030;
  if (disk.f_bavail * disk.f_frsize < (std::uint64_t{2} * k_mib) << 20) {
    MESSAGE("skipped: less than 2 GiB free for " << store.path);
    return;
  }
  Layout large = cnn2().layout;
  large.add_ballast(k_mib);
  Manifest manifest;
  {
    State state(large);
    initialise(large, 1, state);
    manifest = {0, 0, 1, digest(state), {}, k_config};
    Snapshot snapshot(large, 1, 0);
    snapshot.take(state);
    manifest.files = {snapshot.write(store.path + "/" + part_name(1, 0)).value()};
  }
  CHECK(manifest.files[0].bytes > std::uint64_t{1} << 30);
  REQUIRE(write_file(store.path + "/manifest.json", encode_manifest(manifest)));
  State state(large);
  REQUIRE(read_checkpoint(store.path, large, &state));
  CHECK(digest(state) == manifest.digest);
}
