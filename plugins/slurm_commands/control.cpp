// SPDX-License-Identifier: Apache-2.0
// Operations: submit, cancel, requeue, signal.
#include "core/base/text/text.hpp"
#include "plugins/slurm_commands/load_job.hpp"
#include "plugins/slurm_shared/command.hpp"
#include "plugins/slurm_shared/configuration.hpp"
#include "plugins/slurm_shared/job_name.hpp"
#include "plugins/slurm_shared/job_record.hpp"
#include "plugins/slurm_shared/operations.hpp"
#include "plugins/slurm_shared/reservation.hpp"
#include "plugins/slurm_shared/sbatch.hpp"
#include "plugins/slurm_shared/show_job.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace slurm_plugin {
namespace {

// Runs a command on one job. An error that contains `fine` means that nothing had to be done, and
// counts as success.
Outcome<json> order(const json& request,
                    std::vector<std::string> words,
                    const char* fine = nullptr) {
  if (const auto name = job_name(request); !name) return tl::unexpected<Failure>(name.error());
  auto done = output_of(std::move(words), named_job(request));
  if (done) return json::object();
  if (fine != nullptr && done.error().message.find(fine) != std::string::npos)
    return json::object();
  return tl::unexpected<Failure>(std::move(done).error());
}

std::string id_of(const json& request) {
  return request.at("id").get<std::string>();
}

constexpr const char* k_ended = "already completing or completed";
constexpr const char* k_in_transition = "Job can not be altered now";
constexpr const char* k_repeats = "Job is in transitional state, retrying";  // scancel --verbose

// Whether that task of an array runs while others of it wait.
bool runs_beside_waiting(const JobName& task) {
  const auto records = show_job(std::to_string(task.number));
  return records &&
         std::ranges::any_of(*records,
                             [&](const Record& one) {
                               return is_of(one, task) && one.text("JobState") == "RUNNING";
                             }) &&
         std::ranges::any_of(*records,
                             [](const Record& one) { return one.text("JobState") == "PENDING"; });
}

// The errors that scancel printed about an unknown job, which it does only if verbose; it still
// exits with 0.
std::string errors_in(const std::string& said) {
  std::string errors;
  for (const std::string& line : dts::split(said, '\n'))
    if (line.find("error: ") != std::string::npos) errors += line + "\n";
  return plain(errors);
}

// A requeued job. If it fails, Slurm holds the job at the reservation's end, and its reason says
// what to do.
void leave_ending_reservation(const json& request) {
  const auto job = load_job(request);
  if (!job || !are_nearly_over(job->text("Reservation"))) return;
  [[maybe_unused]] const auto left =
      order(request, {"scontrol", "update", "JobId=" + id_of(request), "ReservationName="});
}

// "slurm-wlm 22.05.8" -> "22.05.8".
std::string version_in(const std::string& printed) {
  const std::string line = printed.substr(0, printed.find('\n'));
  return line.substr(line.rfind(' ') + 1);
}

// If the file is missing, scontrol reports that only after a minute. Without SLURM_CONF, only the
// site's commands know where it is.
Outcome<void> check_named_configuration() {
  const char* named = std::getenv("SLURM_CONF");
  return named == nullptr || *named == '\0' ? Outcome<void>() : check_configuration(named);
}

Outcome<void> ask_for_version() {
  const auto said = run_command({.words = {"scontrol", "--version"}});
  if (!said) return tl::unexpected<Failure>(said.error());
  if (said->exit_code == 0) return {};
  auto failure = failed_command(plain(said->err)).value();
  failure.code = "unreachable";
  if (failure.hint.empty()) failure.hint = meanings::k_no_configuration.hint;
  return tl::unexpected<Failure>(std::move(failure));
}

}  // namespace

// Even `scontrol --version` reads the configuration.
Outcome<void> open_slurm(bool) {
  static std::mutex mutex;
  static bool good = false;
  const std::lock_guard lock(mutex);
  if (good) return {};
  auto outcome = check_named_configuration().and_then(ask_for_version);
  good = outcome.has_value();
  return outcome;
}

Outcome<json> submit(const json& request) {
  return submit_by_sbatch(request);
}

Outcome<json> expect(const json& request) {
  auto expected = expect_by_sbatch(request);
  if (expected) return expected;
  return with_reservations(
      tl::unexpected(std::move(expected).error()), request, std::time(nullptr));
}

Outcome<json> version(const json&) {
  const auto file = find_command("scontrol");
  const auto said = check_named_configuration().and_then([] {
    return run_command({.words = {"scontrol", "--version"}});
  });
  const std::string number = said && said->exit_code == 0 ? version_in(said->out) : "";
  return json{{"library", number},
              {"words",
               "Slurm " + number + (number.empty() ? "" : " ") + "through its commands (" +
                   file.value_or("no scontrol here") + ")"}};
}

Outcome<json> cancel(const json& request) {
  if (const auto name = job_name(request); !name) return tl::unexpected<Failure>(name.error());
  const auto said = run_command({.words = {"scancel", "--verbose", id_of(request)}});
  if (!said) return tl::unexpected<Failure>(said.error());
  const std::string refused = said->exit_code == 0 ? errors_in(said->err) : plain(said->err);
  if (refused.empty() || refused.find(k_ended) != std::string::npos) return json::object();
  return failed_command(named_job(request) + ": " + refused);
}

Outcome<json> requeue(const json& request) {
  auto outcome =
      order(request, {"scontrol", "requeue", id_of(request)}, "Job is pending execution");
  if (outcome) leave_ending_reservation(request);
  return outcome;
}

Outcome<json> forbid_requeue(const json& request) {
  return order(request, {"scontrol", "update", "JobId=" + id_of(request), "Requeue=0"});
}

Outcome<json> exclude(const json& request) {
  const auto job = load_job(request);
  if (!job) return tl::unexpected<Failure>(job.error());
  const std::string before = job->text("ExcNodeList");
  const std::string nodes = request.at("nodes").get<std::string>();
  return order(request,
               {"scontrol",
                "update",
                "JobId=" + id_of(request),
                "ExcNodeList=" + before + (before.empty() ? "" : ",") + nodes});
}

// While other tasks of an array wait, slurmctld sends the signal and then answers that those could
// not be signalled (22.05). scancel says so only if verbose, and repeats the signal every few
// seconds.
Outcome<json> signal_batch(const json& request) {
  const std::string signal = "--signal=" + request.at("signal").dump();
  const auto name = job_name(request);
  if (!name || !name->task || !runs_beside_waiting(*name))
    return order(request, {"scancel", "--batch", signal, id_of(request)});
  constexpr std::chrono::seconds k_first_try{4};
  std::string err;
  const auto said =
      run_command({.words = {"scancel", "--verbose", "--batch", signal, id_of(request)},
                   .limit = k_first_try,
                   .err = &err});
  if (said && said->exit_code == 0) return json::object();
  for (const char* sent : {k_repeats, k_in_transition})
    if (err.find(sent) != std::string::npos) return json::object();
  if (!said) return tl::unexpected<Failure>(said.error());
  const std::string errors = errors_in(err);
  return failed_command(named_job(request) + ": " + (errors.empty() ? plain(err) : errors));
}

}  // namespace slurm_plugin
