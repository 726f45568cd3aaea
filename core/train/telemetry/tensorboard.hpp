// SPDX-License-Identifier: Apache-2.0
// TensorBoard event files. They consist of TFRecord records (length, its masked CRC-32C, content,
// its masked CRC-32C; tensorflow/core/lib/io/record_writer.h), each an Event
// (tensorflow/core/util/event.proto and framework/summary.proto) in the wire format of protocol
// buffers (https://protobuf.dev/programming-guides/encoding). Pure, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dts::train::tensorboard {

using Scalars = std::vector<std::pair<std::string, double>>;  // tag and value

// CRC-32C, Castagnoli's polynomial (RFC 3720, appendix B.4).
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

// Each of the following returns a record. `time` is in seconds since 1970.

// The first record of a file.
[[nodiscard]] std::string version_record(double time);

// Starts or restarts at `step`: readers discard that step and later ones of earlier files.
[[nodiscard]] std::string start_record(double time, std::uint64_t step);

[[nodiscard]] std::string scalars_record(double time, std::uint64_t step, const Scalars& scalars);

// "events.out.tfevents.<seconds>.<microseconds>.<host>". Readers process the files of a folder in
// the order of their names.
[[nodiscard]] std::string file_name(double time, std::string_view host);

}  // namespace dts::train::tensorboard
