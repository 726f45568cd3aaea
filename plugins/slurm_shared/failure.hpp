// SPDX-License-Identifier: Apache-2.0
// Failures of the operations of Slurm's plug-ins, and the meaning of Slurm's messages.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include <string>
#include <string_view>

namespace slurm_plugin {

using nlohmann::json;

// The texts of "error" in a reply; `code` is one of those in dtsubmit_plugin.h.
struct Failure {
  const char* code = "internal";
  std::string message;
  std::string hint;
  bool other_release = false;  // the controller does not understand this release's protocol
};

template <class T>
using Outcome = tl::expected<T, Failure>;

[[nodiscard]] inline tl::unexpected<Failure> failed(const char* code,
                                                    std::string message,
                                                    std::string hint = {}) {
  return tl::unexpected<Failure>(Failure{code, std::move(message), std::move(hint)});
}

// The meaning of a failure for the caller, and what can be done about it.
struct Meaning {
  const char* code = "rejected";
  const char* hint = "";
  bool other_release = false;
};

[[nodiscard]] inline tl::unexpected<Failure> failed(const Meaning& meaning, std::string message) {
  return tl::unexpected<Failure>(
      Failure{meaning.code, std::move(message), meaning.hint, meaning.other_release});
}

// Named by what went wrong; used for libslurm's numbers (plugins/slurm/failure.cpp) and for the
// messages of commands (failure.cpp).
namespace meanings {

inline constexpr Meaning k_busy{"unreachable", "Slurm is busy: try again in a moment"};
inline constexpr Meaning k_down{
    "unreachable", "is slurmctld running? `scontrol ping` shows it; try again once it answers"};
inline constexpr Meaning k_release{
    "unreachable",
    "the controller is of another release: use the Slurm library of the cluster's version",
    true};
// The controller did not understand a newer client, or was ended in the middle of a reply.
inline constexpr Meaning k_hung_up{k_down.code, k_down.hint, true};
inline constexpr Meaning k_authentication{
    "unreachable", "is munge running here, with the cluster's key? `munge -n` shows it"};
// A command that printed nothing before its limit: without munge it tries for 50 s before it says
// so.
inline constexpr Meaning k_silent{
    "unreachable",
    "is slurmctld running, and is munge running here? `scontrol ping` "
    "and `munge -n` show it; try again once both answer"};
inline constexpr Meaning k_no_configuration{
    "unreachable",
    "start a private Slurm with `eval \"$(dtsubmit cluster up)\"`, or set SLURM_CONF to the "
    "cluster's slurm.conf"};
inline constexpr Meaning k_no_job{
    "not_found",
    "Slurm forgets a job some minutes after its end (MinJobAge); `sacct` may still know it"};
inline constexpr Meaning k_partition{
    "rejected", "`sinfo --summarize` lists the partitions; choose one with --partition"};
inline constexpr Meaning k_denied{"rejected", "only the job's owner may do this"};
// The same answer to a submission: RootOnly, AllocNodes, or a job_submit plug-in.
inline constexpr Meaning k_may_not_submit{
    "rejected",
    "a rule of the site or of the partition (`scontrol show partition`) forbids this job here: "
    "choose another --partition, or ask the administrators"};
// DisableRootJobs, or a user who is not known where the controller runs.
inline constexpr Meaning k_user{
    "rejected",
    "Slurm takes no jobs of this user here: those of root are often forbidden (DisableRootJobs); "
    "submit it as another user"};
// The answer of a job_submit plug-in that names no number of its own.
inline constexpr Meaning k_site_rule{
    "rejected",
    "a rule of the site (its job_submit plug-in) refuses this job; what it prints says why, "
    "otherwise ask the administrators"};
inline constexpr Meaning k_partition_closed{
    "rejected",
    "the partition takes no jobs now (`sinfo --summarize`): choose another --partition"};
inline constexpr Meaning k_licences{
    "rejected", "`scontrol show licenses` lists them with their numbers; compare with --licenses"};
inline constexpr Meaning k_reservation{
    "rejected", "`scontrol show reservation` shows those that you may use; see --reservation"};
inline constexpr Meaning k_group{
    "rejected",
    "the partition is for certain groups only (`scontrol show partition`): choose another one"};
inline constexpr Meaning k_size{"rejected",
                                "`sinfo --long` shows how many nodes and cores the partition has"};
inline constexpr Meaning k_nodes{
    "rejected",
    "no set of nodes fits: compare --nodes, --gpus-per-node, --cpus-per-task and --mem, and "
    "--constraint, --nodelist or --reservation if given, with `scontrol show nodes`"};
inline constexpr Meaning k_no_requeue{"rejected", "the job was submitted with --no-requeue"};
inline constexpr Meaning k_dependency{"rejected", "look at --dependency"};
inline constexpr Meaning k_account{
    "rejected",
    "`sacctmgr show associations user=$USER` lists your accounts; choose one with --account"};
inline constexpr Meaning k_memory{
    "rejected", "ask for less with --mem, or for none of it by --mem=0 (all of a node)"};
inline constexpr const char* k_show_limits =
    "`sacctmgr show associations user=$USER` and `sacctmgr show qos` show the limits";
inline constexpr Meaning k_policy{"rejected",
                                  "a limit of your account or QOS, for example on jobs in the "
                                  "queue (MaxSubmitJobs): wait for some "
                                  "of them to end; `sacctmgr show associations user=$USER` and "
                                  "`sacctmgr show qos` show the limits"};
inline constexpr Meaning k_time{
    "rejected", "the partition's longest time is in `sinfo`; ask for less with --time"};
inline constexpr Meaning k_no_time{"rejected", "give a limit with --time"};
inline constexpr Meaning k_qos{"rejected", "`sacctmgr show qos` lists them; choose one with --qos"};
inline constexpr Meaning k_gres{
    "rejected", "`sinfo --Format=nodes,gres` shows the GPUs; compare with --gpus-per-node"};
inline constexpr Meaning k_feature{
    "rejected", "`sinfo --Format=nodehost,features` shows the nodes' features; see --constraint"};
inline constexpr Meaning k_node_name{
    "rejected", "`sinfo --Node` lists the nodes; compare with --nodelist and --exclude"};
inline constexpr Meaning k_closed{"rejected", "ask the site's staff"};

}  // namespace meanings

// The meaning of a command's output, by the known sentences of Slurm in it; "rejected" without a
// hint if it contains none. Pure.
[[nodiscard]] Meaning meaning_of(std::string_view said);

// The failure of a submission, whose refusals may have another meaning than those of other orders.
[[nodiscard]] Failure of_submission(Failure failure);

// The failure with that meaning.
[[nodiscard]] inline tl::unexpected<Failure> failed_command(std::string message) {
  const Meaning meaning = meaning_of(message);
  return failed(meaning, std::move(message));
}

// The answer to a question about all nodes that failed: an empty list if the site hides them from
// its users (PrivateData=nodes), otherwise the failure.
[[nodiscard]] Outcome<json> or_hidden(Failure failure);

}  // namespace slurm_plugin
