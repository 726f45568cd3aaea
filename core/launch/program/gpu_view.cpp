// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/gpu_view.hpp"

#include "core/launch/program/python_files.hpp"
#include "core/plan/program/script_file.hpp"

#include <algorithm>
#include <initializer_list>

namespace dts::launch {
namespace {

bool has_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) {
    return text.find(word) != text.npos;
  });
}

bool reads_local_rank(std::string_view text) {
  return has_one_of(text,
                    {"LOCAL_RANK", "local_rank", "LocalRank", "SLURM_LOCALID", "LOCALRANKID"});
}

bool chooses_device(std::string_view text) {
  return has_one_of(text,
                    {"set_device",
                     "visible_devices",
                     "cuda:",
                     "device(",
                     "Device(",
                     "device_ids",
                     ".cuda(local_rank",
                     ".to(local_rank"});
}

// Each takes the GPU of its local rank by itself.
bool uses_such_a_library(std::string_view text) {
  return has_one_of(text,
                    {"import deepspeed",
                     "from deepspeed",
                     "import lightning",
                     "from lightning",
                     "import pytorch_lightning",
                     "from pytorch_lightning",
                     "from composer",
                     "from torchtitan",
                     "ignite.distributed",
                     "Accelerator(",
                     "TrainingArguments"});
}

}  // namespace

bool takes_gpu_by_local_rank(const std::vector<std::string>& texts) {
  bool takes = false;
  for (const std::string& text : texts) {
    if (has_one_of(text, {"CUDA_VISIBLE_DEVICES"})) return false;
    takes = takes || (reads_local_rank(text) && chooses_device(text)) || uses_such_a_library(text);
  }
  return takes;
}

bool may_number_gpus(const plan::Plan& plan) {
  return plan.workers_per_task == 0 && plan.gpus_per_node > 1 &&
         plan.gpus_per_node == plan.ntasks_per_node;
}

std::string script_that_numbers_gpus(const plan::Plan& plan) {
  if (plan.command.empty() || !may_number_gpus(plan)) return {};
  const std::string script = plan::script_file(plan.command).value_or(plan.command.front());
  if (!script.ends_with(".py")) return {};
  return takes_gpu_by_local_rank(python_texts(script)) ? script : "";
}

}  // namespace dts::launch
