// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/gpu_view.hpp"

#include "core/launch/program/python_files.hpp"
#include "core/plan/program/script_file.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>

namespace dts::launch {
namespace {

bool has_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) {
    return text.find(word) != text.npos;
  });
}

// From the environment, or of a library; a mere name, as in `args.local_rank`, may be 0 everywhere.
bool reads_local_rank(std::string_view text) {
  return has_one_of(
      text, {"LOCAL_RANK", "local_rank()", "SLURM_LOCALID", "LOCALRANKID", "JobEnvironment("});
}

// What follows words by which a program chooses its GPU, unless it is the same one in all ranks.
enum class Follows {
  anything,
  name,  // a variable or call, not a number or text
  rank   // before the next parenthesis closes, something that is named after a rank or GPU
};

struct Choice {
  std::string_view words;
  Follows follows;
};

constexpr Choice k_choices[] = {{"cuda.set_device(", Follows::name},
                                {"set_device_index(", Follows::name},
                                {"cuda:{", Follows::anything},
                                {"cuda:%", Follows::anything},
                                {"cuda:\" +", Follows::anything},
                                {"cuda:' +", Follows::anything},
                                {"device(\"cuda\", ", Follows::name},
                                {"device('cuda', ", Follows::name},
                                {"device_ids=[", Follows::name},
                                {"visible_devices(", Follows::rank},
                                {"visible_device_list", Follows::rank},
                                {"local_device_ids", Follows::rank},
                                {"cuda.Device(", Follows::name},
                                {".cuda(", Follows::rank},
                                {".to(", Follows::rank}};

bool holds(Follows follows, std::string_view rest) {
  constexpr std::size_t k_longest_line = 120;
  rest = rest.substr(0, std::min(rest.find('\n'), k_longest_line));
  switch (follows) {
    case Follows::anything:
      return true;
    case Follows::name:
      return !rest.empty() && (std::isalpha(static_cast<unsigned char>(rest[0])) || rest[0] == '_');
    case Follows::rank:
      return has_one_of(rest.substr(0, rest.find(')')), {"rank", "RANK", "LOCALID", "gpu"});
  }
  return false;
}

bool chooses_gpu(std::string_view text) {
  for (const auto& [words, follows] : k_choices)
    for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1))
      if (holds(follows, text.substr(at + words.size()))) return true;
  return false;
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
    takes = takes || (reads_local_rank(text) && chooses_gpu(text)) || uses_such_a_library(text);
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
