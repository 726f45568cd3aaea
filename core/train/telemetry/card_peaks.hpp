// SPDX-License-Identifier: Apache-2.0
// Peak FLOP/s of dense matrix products on GPUs, from their makers' data sheets. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace dts::train {

struct CardPeak {
  std::string_view card;  // prefix of CUDA's name
  double bf16 = 0;
  double tf32 = 0;
  double fp32 = 0;  // without tensor cores
};

// Sheets that give rates with sparsity have twice these. Of two names, the longer comes first.
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

// nullopt if no data sheet is known.
[[nodiscard]] constexpr std::optional<CardPeak> card_peak(std::string_view name) {
  for (const CardPeak& one : k_card_peaks) {
    const bool begins = name.substr(0, one.card.size()) == one.card;
    const std::string_view rest = begins ? name.substr(one.card.size()) : "";
    // "NVIDIA L4" must not match "NVIDIA L40", but an A100 has a suffix: "-SXM4-80GB".
    if (begins && (rest.empty() || rest.front() == ' ' || rest.front() == '-')) return one;
  }
  return std::nullopt;
}

}  // namespace dts::train
