// SPDX-License-Identifier: Apache-2.0
// CIFAR-10's binary files, good and bad, and the augmentation of training images.
#include "core/base/files/files.hpp"
#include "core/base/random.hpp"
#include "core/train/data/augmentation.hpp"
#include "core/train/data/dataset.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace dts;
using namespace dts::train;

namespace {

std::string record(int label, char pixel) {
  return static_cast<char>(label) + std::string(k_cifar10.pixels(), pixel);
}

struct CifarFolder : dts::tests::TemporaryFolder {
  CifarFolder() {
    for (int batch = 1; batch <= 5; ++batch)
      REQUIRE(write_file(file(batch), record(batch, 'a') + record(9, static_cast<char>(batch))));
    REQUIRE(write_file(path + "/test_batch.bin", record(0, 'z')));
  }

  [[nodiscard]] std::string file(int batch) const {
    return path + "/data_batch_" + std::to_string(batch) + ".bin";
  }

  [[nodiscard]] std::string error() const {
    RawSamples train;
    RawSamples test;
    const auto result = read_cifar(path, train, test);
    return result ? "" : result.error().message;
  }
};

using dts::tests::contains;

using Pixels = std::vector<std::uint8_t>;

Pixels pixels_of(const ImageFormat& format) {
  Pixels pixels(format.pixels());
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(1 + mix(i) % 255);
  return pixels;
}

}  // namespace

TEST_CASE("the five files of CIFAR-10 and its test file are read in order") {
  const CifarFolder folder;
  RawSamples train;
  RawSamples test;
  REQUIRE(read_cifar(folder.path, train, test));
  CHECK(train.view.count == 10);
  CHECK(test.view.count == 1);
  CHECK(train.view.format == &k_cifar10);
  CHECK(train.view.labels[2] == 2);
  CHECK(train.view.labels[3] == 9);
  CHECK(train.view.images[3 * k_cifar10.pixels()] == 2);
  CHECK(train.view.images[10 * k_cifar10.pixels() - 1] == 5);
  CHECK(test.view.images[0] == 'z');
}

TEST_CASE("damaged files of CIFAR-10 are refused by name, with the record") {
  const CifarFolder folder;
  REQUIRE(write_file(folder.file(3), record(1, 'a') + record(10, 'b')));
  CHECK(folder.error() == folder.file(3) + ": record 1 has label 10, the last is 9");
  REQUIRE(write_file(folder.file(3), record(1, 'a') + record(-1, 'b')));
  CHECK(contains(folder.error(), "record 1 has label 255"));
  REQUIRE(write_file(folder.file(3), record(1, 'a').substr(0, 3000)));
  CHECK(folder.error() == folder.file(3) +
                              ": 3000 bytes are not a whole number of records of 3073 bytes, a "
                              "label and 3x32x32 pixels");
  REQUIRE(write_file(folder.file(3), ""));
  CHECK(contains(folder.error(), folder.file(3)));
  REQUIRE(remove_all(folder.file(3)));
  CHECK(contains(folder.error(), folder.file(3)));
}

TEST_CASE("an image is cut out and mirrored as PyTorch's padding, crop and flip do") {
  for (const ImageFormat* const format : {&k_fashion_mnist, &k_cifar10}) {
    const int side = format->side;
    const Pixels from = pixels_of(*format);
    Pixels to(from.size(), 77);
    for (const Placement placement : {Placement{},
                                      Placement{0, 0, true},
                                      Placement{-4, 3, false},
                                      Placement{4, -4, true},
                                      Placement{2, 4, true}}) {
      place_image(from.data(), *format, placement, to.data());
      int wrong = 0;
      for (int c = 0; c < format->channels; ++c)
        for (int y = 0; y < side; ++y)
          for (int x = 0; x < side; ++x) {
            const int row = y + placement.down;
            const int column = x + placement.right;
            const bool is_inside = row >= 0 && row < side && column >= 0 && column < side;
            const int mirrored = placement.is_flipped ? side - 1 - column : column;
            const int expected =
                is_inside ? from[static_cast<std::size_t>((c * side + row) * side + mirrored)] : 0;
            wrong += to[static_cast<std::size_t>((c * side + y) * side + x)] == expected ? 0 : 1;
          }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("placements depend on seed, epoch and image alone, and all of them come about") {
  const Augmentation both = augmentation_of("crop,flip").value();
  const auto same = [](const Placement& a, const Placement& b) {
    return a.down == b.down && a.right == b.right && a.is_flipped == b.is_flipped;
  };
  std::vector<int> seen(9 * 9 * 2);
  int same_epoch = 0;
  int same_seed = 0;
  constexpr int k_count = 20000;
  for (std::uint64_t i = 0; i < k_count; ++i) {
    const Placement one = placement_of(both, 1, 0, i);
    REQUIRE(same(one, placement_of(both, 1, 0, i)));
    ++seen.at(static_cast<std::size_t>(((one.down + 4) * 9 + one.right + 4) * 2 +
                                       (one.is_flipped ? 1 : 0)));
    same_epoch += same(one, placement_of(both, 1, 1, i)) ? 1 : 0;
    same_seed += same(one, placement_of(both, 2, 0, i)) ? 1 : 0;
  }
  for (const int times : seen) {  // 123 each on average, standard deviation 11
    CHECK(times > 60);
    CHECK(times < 190);
  }
  CHECK(same_epoch < 200);
  CHECK(same_seed < 200);
}

TEST_CASE("augmentations are listed by name") {
  CHECK(augmentation_of("crop,flip")->text() == "crop,flip");
  CHECK(augmentation_of("crop")->crops);
  CHECK_FALSE(augmentation_of("crop")->flips);
  CHECK_FALSE(augmentation_of("none")->is_any());
  CHECK_FALSE(augmentation_of("flip,crop"));
  CHECK_FALSE(augmentation_of(""));
  const Placement still = placement_of({}, 1, 2, 3);
  CHECK(still.down == 0);
  CHECK(still.right == 0);
  CHECK_FALSE(still.is_flipped);
}
