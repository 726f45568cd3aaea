// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/gpu_view.hpp"

#include "core/base/text/text.hpp"
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

// A comment neither takes a GPU nor reads a variable.
std::string without_comments(const std::string& text) {
  std::string code;
  for (const std::string& line : split(text, '\n')) code += line.substr(0, line.find('#')) + "\n";
  return code;
}

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// What follows, up to the bracket that closes it.
std::string_view arguments_in(std::string_view rest) {
  constexpr std::size_t k_longest_arguments = 400;
  rest = rest.substr(0, k_longest_arguments);
  int depth = 0;
  std::size_t end = 0;
  for (; end < rest.size() && depth >= 0; ++end) {
    if (rest[end] == '(' || rest[end] == '[') ++depth;
    if (rest[end] == ')' || rest[end] == ']') --depth;
  }
  return rest.substr(0, depth < 0 ? end - 1 : end);
}

// True if the arguments of one of the calls of `name` are such: "device(" of `torch.device(x)`, not
// of `to_device(x)`.
bool has_call(std::string_view text, std::string_view name, bool (*is_such)(std::string_view)) {
  const bool begins_name = is_of_name(name.front());
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1))
    if ((!begins_name || at == 0 || !is_of_name(text[at - 1])) &&
        is_such(arguments_in(text.substr(at + name.size()))))
      return true;
  return false;
}

bool names_rank(std::string_view arguments) {
  return has_one_of(arguments, {"rank", "Rank", "RANK", "LOCALID"});
}

// set_device(args.gpu), but not set_device("gpu")
bool names_rank_or_gpu(std::string_view arguments) {
  return names_rank(arguments) || arguments.starts_with("gpu") || has_one_of(arguments, {".gpu"});
}

// torch.device("cuda", args.gpu), but not torch.device("cuda"), which is the first one
bool names_number(std::string_view arguments) {
  const std::size_t comma = arguments.find(',');
  const std::string_view second = comma == arguments.npos ? "" : trim(arguments.substr(comma + 1));
  return names_rank(arguments) || names_rank_or_gpu(second);
}

// f"cuda:{x}", "cuda:%d" % x, "cuda:" + x, f"{kind}:{local_rank}"; not "cuda:0"
bool formats_device(std::string_view text) {
  return has_one_of(text, {"cuda:{", "cuda:%", "cuda:\" ", "cuda:\"+", "cuda:' ", "cuda:'+"}) ||
         has_one_of(text, {"}:{local_rank", "}:{rank", "}:{args.local_rank"});
}

// True if it takes a device by a number that is not written in it.
bool chooses_device(std::string_view text) {
  return formats_device(text) || has_call(text, "set_device(", names_rank_or_gpu) ||
         has_call(text, "set_device_index(", names_rank_or_gpu) ||
         has_call(text, "set_visible_devices(", names_rank) ||
         has_call(text, "device(", names_number) || has_call(text, "Device(", names_number) ||
         has_call(text, "device_ids=[", names_rank_or_gpu) ||
         has_call(text, "local_device_ids=", names_rank) ||
         has_call(text, "visible_device_list = str(", names_rank) ||
         has_call(text, ".cuda(", names_rank_or_gpu) || has_call(text, ".to(", names_rank);
}

// Trainer(devices=1) is a training of its own, on the first GPU that it sees.
bool trains_on_one_device(std::string_view text) {
  for (std::size_t at = text.find("devices"); at != text.npos; at = text.find("devices", at + 1)) {
    std::string_view rest = trim(text.substr(at + 7, 16));
    if (!rest.starts_with('=')) continue;
    rest = trim(rest.substr(1));
    if (rest.starts_with("[0]") ||
        (rest.starts_with('1') && (rest.size() < 2 || !is_of_name(rest[1]))))
      return true;
  }
  return false;
}

bool uses_lightning(std::string_view text) {
  return has_one_of(
      text,
      {"import lightning", "from lightning", "import pytorch_lightning", "from pytorch_lightning"});
}

// Each takes the GPU of its local rank by itself.
bool uses_such_a_library(std::string_view text) {
  return has_one_of(text,
                    {"import deepspeed",
                     "from deepspeed",
                     "from composer",
                     "from torchtitan",
                     "import torchtune",
                     "from torchtune",
                     "ignite.distributed",
                     "Accelerator(",
                     "TrainingArguments"});
}

}  // namespace

bool takes_gpu_by_local_rank(const std::vector<std::string>& texts) {
  bool takes = false;
  bool is_lightning = false;
  bool is_alone = false;
  for (const std::string& text : texts) {
    const std::string code = without_comments(text);
    if (has_one_of(code, {"CUDA_VISIBLE_DEVICES"})) return false;
    takes = takes || (reads_local_rank(code) && chooses_device(code)) || uses_such_a_library(code);
    is_lightning = is_lightning || uses_lightning(code);
    is_alone = is_alone || trains_on_one_device(code);
  }
  return takes || (is_lightning && !is_alone);
}

bool may_number_gpus(const plan::Plan& plan) {
  return plan.workers_per_task == 0 && plan.gpus_per_node > 1 &&
         plan.gpus_per_node == plan.ntasks_per_node;
}

std::string script_that_numbers_gpus(const plan::Plan& plan) {
  // Without LOCAL_RANK, programs take it for 0.
  const bool has_variables = is_one_of(plan.frameworks, "torch");
  if (plan.command.empty() || !has_variables || !may_number_gpus(plan)) return {};
  const std::string script = plan::script_file(plan.command).value_or(plan.command.front());
  if (!script.ends_with(".py")) return {};
  return takes_gpu_by_local_rank(python_texts(script)) ? script : "";
}

}  // namespace dts::launch
