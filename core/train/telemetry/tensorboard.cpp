// SPDX-License-Identifier: Apache-2.0
#include "core/train/telemetry/tensorboard.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace dts::train::tensorboard {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr std::array<std::uint32_t, 256> make_table() {
  constexpr std::uint32_t k_polynomial = 0x82F63B78;  // with its bits reversed
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1U ^ ((value & 1U) != 0 ? k_polynomial : 0);
    table[byte] = value;
  }
  return table;
}

template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// TFRecord masks checksums so that checksums of data which contains checksums stay useful.
std::string masked_crc(std::string_view bytes) {
  return bytes_of(std::rotr(crc32c(bytes), 15) + 0xA282EAD8U);
}

std::string record(const std::string& event) {
  const std::string length = bytes_of(std::uint64_t{event.size()});
  return length + masked_crc(length) + event + masked_crc(event);
}

// Wire types: 0 is a varint, 1 has 8 bytes, 2 is a length and that many bytes, 5 has 4 bytes.

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(value);
}

std::string key(unsigned field, unsigned wire_type) {
  return varint(field << 3U | wire_type);
}

std::string text_field(unsigned field, std::string_view content) {
  return (key(field, 2) + varint(content.size())).append(content);
}

// Event: double wall_time = 1; int64 step = 2.
std::string event(double time, std::uint64_t step) {
  return key(1, 1) + bytes_of(time) + key(2, 0) + varint(step);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto k_table = make_table();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes)
    crc = crc >> 8U ^ k_table[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
  return ~crc;
}

// Event: string file_version = 3.
std::string version_record(double time) {
  return record(event(time, 0) + text_field(3, "brain.Event:2"));
}

// Event: SessionLog session_log = 7. SessionLog: SessionStatus status = 1; START = 1.
std::string start_record(double time, std::uint64_t step) {
  return record(event(time, step) + text_field(7, key(1, 0) + varint(1)));
}

// Event: Summary summary = 5. Summary: repeated Value value = 1. Value: string tag = 1; float
// simple_value = 2.
std::string scalars_record(double time, std::uint64_t step, const Scalars& scalars) {
  std::string summary;
  for (const auto& [tag, value] : scalars)
    summary += text_field(1, text_field(1, tag) + key(2, 5) + bytes_of(static_cast<float>(value)));
  return record(event(time, step) + text_field(5, summary));
}

std::string file_name(double time, std::string_view host) {
  const double seconds = std::floor(time);
  return fmt::format("events.out.tfevents.{:010.0f}.{:06.0f}.{}",
                     seconds,
                     std::floor((time - seconds) * 1e6),
                     host);
}

}  // namespace dts::train::tensorboard
