// SPDX-License-Identifier: Apache-2.0
// What determines the bits of a training besides its options (machine, libraries, compiler and
// data), and the agreement of all ranks on it. Thread-safe.
#pragma once

#include "core/train/checkpoint/checkpoint.hpp"
#include "core/train/comm/comm.hpp"
#include "core/train/device/instruction_set.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

// Describes this rank's machine and program: cpu (vendor, family, model), instruction_set, onednn,
// libc, compiler, trainer, and data, the hash of all training and test images and labels.
[[nodiscard]] Fingerprint local_numerics(InstructionSet used, std::uint64_t data);

// The first processor of the text of /proc/cpuinfo: "GenuineIntel family 6 model 143" on x86,
// "implementer 0x41 part 0xd4f" on Arm, otherwise "unknown". Pure.
[[nodiscard]] std::string processor_of(const std::string& cpuinfo);

// "lr: 0.1 on rank 0,2; 0.2 on rank 1", or empty if all values, one per rank, are equal. Pure.
[[nodiscard]] std::string disagreement(const std::string& name,
                                       const std::vector<std::string>& values);

// Collective: every field must be the same on all ranks. Otherwise each rank gets Errc::invalid.
// Only rank 0's error has a message, which names the fields, values and ranks.
[[nodiscard]] Result<void> agree_on(Comm& comm, const Fingerprint& fields);

}  // namespace dts::train
