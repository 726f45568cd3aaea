// SPDX-License-Identifier: Apache-2.0
// Submission: fills every field of the job description that sbatch would fill, and adds the
// variables that sbatch adds to the environment. tests/contract compares both with a real sbatch's.
#include "plugins/slurm/client_environment.hpp"
#include "plugins/slurm/failure.hpp"
#include "plugins/slurm/loaded_config.hpp"
#include "plugins/slurm/message.hpp"
#include "plugins/slurm/options.hpp"
#include "plugins/slurm/releases.hpp"
#include "plugins/slurm/words.hpp"
#include "plugins/slurm_shared/config_reply.hpp"
#include "plugins/slurm_shared/expectation.hpp"
#include "plugins/slurm_shared/operations.hpp"
#include "plugins/slurm_shared/request_text.hpp"
#include "plugins/slurm_shared/reservation.hpp"
#include "plugins/slurm_shared/sbatch.hpp"

#include <nlohmann/json.hpp>
#include <slurm/slurm.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <string>
#include <vector>

namespace slurm_plugin {
namespace {

// Since 24.11 sbatch requests a task's CPUs in two ways; 22.05 does not know the second one.
constexpr bool k_cpus_are_tres = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0);

// The job description and the storage that its pointers refer to.
class Description {
 public:
  explicit Description(const json& request) : request_(request) {
    slurm_init_job_desc_msg(&message_);
    // sbatch's initial values for these differ from the library's.
    message_.contiguous = 0;
    message_.mail_type = 0;
    message_.mem_bind_type = 0;
    message_.task_dist = SLURM_DIST_UNKNOWN;
    set_site_defaults(message_);
    texts_.reserve(k_most_texts);
    fill_identity();
    fill_size();
    fill_limits();
    fill_files();
    fill_environment();
    fill_options();
  }

  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  [[nodiscard]] job_desc_msg_t& message() { return message_; }

 private:
  static constexpr std::size_t k_most_texts = 64;  // more than there are calls of keep()

  void fill_options() {
    if (const auto given = request_.find("options"); given != request_.end())
      set_options(*given, message_, [this](std::string text) { return keep(std::move(text)); });
  }

  char* keep(std::string text) { return texts_.emplace_back(std::move(text)).data(); }

  // The member's text, or nullptr if the request lacks it.
  char* text(const char* key) {
    const auto found = request_.find(key);
    return found == request_.end() ? nullptr : keep(bytes_of(*found));
  }

  template <class T>
  [[nodiscard]] T number(const char* key, T otherwise) const {
    return request_.value(key, otherwise);
  }

  void fill_identity() {
    message_.user_id = getuid();
    message_.group_id = getgid();
    message_.name = text("job_name");
    message_.partition = text("partition");
    message_.exc_nodes = text("exclude_nodes");
    if (number("no_kill", false)) message_.kill_on_node_fail = 0;
    message_.submit_line =
        keep("dtsubmit");  // the real command line may contain secrets, and is kept forever
  }

  void fill_size() {
    const auto node_count = number<std::uint32_t>("nodes", 1);
    const auto per_node = number<std::uint16_t>("ntasks_per_node", 1);
    const auto cpus = number<std::uint16_t>("cpus_per_task", 0);
    const auto gpus = number<std::uint32_t>("gpus_per_node", 0);
    message_.min_nodes = message_.max_nodes = node_count;
    message_.ntasks_per_node = per_node;
    message_.num_tasks = node_count * per_node;
    message_.bitflags |= JOB_NTASKS_SET;
    message_.min_cpus = message_.num_tasks * (cpus == 0 ? 1U : cpus);
    if (cpus > 0) {
      message_.cpus_per_task = cpus;
      if (k_cpus_are_tres) message_.tres_per_task = keep("cpu=" + std::to_string(cpus));
      message_.pn_min_cpus = cpus;
      message_.bitflags |= JOB_CPUS_SET;
    }
    const std::string type = request_.value("gpu_type", std::string());
    if (gpus > 0)
      message_.tres_per_node =
          keep("gres:gpu:" + type + (type.empty() ? "" : ":") + std::to_string(gpus));
    if (const auto memory = request_.find("memory_mib"); memory != request_.end())
      message_.pn_min_memory = memory->get<std::uint64_t>();
  }

