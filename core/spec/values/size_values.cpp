// SPDX-License-Identifier: Apache-2.0
// The size of a job as sbatch spells it: nodes, tasks, and GPUs with a type.
#include "core/base/text/text.hpp"
#include "core/spec/gres.hpp"
#include "core/spec/values/json_values.hpp"
#include "core/spec/values/slurm_values.hpp"
#include "core/spec/values/values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::spec {
namespace {

constexpr const char* k_gpu_example = "for example 8 or a100:4";

Result<unsigned> plain_count(const std::string& text) {
  const auto number = parse_number(text);
  if (!number || *number > k_most)
    return fail(Errc::invalid, fmt::format("`{}` is not a whole number up to {}", text, k_most));
  return static_cast<unsigned>(*number);
}

bool is_gpu_type(const std::string& type) {
  return !type.empty() && is_printable(type) && type.find_first_of(" \t:,=()") == std::string::npos;
}

}  // namespace

Result<TypedGpus> parse_gpus(const std::string& text) {
  if (text.find(',') != std::string::npos)
    return fail(Errc::invalid,
                fmt::format("`{}` asks for several types: all GPUs of a job have the same", text),
                k_gpu_example);
  const std::size_t colon = text.rfind(':');
  TypedGpus gpus;
  if (colon != std::string::npos) gpus.type = text.substr(0, colon);
  if (colon != std::string::npos && !is_gpu_type(gpus.type))
    return fail(Errc::invalid, fmt::format("`{}` is not a type of GPU", gpus.type), k_gpu_example);
  DTS_ASSIGN(gpus.count, plain_count(colon == std::string::npos ? text : text.substr(colon + 1)));
  return gpus;
}

namespace {

// Fails if two options name different GPU types; an empty type matches any.
Result<void> set_type(const std::string& type, JobSpec& spec) {
  if (!type.empty() && !spec.gpu_type.empty() && spec.gpu_type != type)
    return fail(Errc::invalid,
                fmt::format("GPUs of type {}, but also of type {}", type, spec.gpu_type),
                "all GPUs of a job have the same type");
  if (!type.empty()) spec.gpu_type = type;
  return {};
}

Result<void> set_gpus_per_node(const TypedGpus& gpus, JobSpec& spec) {
  if (spec.gpus_per_node && *spec.gpus_per_node != gpus.count)
    return fail(
        Errc::invalid,
        fmt::format(
            "{} GPUs on each node, but --gpus-per-node says {}", gpus.count, *spec.gpus_per_node),
        "omit one of both");
  spec.gpus_per_node = gpus.count;
  return set_type(gpus.type, spec);
}

// A --gres item for GPUs without its first word: "gpu" is one GPU, "gpu:a100" too.
Result<TypedGpus> gres_gpus(const std::string& rest) {
  if (rest.empty()) return TypedGpus{};
  const bool counted = rest.find_last_of("0123456789") == rest.size() - 1;
  const std::size_t colon = rest.rfind(':');
  const std::string last = colon == std::string::npos ? rest : rest.substr(colon + 1);
  if (counted && parse_number(last)) return parse_gpus(rest);
  return parse_gpus(rest + ":1");
}

Result<void> parse_gres(const std::string& typed, JobSpec& spec) {
  const GresItems items = split_gres(typed);
  for (const std::string& item : items.gpus) {
    DTS_ASSIGN(const TypedGpus gpus, gres_gpus(item));
    DTS_TRY(set_gpus_per_node(gpus, spec));
  }
  if (!items.others.empty()) spec.slurm["gres"] = join(items.others, ",");
  return {};
}

}  // namespace

Value node_count() {
  Value value = count(&JobSpec::nodes, 1);
  value.parse = [](const std::string& typed, JobSpec& spec) -> Result<void> {
    const std::size_t dash = typed.find('-');
    const std::string least = typed.substr(0, dash);
    if (dash != std::string::npos && dash > 0 && typed.substr(dash + 1) != least)
      return fail(Errc::invalid,
                  fmt::format("`{}` is a range: the number of ranks must be known", typed),
                  "give one number; --spares asks for nodes to replace failed ones");
    DTS_ASSIGN(spec.nodes, plain_count(dash == 0 ? typed : least));
    spec.totals.nodes_given = true;
    return {};
  };
  return value;
}

Value gpus_per_node() {
  Value value = count(&JobSpec::gpus_per_node, 0);
  value.type = "[TYPE:]N";
  value.parse = [](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(const TypedGpus gpus, parse_gpus(typed));
    return set_gpus_per_node(gpus, spec);
  };
  value.read = [plain = value.read](const nlohmann::json& stored, JobSpec& spec) -> Result<void> {
    if (!stored.is_string()) return plain(stored, spec);
    DTS_ASSIGN(const TypedGpus gpus, parse_gpus(stored.get<std::string>()));
    spec.gpus_per_node = gpus.count;
    spec.gpu_type = gpus.type;
    return {};
  };
  value.write = [plain = value.write](const JobSpec& spec) {
    return spec.gpu_type.empty() || !spec.gpus_per_node
               ? plain(spec)
               : nlohmann::ordered_json(fmt::format("{}:{}", spec.gpu_type, *spec.gpus_per_node));
  };
  return value;
}

Value gpu_total(std::optional<unsigned> Totals::*member) {
  Value value;
  value.type = "[TYPE:]N";
  value.parse = [member](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(const TypedGpus gpus, parse_gpus(typed));
    spec.totals.*member = gpus.count;
    return set_type(gpus.type, spec);
  };
  return value;
}

Value task_total(std::optional<unsigned> Totals::*member) {
  Value value;
  value.type = "N";
  value.parse = [member](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(const unsigned number, plain_count(typed));
    if (number == 0) return fail(Errc::invalid, "at least 1, not 0");
    spec.totals.*member = number;
    return {};
  };
  return value;
}

Value ranks_per_gpu() {
  const Value total = task_total(&Totals::ntasks_per_gpu);
  Value value = for_slurm("ntasks-per-gpu", "N");
  value.parse = [total](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_TRY(total.parse(typed, spec));
    spec.slurm["ntasks-per-gpu"] = std::to_string(*spec.totals.ntasks_per_gpu);
    return {};
  };
  return value;
}

Value gres() {
  Value value = for_slurm("gres", "LIST");
  value.parse = parse_gres;
  return value;
}

}  // namespace dts::spec
