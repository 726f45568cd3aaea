// SPDX-License-Identifier: Apache-2.0
// The content of a checkpoint: tensors in a safetensors file, and a manifest that verifies them.
// Pure: functions on bytes, safe for any input.
#pragma once

#include "core/base/result.hpp"
#include "core/train/checkpoint/state.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dts::train {

inline constexpr const char* k_state_file = "state.safetensors";
inline constexpr const char* k_manifest_file = "manifest.json";

// Everything that determines a run's results bit for bit: name to value, as text.
using Fingerprint = std::map<std::string, std::string>;

// The one member that may differ on resume: training continues, but not bit-identically.
inline constexpr const char* k_instruction_set = "instruction_set";

struct Manifest {
  std::uint64_t step = 0;  // completed
  std::uint64_t samples_seen = 0;
  std::uint64_t attempt = 0;  // the attempt that wrote it
  std::uint64_t digest = 0;   // of the state (state.hpp)
  std::uint64_t bytes = 0;    // of the state file
  std::uint64_t hash = 0;     // XXH3 of the state file
  Fingerprint config;
};

// Little-endian 8-byte header length, JSON header, row-major float32 tensors
// (https://huggingface.co/docs/safetensors): "model.*", "momentum.*" and "running.*". Depends only
// on the state, not on the number of ranks that computed it.
[[nodiscard]] std::string encode_state(const Layout& layout, const State& state);

// Fills `state` except for its step. Errc::invalid unless every tensor of the layout is present
// with its shape and inside the file.
[[nodiscard]] Result<void> decode_state(std::string_view bytes, const Layout& layout, State& state);

[[nodiscard]] std::string encode_manifest(const Manifest& manifest);

// Errc::invalid for anything but what encode_manifest writes (unknown members are ignored).
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text);

// The whole check: size and hash of the state file, its tensors, and the digest. Errc::invalid
// names what differs; on failure `state` is half-filled and must not be used.
[[nodiscard]] Result<void> decode_checkpoint(const Manifest& manifest,
                                             std::string_view state_bytes,
                                             const Layout& layout,
                                             State& state);

// "batch: 256 there, 512 here; seed: ...", or empty if the two are equal.
[[nodiscard]] std::string differences(const Fingerprint& there, const Fingerprint& here);

}  // namespace dts::train
