// SPDX-License-Identifier: Apache-2.0
// What GPUs can do at most, by their makers' data sheets: FLOP/s of dense matrix products. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace dts::train {

struct CardPeak {
  std::string_view card;  // how CUDA's name begins
  double bf16 = 0;
  double tf32 = 0;
  double fp32 = 0;  // without tensor cores
};

// Sheets that print rates with sparsity have twice that. The longer of two names comes first.
inline constexpr CardPeak k_card_peaks[] = {
    // NVIDIA HGX B200 data sheet, 2025: 8 GPUs with 36 and 18 PFLOP/s with sparsity, 600 TFLOP/s.
    {"NVIDIA B200", 2250e12, 1125e12, 75e12},
    // NVIDIA H200 data sheet, 2024.
    {"NVIDIA H200 NVL", 835.5e12, 417.5e12, 60e12},
    {"NVIDIA H200", 989.5e12, 494.5e12, 67e12},
    // NVIDIA H100 data sheet, 2023 and 2024.
    {"NVIDIA H100 PCIe", 756.5e12, 378e12, 51e12},
    {"NVIDIA H100 NVL", 835.5e12, 417.5e12, 60e12},
    {"NVIDIA H100 80GB HBM3", 989.5e12, 494.5e12, 67e12},
    // NVIDIA A100 data sheet, 2021.
    {"NVIDIA A100", 312e12, 156e12, 19.5e12},
    // NVIDIA L40S, L40 and L4 data sheets, 2023.
    {"NVIDIA L40S", 362e12, 183e12, 91.6e12},
    {"NVIDIA L4", 121e12, 60e12, 30.3e12},
    // NVIDIA A40 data sheet, 2021, and A10, 2021.
    {"NVIDIA A40", 149.7e12, 74.8e12, 37.4e12},
    {"NVIDIA A10", 125e12, 62.5e12, 31.2e12}};

// nullopt: no sheet is known.
[[nodiscard]] constexpr std::optional<CardPeak> card_peak(std::string_view name) {
  for (const CardPeak& one : k_card_peaks) {
    const bool begins = name.substr(0, one.card.size()) == one.card;
    const std::string_view rest = begins ? name.substr(one.card.size()) : "";
    // "NVIDIA L4" is not "NVIDIA L40", and an A100 has a form after its name: "-SXM4-80GB".
    if (begins && (rest.empty() || rest.front() == ' ' || rest.front() == '-')) return one;
  }
  return std::nullopt;
}

}  // namespace dts::train
