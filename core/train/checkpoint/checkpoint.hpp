// SPDX-License-Identifier: Apache-2.0
// A checkpoint: a folder with the state in one or several safetensors files, and a manifest with
// their hashes. Safe for any content of the files.
#pragma once

#include "core/base/result.hpp"
#include "core/train/checkpoint/part_file.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dts::train {

inline constexpr const char* k_manifest_file = "manifest.json";
inline constexpr std::string_view k_step_prefix = "step-";  // of the name of a folder

// Everything that determines a run's results bit for bit, as names and values.
using Fingerprint = std::map<std::string, std::string>;

// The only member that may differ on resume: training continues, but not bit-identically.
inline constexpr const char* k_instruction_set = "instruction_set";
inline constexpr const char* k_precision = "precision";  // in `numerics`; absent: fp32
inline constexpr const char* k_device = "device";        // likewise; absent: the processor

struct Manifest {
  std::uint64_t step = 0;  // number of completed steps
  std::uint64_t samples_seen = 0;
  std::uint64_t attempt = 0;  // the attempt that wrote it
  std::uint64_t digest = 0;   // of the state (state.hpp)
  std::vector<PartFile> files;
  Fingerprint config;
  ColumnOrder order = ColumnOrder::pytorch;
  std::uint64_t skipped = 0;  // steps without an update because a value was not finite
  Fingerprint numerics{};     // machine, libraries and data; empty in the oldest checkpoints
};

[[nodiscard]] std::string encode_manifest(const Manifest& manifest);

// Errc::invalid for anything but the output of encode_manifest(). Members may be in any order;
// unknown ones are ignored.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text);

// Reads only the manifest. Errc::not_found, Errc::invalid, Errc::io.
[[nodiscard]] Result<Manifest> read_manifest(const std::string& folder);

// Reads and checks everything: sizes and hashes of the files, their tensors, that all values are
// finite, and the digest. Errc::invalid says what differs. On failure `state` is partly filled and
// must not be used. If `state` is nullptr, this checks everything except the digest, with a few MiB
// of memory regardless of the size.
[[nodiscard]] Result<Manifest> read_checkpoint(const std::string& folder,
                                               const Layout& layout,
                                               State* state);

// The same check, without the digest, divided among `readers` processes, of which this is number
// `reader`: it reads files reader, reader + readers and so on, and only the headers of the others.
// The checkpoint is complete if every reader succeeds.
[[nodiscard]] Result<Manifest> check_share(const std::string& folder,
                                           const Layout& layout,
                                           int reader,
                                           int readers);

// Reads from a checkpoint that read_checkpoint() has verified the `wanted` runs of the weights and
// of each moment, and everything that is not a parameter. Sizes and headers of the files are
// checked again. `wanted` is ascending and without overlaps; the rest of a row around a run may be
// filled, too. Errc::invalid, Errc::io.
[[nodiscard]] Result<Manifest> read_runs(const std::string& folder,
                                         const Layout& layout,
                                         const std::vector<Range>& wanted,
                                         State& state);

// The message for a state whose digest is not the one in its manifest.
[[nodiscard]] std::string wrong_digest(std::uint64_t found, std::uint64_t said);

// "batch: 256 there, 512 here; seed: ...", or empty if both are equal.
[[nodiscard]] std::string differences(const Fingerprint& there, const Fingerprint& here);

}  // namespace dts::train
