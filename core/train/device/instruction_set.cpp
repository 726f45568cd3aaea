// SPDX-License-Identifier: Apache-2.0
#include "core/train/device/instruction_set.hpp"

#include "core/base/text/names.hpp"
#include "core/train/device/kernel_table.hpp"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dts::train {
namespace {

constexpr Names<InstructionSet, 3> k_sets{{{InstructionSet::portable, "portable"},
                                           {InstructionSet::avx2, "avx2"},
                                           {InstructionSet::avx512, "avx512"}}};

constexpr Names<Precision, 3> k_precisions{
    {{Precision::fp32, "fp32"}, {Precision::tf32, "tf32"}, {Precision::bf16, "bf16"}}};

constexpr Names<Bf16Instructions, 3> k_bf16{{{Bf16Instructions::none, "none"},
                                             {Bf16Instructions::avx512_bf16, "avx512_bf16"},
                                             {Bf16Instructions::amx, "amx"}}};

dnnl::cpu_isa in_onednn(InstructionSet set, Bf16Instructions bf16) {
  if (bf16 == Bf16Instructions::amx) return dnnl::cpu_isa::avx512_core_amx;
  if (bf16 == Bf16Instructions::avx512_bf16) return dnnl::cpu_isa::avx512_core_bf16;
  switch (set) {
    case InstructionSet::avx512:
      return dnnl::cpu_isa::avx512_core;
    case InstructionSet::avx2:
      return dnnl::cpu_isa::avx2;
    case InstructionSet::portable:
      break;
  }
  return dnnl::cpu_isa::sse41;
}

}  // namespace

InstructionSet best_instruction_set() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return InstructionSet::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::avx2;
#endif
  return InstructionSet::portable;
}

const char* to_string(InstructionSet set) {
  return name_of(k_sets, set);
}

std::optional<InstructionSet> instruction_set_of(std::string_view word) {
  return value_of(k_sets, word);
}

const char* to_string(Precision precision) {
  return name_of(k_precisions, precision);
}

std::optional<Precision> precision_of(std::string_view word) {
  return value_of(k_precisions, word);
}

const char* to_string(Bf16Instructions instructions) {
  return name_of(k_bf16, instructions);
}

Bf16Instructions best_bf16_instructions() {
#if defined(__x86_64__)
  if (best_instruction_set() != InstructionSet::avx512) return Bf16Instructions::none;
  // From Intel's manual, volume 2A, CPUID, because not every __builtin_cpu_supports() knows them.
  constexpr unsigned k_avx512_bf16 = 1U << 5;      // leaf 7, 1: EAX
  constexpr unsigned k_amx = 1U << 22 | 1U << 24;  // leaf 7, 0: EDX, bf16 and tiles
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0 || (a & k_avx512_bf16) == 0)
    return Bf16Instructions::none;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & k_amx) == k_amx)
    return Bf16Instructions::amx;
  return Bf16Instructions::avx512_bf16;
#else
  return Bf16Instructions::none;
#endif
}

Result<void> check_precision(Precision precision, InstructionSet set, Bf16Instructions best) {
  if (precision == Precision::fp32) return {};
  if (precision == Precision::tf32)
    return fail(Errc::usage,
                "--precision tf32 is for GPUs, and this training runs on processors",
                "use --device cuda, or --precision fp32");
  if (best == Bf16Instructions::none)
    return fail(Errc::usage,
                "--precision bf16 needs the instructions AVX512-BF16 or AMX-BF16, which this "
                "processor does not have",
                "--precision fp32 works here");
  if (set != InstructionSet::avx512)
    return fail(
        Errc::usage,
        fmt::format("--precision bf16 needs AVX512-BF16, which --instruction-set {} excludes",
                    to_string(set)),
        "--precision fp32 works with it");
  return {};
}

void use_instruction_set(InstructionSet set, Bf16Instructions bf16) {
  select_kernels(set);
  dnnl::set_max_cpu_isa(in_onednn(set, bf16));
}

}  // namespace dts::train
