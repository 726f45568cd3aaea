// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/told.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/program/shell_program.hpp"
#include "core/lint/script/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace dts::convert {
namespace {

enum class ToldKind {
  place,      // nodes, ranks, rendezvous: set by dtsubmit
  processes,  // of a node
  all,        // processes of all nodes
  flag,       // has no value, and stays
  dropped,    // has no value, and goes
  lost,
};

struct ToldRow {
  std::string_view name;
  ToldKind kind;
};

constexpr ToldRow k_told[] = {
    {"nnodes", ToldKind::place},
    {"node_rank", ToldKind::place},
    {"rdzv_id", ToldKind::place},
    {"rdzv_backend", ToldKind::place},
    {"rdzv_endpoint", ToldKind::place},
    {"rdzv_conf", ToldKind::place},
    {"master_addr", ToldKind::place},
    {"master_port", ToldKind::place},
    {"local_addr", ToldKind::place},
    {"nproc_per_node", ToldKind::processes},
    {"standalone", ToldKind::dropped},
    {"num_machines", ToldKind::place},
    {"machine_rank", ToldKind::place},
    {"main_process_ip", ToldKind::place},
    {"main_process_port", ToldKind::place},
    {"mpirun_hostfile", ToldKind::place},
    {"same_network", ToldKind::dropped},
    {"num_processes", ToldKind::all},
    {"num_nodes", ToldKind::place},
    {"num_gpus", ToldKind::processes},
    {"num_accelerators", ToldKind::processes},
    {"hostfile", ToldKind::place},
    {"H", ToldKind::place},
    {"launcher", ToldKind::place},
    {"launcher_args", ToldKind::place},
    {"no_ssh", ToldKind::dropped},
    {"no_ssh_check", ToldKind::dropped},
    {"ssh_port", ToldKind::place},
    {"force_multi", ToldKind::dropped},
    {"save_pid", ToldKind::dropped},
    {"bind_cores_to_rank", ToldKind::dropped},
    {"bind_core_list", ToldKind::place},
    {"no_local_rank", ToldKind::dropped},
    {"include", ToldKind::lost},
    {"exclude", ToldKind::lost},
    {"base_rank", ToldKind::place},
    {"world_size", ToldKind::place},
    {"no_python", ToldKind::flag},
    {"module", ToldKind::flag},
    {"m", ToldKind::flag},
    {"use_env", ToldKind::flag},
    {"multi_gpu", ToldKind::flag},
    {"cpu", ToldKind::flag},
    {"use_deepspeed", ToldKind::flag},
    {"use_fsdp", ToldKind::flag},
    {"u", ToldKind::flag},
};

const ToldRow* find_row(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  const auto* found = std::find_if(
      std::begin(k_told), std::end(k_told), [&](const ToldRow& row) { return row.name == name; });
  return found == std::end(k_told) ? nullptr : found;
}

bool is_script(const std::string& word) {
  return word.ends_with(".py") || word.ends_with(".sh");
}

class ToldReader {
 public:
  ToldReader(const std::vector<lint::ExpandedWord>& words, const Facts& facts)
      : words_(words), facts_(facts) {
    told_.is_dropped.resize(words.size());
  }

  Told read(std::size_t at) {
    const bool is_torchrun = is_of_torch(at);
    told_.becomes_torchrun = lint::base_name(word(at)) == "deepspeed" && facts_.nodes > 1;
    for (at = behind_name(at); at < words_.size() && !ends_;) at = option(at);
    if (told_.reach == Reach::unknown && is_torchrun) told_.reach = Reach::one_by_default;
    return std::move(told_);
  }

 private:
  [[nodiscard]] const std::string& word(std::size_t at) const { return words_[at].value.text; }

  // torchrun, python -m torch.distributed.run. Other launchers read files that may name more nodes.
  [[nodiscard]] bool is_of_torch(std::size_t at) const {
    const std::string program = lint::base_name(word(at));
    if (program == "torchrun") return true;
    if (!lint::is_python(program)) return false;
    return std::any_of(words_.begin() + static_cast<std::ptrdiff_t>(at),
                       words_.end(),
                       [](const lint::ExpandedWord& one) {
                         return one.value.text.starts_with("torch.distributed.");
                       });
  }