  void fill_limits() {
    if (const auto limit = request_.find("time_limit_minutes"); limit != request_.end())
      message_.time_limit = limit->is_string() ? INFINITE : limit->get<std::uint32_t>();
    if (const auto requeue = request_.find("requeue"); requeue != request_.end())
      message_.requeue = requeue->get<bool>() ? 1 : 0;
    if (const auto signal = number<std::uint16_t>("warn_signal", 0); signal > 0) {
      message_.warn_signal = signal;
      message_.warn_time = number<std::uint16_t>("warn_seconds", 0);
      message_.warn_flags = KILL_JOB_BATCH;
    }
  }

  void fill_files() {
    message_.script = text("script");
    message_.work_dir = text("work_folder");
    message_.std_in = keep("/dev/null");
    message_.std_out = text("output");
    message_.open_mode = number("append_output", true) ? OPEN_MODE_APPEND : OPEN_MODE_TRUNCATE;
    argv_.push_back(request_.contains("script_path") ? text("script_path") : keep("dtsubmit"));
    message_.argv = argv_.data();
    message_.argc = static_cast<std::uint32_t>(argv_.size());
  }

  void fill_environment() {
    if (const auto given = request_.find("environment"); given != request_.end())
      for (const json& entry : *given) environment_.push_back(bytes_of(entry));
    add_client_variables(message_, environment_);
    for (std::string& entry : environment_) environment_pointers_.push_back(entry.data());
    message_.env_size = static_cast<std::uint32_t>(environment_pointers_.size());
    environment_pointers_.push_back(nullptr);
    message_.environment = environment_pointers_.data();
  }

  const json& request_;
  job_desc_msg_t message_{};
  std::vector<std::string> texts_;
  std::vector<std::string> environment_;
  std::vector<char*> environment_pointers_;
  std::vector<char*> argv_;
};

// Whether only sbatch can read the request, or the site wants it to see every job: cli_filter
// plug-ins, which give options or refuse them, run in Slurm's commands and not in the controller.
bool is_for_sbatch(const json& request) {
  const auto options = request.find("options");
  const bool is_odd = options != request.end() && !knows_options(*options);
  if (is_odd || request.contains("components")) return true;
  const Config config = load_config();
  return config != nullptr && filters_jobs(text(config->cli_filter_plugins));
}

// libslurm itself prints the message of a job_submit plug-in and the name of a limit.
tl::unexpected<Failure> refused(int number) {
  if (number == EAGAIN)
    return failed(
        meanings::k_busy,
        "Slurm takes no more jobs now: it has as many as it may (MaxJobCount), or is busy");
  // Both a job_submit plug-in and a controller of another release answer with this number.
  if (number == SLURM_ERROR && load_config() != nullptr)
    return failed(meanings::k_site_rule, "the site refuses the job");
  return tl::unexpected(of_submission(failed_slurm(number, "").value()));
}

}  // namespace

Outcome<json> submit(const json& request) {
  if (is_for_sbatch(request)) return submit_by_sbatch(request);
  Description description(request);
  submit_response_msg_t* raw = nullptr;
  if (slurm_submit_batch_job(&description.message(), &raw) != SLURM_SUCCESS) return refused(errno);
  json result = {{"id", std::to_string(number_in(*raw))}};
  if (raw->job_submit_user_msg != nullptr) result["message"] = raw->job_submit_user_msg;
  slurm_free_submit_response_response_msg(raw);
  return result;
}

namespace {

// The query that sbatch --test-only makes, too.
Outcome<json> predict(const json& request) {
  if (is_for_sbatch(request)) return expect_by_sbatch(request);
  Description description(request);
  will_run_response_msg_t* raw = nullptr;
  const int status = slurm_job_will_run2(&description.message(), &raw);
  const int number = errno;
  const Message<will_run_response_msg_t, free_will_run> message(raw);
  if (status != SLURM_SUCCESS) return refused(number);
  if (message == nullptr) return failed("internal", "Slurm gave no answer");
  return reply_of(Expectation{.start_time = message->start_time,
                              .processors = message->proc_cnt,
                              .nodes = text(message->node_list),
                              .partition = text(message->part_name),
                              .preempted = ids_in(message->preemptee_job_id)},
                  std::time(nullptr));
}

}  // namespace

Outcome<json> expect(const json& request) {
  auto expected = predict(request);
  if (expected) return expected;
  return with_reservations(
      tl::unexpected(std::move(expected).error()), request, std::time(nullptr));
}

}  // namespace slurm_plugin
