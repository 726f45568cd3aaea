// SPDX-License-Identifier: Apache-2.0
#include "core/train/instruction_set.hpp"

#include "core/train/kernel_table.hpp"

#include <oneapi/dnnl/dnnl.hpp>

namespace dts::train {
namespace {

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
  switch (set) {
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::portable:
      break;
  }
  return "portable";
}

std::optional<InstructionSet> instruction_set_of(std::string_view word) {
  for (const InstructionSet set :
       {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512})
    if (word == to_string(set)) return set;
  return std::nullopt;
}

void use_instruction_set(InstructionSet set) {
  select_kernels(set);
  dnnl::set_max_cpu_isa(in_onednn(set));
}

}  // namespace dts::train