  // Notes what the option says about the number of nodes.
  void note_reach(std::string name, const std::string& value) {
    std::replace(name.begin(), name.end(), '-', '_');
    constexpr std::string_view k_sizes[] = {"nnodes", "num_machines", "num_nodes"};
    constexpr std::string_view k_of_several[] = {"node_rank",
                                                 "machine_rank",
                                                 "rdzv_endpoint",
                                                 "master_addr",
                                                 "main_process_ip",
                                                 "hostfile",
                                                 "config_file"};
    const bool is_local = value.find("localhost") != std::string::npos ||
                          value.find("127.0.0.1") != std::string::npos;
    if (name == "standalone" || (is_one_of(k_sizes, name) && (value == "1" || value == "1:1")))
      told_.reach = Reach::one;
    else if (told_.reach != Reach::one && !is_local &&
             (is_one_of(k_sizes, name) || is_one_of(k_of_several, name)))
      told_.reach = Reach::several;
  }

  // Behind "accelerate launch", "python -u -m torch.distributed.run".
  [[nodiscard]] std::size_t behind_name(std::size_t at) const {
    const std::string program = lint::base_name(word(at++));
    if (program == "accelerate" || program == "tune" || program == "colossalai")
      return std::min(at + 1, words_.size());
    if (!lint::is_python(program)) return at;
    while (at < words_.size() && word(at) != "-m") ++at;
    return std::min(at + 2, words_.size());
  }

  std::size_t option(std::size_t at) {
    const std::string& text = word(at);
    if (!text.starts_with('-') || text == "--") {
      ends_ = true;
      return at;
    }
    const std::size_t equals = text.find('=');
    const std::size_t begin = text.starts_with("--") ? 2 : 1;
    const std::string name =
        text.substr(begin, equals == std::string::npos ? equals : equals - begin);
    const ToldRow* row = find_row(name);
    const bool is_flag =
        row != nullptr && (row->kind == ToldKind::flag || row->kind == ToldKind::dropped);
    const bool is_next = equals == std::string::npos && !is_flag && at + 1 < words_.size() &&
                         !is_script(word(at + 1)) &&
                         (row != nullptr || !word(at + 1).starts_with('-'));
    const std::size_t last = is_next ? at + 1 : at;
    note_reach(name, equals != std::string::npos ? text.substr(equals + 1) : word(last));
    if (row == nullptr && told_.becomes_torchrun)
      told_.losses.push_back(
          fmt::format("{}: torchrun, which replaces deepspeed, has no such option", text));
    if (row != nullptr)
      judge(*row, at, last, equals != std::string::npos ? text.substr(equals + 1) : word(last));
    return last + 1;
  }

  void judge(const ToldRow& row, std::size_t at, std::size_t last, const std::string& value) {
    switch (row.kind) {
      case ToldKind::flag:
        return;
      case ToldKind::lost:
        return told_.losses.push_back(
            fmt::format("{} chooses among the nodes: ask for them with --nodelist", word(at)));
      case ToldKind::processes:
        if (!is_one_for_each_gpu(value, 1)) return told_.processes.push_back(at);
        break;
      case ToldKind::all:
        if (!is_one_for_each_gpu(value, facts_.nodes)) return;
        break;
      case ToldKind::place:
      case ToldKind::dropped:
        break;
    }
    for (std::size_t i = at; i <= last; ++i) told_.is_dropped[i] = true;
    const std::string name = word(at).substr(0, word(at).find('='));
    told_.notes.push_back(name);
  }

  [[nodiscard]] bool is_one_for_each_gpu(const std::string& value, std::uint64_t nodes) const {
    if (value.find("SLURM_GPUS") != std::string::npos && nodes == 1) return true;
    const auto number = parse_number(value);
    return number && facts_.gpus_per_node && *number == *facts_.gpus_per_node * nodes;
  }

  const std::vector<lint::ExpandedWord>& words_;
  const Facts& facts_;
  Told told_;
  bool ends_ = false;
};

}  // namespace

Told told_options(const std::vector<lint::ExpandedWord>& words,
                  std::size_t at,
                  const Facts& facts) {
  return ToldReader(words, facts).read(at);
}

void replace_deepspeed(std::vector<FlatWord>& words,
                       std::size_t at,
                       const Told& told,
                       Program& program) {
  if (!told.becomes_torchrun) return;
  words[at] = {{Segment::Kind::literal, "torchrun", true}};
  for (const std::size_t place : told.processes) {
    std::string& option = words[place].front().text;
    option.replace(0, option.find('='), "--nproc_per_node");
  }
  program.notes.emplace_back(
      "deepspeed: torchrun starts the same processes on each node, with LOCAL_RANK in place of "
      "--local_rank");
}

void add_told(Told& told, Program& program) {
  if (!told.notes.empty()) program.notes.push_back(join(told.notes, ", ") + ": set by dtsubmit");
  program.note({}, told.losses);
  if (told.reach == Reach::unknown) return;
  program.reach =
      program.reach == Reach::unknown || program.reach == told.reach ? told.reach : Reach::several;
}

}  // namespace dts::convert
