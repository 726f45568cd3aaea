// SPDX-License-Identifier: Apache-2.0
#include "core/train/device/instruction_set.hpp"

#include "core/base/text/names.hpp"
#include "core/train/device/kernel_table.hpp"

#include <oneapi/dnnl/dnnl.hpp>

namespace dts::train {
namespace {

constexpr Names<InstructionSet, 3> k_sets{{{InstructionSet::portable, "portable"},
                                           {InstructionSet::avx2, "avx2"},
                                           {InstructionSet::avx512, "avx512"}}};

dnnl::cpu_isa in_onednn(InstructionSet set) {
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

void use_instruction_set(InstructionSet set) {
  select_kernels(set);
  dnnl::set_max_cpu_isa(in_onednn(set));
}

}  // namespace dts::train
