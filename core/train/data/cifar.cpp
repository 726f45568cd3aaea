// SPDX-License-Identifier: Apache-2.0
// Reads CIFAR-10's binary files.
#include "core/base/files/files.hpp"
#include "core/train/data/dataset.hpp"

#include <fmt/core.h>

namespace dts::train {
namespace {

constexpr std::size_t k_record = 1 + k_cifar10.pixels();

Result<void> append_file(const std::string& path, RawSamples& out) {
  auto content = read_file(path);
  if (!content) {
    Error error = std::move(content).error();
    error.hint =
        "--data names the folder of CIFAR-10's binary version: data_batch_1.bin to "
        "data_batch_5.bin and test_batch.bin";
    return tl::unexpected(std::move(error));
  }
  auto appended = append_cifar(*content, out);
  if (!appended) return tl::unexpected(std::move(appended).error().during(path));
  return {};
}

}  // namespace

Result<void> append_cifar(std::string_view content, RawSamples& out) {
  if (content.empty() || content.size() % k_record != 0)
    return fail(
        Errc::invalid,
        fmt::format(
            "{} bytes are not a whole number of records of {} bytes, a label and 3x32x32 pixels",
            content.size(),
            k_record),
        "it may have been cut off while it was copied, or be of CIFAR-100");
  for (std::size_t at = 0; at < content.size(); at += k_record) {
    const auto label = static_cast<std::uint8_t>(content[at]);
    if (label >= k_classes)
      return fail(
          Errc::invalid,
          fmt::format(
              "record {} has label {}, the last is {}", at / k_record, label, k_classes - 1));
    out.labels += content[at];
    out.images += content.substr(at + 1, k_cifar10.pixels());
  }
  out.view = {reinterpret_cast<const std::uint8_t*>(out.images.data()),
              reinterpret_cast<const std::uint8_t*>(out.labels.data()),
              out.labels.size()};
  out.view.format = &k_cifar10;
  return {};
}

Result<void> read_cifar(const std::string& folder, RawSamples& train, RawSamples& test) {
  for (int batch = 1; batch <= 5; ++batch)
    DTS_TRY(append_file(fmt::format("{}/data_batch_{}.bin", folder, batch), train));
  return append_file(folder + "/test_batch.bin", test);
}

}  // namespace dts::train
