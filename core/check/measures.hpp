// SPDX-License-Identifier: Apache-2.0
// The measures of a check, one row each: its names, which direction is better, how large a
// difference counts as a fault, and what it is compared with. Pure; the table is constant,
// thread-safe.
#pragma once

#include "core/check/facts.hpp"

#include <array>
#include <string>
#include <string_view>

namespace dts::check {

enum class Better { higher, lower };

// Measures that one disturbance affects together, so their noise is estimated together.
enum class Family { count, processor, gpu, disk, network, clock, neighbours };

struct Measure {
  const char* key;
  const char* label;
  const char* heading;  // of a column in tables
  Better better;
  Family family;
  // The share of the peers' value by which a healthy value may be worse. For an offset: seconds.
  // For `others`: the share itself.
  double tolerance;
  bool has_baseline;  // false: compared with peers only, as it depends on other users
};

// The reasons for these tolerances: repeated measurements of one idle node differ by 1 to 3 %
// (clock, GEMM) and up to 5 % (memory), while a node slowed by 20 % must be found. Disks and file
// systems are shared, so only a node far behind its peers is at fault, and yesterday's value says
// little about today's. A GPU's own clock measures its copies, which nothing else disturbs; a PCIe
// link that lost lanes or a generation loses half.
inline constexpr std::array k_measures{
    Measure{"cores", "cores", "cores", Better::higher, Family::count, 0, true},
    Measure{"clock", "clock rate", "clock", Better::higher, Family::processor, 0.15, true},
    Measure{"clock_slowest",
            "clock rate of the slowest core",
            "slowest",
            Better::higher,
            Family::processor,
            0.15,
            true},
    Measure{"gemm_fp32_core",
            "fp32 GEMM rate of a core",
            "fp32/core",
            Better::higher,
            Family::processor,
            0.15,
            true},
    Measure{"gemm_fp32", "fp32 GEMM rate", "fp32", Better::higher, Family::processor, 0.15, true},
    Measure{"gemm_bf16_core",
            "bf16 GEMM rate of a core",
            "bf16/core",
            Better::higher,
            Family::processor,
            0.15,
            true},
    Measure{"gemm_bf16", "bf16 GEMM rate", "bf16", Better::higher, Family::processor, 0.15, true},
    Measure{"memory", "memory bandwidth", "memory", Better::higher, Family::processor, 0.25, true},
    Measure{"gpus", "number of working GPUs", "GPUs", Better::higher, Family::count, 0, true},
    Measure{"h2d", "bandwidth to GPU", "to GPU", Better::higher, Family::gpu, 0.2, true},
    Measure{"d2h", "bandwidth from GPU", "from GPU", Better::higher, Family::gpu, 0.2, true},
    Measure{"hbm", "memory bandwidth of GPU", "HBM", Better::higher, Family::gpu, 0.1, true},
    Measure{
        "gpu_bf16", "bf16 GEMM rate of GPU", "bf16 GPU", Better::higher, Family::gpu, 0.1, true},
    Measure{
        "gpu_fp32", "fp32 GEMM rate of GPU", "fp32 GPU", Better::higher, Family::gpu, 0.1, true},
    Measure{"gpu_step", "training rate of GPU", "step GPU", Better::higher, Family::gpu, 0.1, true},
    Measure{"peer", "bandwidth to GPU", "to GPU", Better::higher, Family::gpu, 0.2, true},
    Measure{"nccl", "NCCL between GPUs", "NCCL", Better::higher, Family::gpu, 0.3, true},
    Measure{"write", "writing and syncing", "write", Better::higher, Family::disk, 0.7, false},
    Measure{"read", "reading", "read", Better::higher, Family::disk, 0.7, false},
    Measure{"clock_offset", "clock", "offset", Better::lower, Family::clock, 0.1, false},
    Measure{"others",
            "time that other programs took",
            "others",
            Better::lower,
            Family::neighbours,
            0.1,
            false},
    Measure{"latency", "latency", "latency", Better::lower, Family::network, 1, true},
    Measure{"bandwidth", "bandwidth", "bandwidth", Better::higher, Family::network, 0.5, true}};

// nullptr for a measure of a later release, which is shown but not judged.
[[nodiscard]] const Measure* find_measure(std::string_view key);

// Identifies a measure within a node: the same text for the same measure of another node.
[[nodiscard]] std::string identity(const Measured& measured);

// For users: "memory bandwidth of NUMA node 1", "reading the scratch folder (/tmp)".
[[nodiscard]] std::string label(const Measured& measured);

// The heading of a table's column: "memory 1", "write run".
[[nodiscard]] std::string heading(const Measured& measured);

// "21.1 GB/s", "3.10 GHz", "8": three significant digits, decimal prefixes, ASCII.
[[nodiscard]] std::string quantity(double value, std::string_view unit);

// "21 %" for 0.21.
[[nodiscard]] std::string percent(double share);

// "10.2 of 21.1 GB/s": the unit is written once if both have the same.
[[nodiscard]] std::string of_quantity(double value, double whole, std::string_view unit);

}  // namespace dts::check
