// SPDX-License-Identifier: Apache-2.0
// A checkpoint: a folder with the state in one or several safetensors files, and a manifest that
// verifies them. Safe for any content of the files.
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

// Everything that determines a run's results bit for bit: name to value, as text.
using Fingerprint = std::map<std::string, std::string>;

// The one member that may differ on resume: training continues, but not bit-identically.
inline constexpr const char* k_instruction_set = "instruction_set";
inline constexpr const char* k_precision = "precision";  // in `numerics`; absent: fp32
inline constexpr const char* k_device = "device";        // likewise; absent: the processor

struct Manifest {
  std::uint64_t step = 0;  // completed
  std::uint64_t samples_seen = 0;
  std::uint64_t attempt = 0;  // the attempt that wrote it
  std::uint64_t digest = 0;   // of the state (state.hpp)
  std::vector<PartFile> files;
  Fingerprint config;
  ColumnOrder order = ColumnOrder::pytorch;
  std::uint64_t skipped = 0;  // steps without an update because something was not finite
  Fingerprint numerics{};     // machine, libraries and data; empty in the oldest checkpoints
};

[[nodiscard]] std::string encode_manifest(const Manifest& manifest);

// Errc::invalid for anything but what encode_manifest writes, in any order (unknown members are
// ignored).
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text);

// The manifest alone. Errc::not_found, Errc::invalid, Errc::io.
[[nodiscard]] Result<Manifest> read_manifest(const std::string& folder);

// The whole check: sizes and hashes of the files, their tensors, that all values are finite, and
// the digest. Errc::invalid names what differs. On failure `state` is half-filled and must not be
// used; if it is nullptr, everything but the digest is checked, with a few MiB of memory for any
// size.
[[nodiscard]] Result<Manifest> read_checkpoint(const std::string& folder,
                                               const Layout& layout,
                                               State* state);

// The same check without the digest by `readers` processes side by side, of which this is number
// `reader`: it reads file reader, reader + readers and so on, and the headers of all others. The
// checkpoint is whole if every reader says so.
[[nodiscard]] Result<Manifest> check_share(const std::string& folder,
                                           const Layout& layout,
                                           int reader,
                                           int readers);

// What those runs of the flat array of parameters have of the weights and of each moment, and all
// that is not of parameters, from a checkpoint that read_checkpoint() has verified: of the files,
// sizes and headers are checked again. `wanted` is ascending and has no overlaps. Around a run, the
// rest of a row may be filled, too. Errc::invalid, Errc::io.
[[nodiscard]] Result<Manifest> read_runs(const std::string& folder,
                                         const Layout& layout,
                                         const std::vector<Range>& wanted,
                                         State& state);

// What is said of a state whose digest is not that of its manifest.
[[nodiscard]] std::string wrong_digest(std::uint64_t found, std::uint64_t said);

// "batch: 256 there, 512 here; seed: ...", or empty if the two are equal.
[[nodiscard]] std::string differences(const Fingerprint& there, const Fingerprint& here);

}  // namespace dts::train
