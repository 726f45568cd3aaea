// SPDX-License-Identifier: Apache-2.0
// The differences between libslurm's releases. The compiler tells them apart: a name that depends
// on a template's argument is looked up only where it is used.
#pragma once

#include "plugins/slurm_shared/billing.hpp"

#include <slurm/slurm.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

// slurm.h mentions this function, but does not declare it. Weak, because otherwise a release that
// does not export it could not load this plug-in.
extern "C" [[gnu::weak]] void slurm_free_will_run_response_msg(will_run_response_msg_t* message);

namespace slurm_plugin {

inline void free_will_run(will_run_response_msg_t* message) {
  if (slurm_free_will_run_response_msg != nullptr) slurm_free_will_run_response_msg(message);
}

// An argument for functions that take a job's number, or, since 26.05, a step id that contains it.
class JobArgument {
 public:
  explicit JobArgument(std::uint32_t number) : number_(number) {}

  operator std::uint32_t() const { return number_; }  // NOLINT: stands for it

  operator slurm_step_id_t() const {  // NOLINT
    slurm_step_id_t id{};
    id.job_id = number_;
    id.step_het_comp = NO_VAL;
    id.step_id = NO_VAL;
    return id;
  }

 private:
  std::uint32_t number_;
};

// The job's number in a record or in the answer to a submission.
template <class Record>
[[nodiscard]] std::uint32_t number_in(const Record& record) {
  if constexpr (requires { record.job_id; })
    return record.job_id;
  else
    return record.step_id.job_id;  // since 26.05
}

// Resets members that slurm_init_job_desc_msg() sets, although sbatch leaves them to the site.
template <class Description>
void set_site_defaults(Description& job) {
  if constexpr (requires { job.oom_kill_step; }) job.oom_kill_step = NO_VAL16;  // since 23.11
}

// The site's billing rule (plugins/slurm_shared/billing.hpp), from its PriorityFlags.
[[nodiscard]] inline const char* billing_rule_of(std::uint16_t flags) {
#ifdef PRIORITY_FLAGS_MAX_TRES_GRES  // since 24.05
  const bool adds_gres = (flags & PRIORITY_FLAGS_MAX_TRES_GRES) != 0;
#else
  const bool adds_gres = false;
#endif
  return billing_rule((flags & PRIORITY_FLAGS_MAX_TRES) != 0, adds_gres);
}

// The ids in a list of jobs that would be preempted; the list may be null.
template <class Jobs>
[[nodiscard]] std::vector<std::string> ids_in(Jobs* jobs) {
  std::vector<std::string> ids;
  if (jobs == nullptr) return ids;
  auto* const next = slurm_list_iterator_create(jobs);
  while (const void* id = slurm_list_next(next))
    ids.push_back(std::to_string(*static_cast<const std::uint32_t*>(id)));
  slurm_list_iterator_destroy(next);
  return ids;
}

template <class Conf>
void free_configuration(Conf* conf) {
  if constexpr (requires { slurm_free_conf(conf); })
    slurm_free_conf(conf);  // since 26.05
  else
    slurm_free_ctl_conf(conf);
}

// False since 24.11: a job's processors are only printed by `scontrol --details show job`.
template <class Resources>
inline constexpr bool k_tells_cpus = requires(Resources* resources, char* text) {
  slurm_job_cpus_allocated_str_on_node_id(text, 0, resources, 0);
};

// The job's processor numbers on its node number `node`; "" if libslurm does not report them.
template <class Resources>
[[nodiscard]] std::string cpus_on(Resources* resources, int node) {
  std::array<char, 4096> numbers{};
  if constexpr (k_tells_cpus<Resources>) {
    const int status =
        slurm_job_cpus_allocated_str_on_node_id(numbers.data(), numbers.size(), resources, node);
    return status != 0 ? "" : numbers.data();
  }
  return {};
}

}  // namespace slurm_plugin
