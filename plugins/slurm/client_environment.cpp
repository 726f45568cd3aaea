// SPDX-License-Identifier: Apache-2.0
// Follows sbatch 22.05; tests/contract compares the result inside a job.
#include "plugins/slurm/client_environment.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace slurm_plugin {
namespace {

struct Limit {
  const char* name;
  int resource;
};

constexpr Limit k_limits[] = {
    {"CPU", RLIMIT_CPU},
    {"FSIZE", RLIMIT_FSIZE},
    {"DATA", RLIMIT_DATA},
    {"STACK", RLIMIT_STACK},
    {"CORE", RLIMIT_CORE},
    {"RSS", RLIMIT_RSS},
    {"NPROC", RLIMIT_NPROC},
    {"NOFILE", RLIMIT_NOFILE},
    {"MEMLOCK", RLIMIT_MEMLOCK},
    {"AS", RLIMIT_AS},
};

std::string umask_text() {
  const mode_t mask = umask(0);
  umask(mask);
  std::string text = "0";
  for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + ((mask >> shift) & 7));
  return text;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

bool has(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment)
    if (entry.compare(0, name.size() + 1, name + "=") == 0) return true;
  return false;
}

}  // namespace

void add_client_variables(const job_desc_msg_t& job, std::vector<std::string>& environment) {
  const auto add = [&](const std::string& name, const std::string& value) {
    environment.push_back("SLURM_" + name + "=" + value);
  };
  if (const char* conf = std::getenv("SLURM_CONF");
      conf != nullptr && !has(environment, "SLURM_CONF"))
    add("CONF", conf);
  if (job.name != nullptr) add("JOB_NAME", job.name);
  add("OPEN_MODE", job.open_mode == OPEN_MODE_APPEND ? "a" : "t");
  for (const Limit& limit : k_limits) {
    rlimit value{};
    if (getrlimit(static_cast<__rlimit_resource>(limit.resource), &value) == 0)
      add(std::string("RLIMIT_") + limit.name, std::to_string(value.rlim_cur));
  }
  errno = 0;
  const int priority = getpriority(PRIO_PROCESS, 0);
  if (errno == 0) add("PRIO_PROCESS", std::to_string(priority));
  if (job.work_dir != nullptr) add("SUBMIT_DIR", job.work_dir);
  add("SUBMIT_HOST", host_name());
  add("UMASK", umask_text());
  if (job.tres_per_node != nullptr) {
    const std::string request = job.tres_per_node;  // "gres:gpu:8", "gres:gpu:a100:4"
    add("GPUS_PER_NODE", request.substr(std::string("gres:gpu:").size()));
  }
  if (job.tres_per_task != nullptr) add("TRES_PER_TASK", job.tres_per_task);
  if (job.cpus_per_task != NO_VAL16) add("CPUS_PER_TASK", std::to_string(job.cpus_per_task));
  add("NPROCS", std::to_string(job.num_tasks));
  add("NTASKS", std::to_string(job.num_tasks));
  add("NTASKS_PER_NODE", std::to_string(job.ntasks_per_node));
}

}  // namespace slurm_plugin
