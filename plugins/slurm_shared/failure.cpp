// SPDX-License-Identifier: Apache-2.0
// Slurm's sentences (slurm_strerror) as its commands print them. They are the same from 22.05 to
// 26.05; unit_slurm_plugin compares them with libslurm's.
#include "plugins/slurm_shared/failure.hpp"

#include "plugins/slurm_shared/limit_words.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace slurm_plugin {
namespace {

using namespace meanings;

struct Sentence {
  std::string_view said;
  Meaning meaning;
};

// The first match counts, so more specific sentences come first.
constexpr Sentence k_sentences[] = {
    {"Incompatible versions of client and server", k_release},
    {"Protocol version has changed", k_release},
    {"establish a configuration source", k_no_configuration},
    {"process configuration file", k_no_configuration},
    {"Protocol authentication error", k_authentication},
    {"Invalid authentication credential", k_authentication},
    {"authentication public key", k_authentication},
    {"connect to authentication agent", k_authentication},
    {"Authentication credential", k_authentication},
    {"Cannot unpack credential", k_authentication},
    {"Authentication does not apply", k_authentication},
    {"Bad argument to plugin function", k_authentication},
    {"Memory management error", k_authentication},
    {"Munge encode failed", k_authentication},
    {"temporarily unavailable", k_busy},
    {"temporarily unable to", k_busy},
    {"Unable to contact slurm controller", k_down},
    {"in standby mode", k_down},
    {"Unexpected message received", k_down},
    {"Communication connection failure", k_down},
    {"Message send failure", k_down},
    {"Message receive failure", k_down},
    {"Communication shutdown failure", k_down},
    {"Insane message length", k_down},
    {"Unexpected missing socket error", k_down},
    {"Can't find an address", k_down},
    {"incoming file descriptor", k_down},
    {"outgoing file descriptor", k_down},
    {"would block", k_down},
    {"Connection rejected by handler", k_down},
    {"quiesce timeout", k_down},
    {"I/O stream version number", k_down},
    {"MPI plugin", k_down},
    {"Plugin initialization failed", k_down},
    {"Received zero length message", k_down},
    {"Received message length < 0", k_down},
    {"Failed to send entire message", k_down},
    {"Header lengths are longer than data received", k_down},
    {"Socket timed out", k_down},
    {"Zero Bytes were transmitted", k_hung_up},
    {"Connection refused", k_down},
    {"Connection reset", k_down},
    {"Connection timed out", k_down},
    {"No route to host", k_down},
    {"Invalid job id specified", k_no_job},
    {"Invalid partition name specified", k_partition},
    {"No partition specified", k_partition},
    {"Access/permission denied", k_denied},
    {"User's group not permitted", k_group},
    {"Invalid user id", k_user},
    {"Unspecified error", k_site_rule},
    {"Required partition not available", k_partition_closed},
    {"Invalid license specification", k_licences},
    {"Access denied to requested reservation", k_reservation},
    {"Requested reservation is invalid", k_reservation},
    {"More processors requested than permitted", k_size},
    {"Node count specification invalid", k_size},
    {"Requested node configuration is not available", k_nodes},
    {"Requested partition configuration not available", k_nodes},
    {"Requested operation is presently disabled", k_no_requeue},
    {"Job dependency problem", k_dependency},
    {"Invalid account or account/partition", k_account},
    {"Memory required by task is not available", k_memory},
    {"Job violates accounting/QOS policy", k_policy},
    {"Requested time limit is invalid", k_time},
    {"Time limit specification required", k_no_time},
    {"Invalid qos specification", k_qos},
    {"Invalid generic resource", k_gres},
    {"Invalid feature specification", k_feature},
    {"Invalid node name specified", k_node_name},
    {"System submissions disabled", k_closed},
};

// The meaning of the first name of a limit in a message ("AssocMaxSubmitJobLimit"); empty if there
// is none.
std::string limit_in(std::string_view said) {
  const auto is_of_name = [](char one) {
    return std::isalnum(static_cast<unsigned char>(one)) != 0;
  };
  for (auto at = said.begin(); at != said.end();) {
    at = std::find_if(at, said.end(), is_of_name);
    const auto end = std::find_if_not(at, said.end(), is_of_name);
    if (const auto words = words_of_limit(std::string_view(at, end))) return words->why;
    at = end;
  }
  return {};
}

}  // namespace

Meaning meaning_of(std::string_view said) {
  const auto* found =
      std::find_if(std::begin(k_sentences), std::end(k_sentences), [&](const Sentence& one) {
        return said.find(one.said) != std::string_view::npos;
      });
  return found == std::end(k_sentences) ? Meaning{} : found->meaning;
}

Failure of_submission(Failure failure) {
  if (failure.hint == k_denied.hint) failure.hint = k_may_not_submit.hint;
  if (failure.hint == k_policy.hint)
    if (const std::string why = limit_in(failure.message); !why.empty())
      failure.hint =
          why + "; " +
          (failure.message.find("SubmitJob") == std::string::npos ? k_show_limits : k_policy.hint);
  return failure;
}

Outcome<json> or_hidden(Failure failure) {
  if (failure.hint == k_denied.hint) return json::array();
  return tl::unexpected<Failure>(std::move(failure));
}

}  // namespace slurm_plugin
