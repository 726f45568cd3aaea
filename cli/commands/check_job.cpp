// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/check_job.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/files/temporary_folder.hpp"
#include "core/base/os/interruption.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/check/facts.hpp"
#include "core/launch/job/successor.hpp"
#include "core/run/directory/log_follower.hpp"
#include "core/run/directory/run_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>

namespace dts::cli {
namespace {

constexpr std::chrono::seconds k_quick_limit{60};
constexpr std::chrono::minutes k_limit{30};
constexpr int k_look_ms = 200;
constexpr std::string_view k_run_words = "run directory ";  // of `submit` and `run`

bool is_typed(const JobOptions& options, const std::string& name) {
  const auto typed = options.typed.find(name);
  return typed != options.typed.end() && typed->second;
}

// What was typed, as words again.
std::vector<std::string> words_of(const JobOptions& options) {
  std::vector<std::string> words;
  for (const spec::Option& row : spec::options()) {
    if (row.group == spec::Group::check) continue;
    const auto texts = texts_of(row, options);
    if (!texts) continue;
    for (const std::string& text : *texts)
      words.push_back(*row.value.type == '\0' ? row.long_name()
                                              : fmt::format("{}={}", row.long_name(), text));
  }
  return words;
}

bool is_any_typed(const JobOptions& options) {
  return !words_of(options).empty();
}

// Copies what a command and its rank 0 say, line by line, and picks the run directory out of it.
class Progress {
 public:
  explicit Progress(int fd) : fd_(fd) {}

  // Waits a moment for more; false once there will be none.
  bool look() {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, k_look_ms) > 0) {
      char buffer[4096];
      const ssize_t got = ::read(fd_, buffer, sizeof buffer);
      if (got == 0) return false;
      if (got > 0) take({buffer, static_cast<std::size_t>(got)});
    }
    follow_rank();
    return true;
  }

  [[nodiscard]] const std::string& run() const { return run_; }

  void shows_rank_log() { shows_rank_log_ = true; }

 private:
  void take(std::string_view text) {
    line_ += text;
    for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      const std::string line = line_.substr(0, end);
      line_.erase(0, end + 1);
      if (line.starts_with(k_run_words) && run_.empty()) run_ = line.substr(k_run_words.size());
      tell("{}\n", line);
    }
  }

  // The phases that rank 0 of a submitted job reports.
  void follow_rank() {
    if (!shows_rank_log_ || run_.empty()) return;
    const run::RunDirectory run{run_};
    if (const unsigned attempt = run::latest_attempt(run); attempt != attempt_) {
      attempt_ = attempt;
      log_ = std::make_unique<run::LogFollower>(run.rank_log(attempt, 0), "check: ");
    }
    if (log_) log_->copy_to(STDERR_FILENO);
  }

  int fd_;
  std::string line_;
  std::string run_;
  bool shows_rank_log_ = false;
  unsigned attempt_ = 0;
  std::unique_ptr<run::LogFollower> log_;
};

struct Ended {
  int exit_code = 0;
  std::string run;
};

// After a signal of ours: the job must not go on measuring for nobody.
tl::unexpected<Error> stopped(pid_t pid, const std::string& run, const Error& why) {
  ::kill(pid, SIGTERM);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!run.empty()) {
    Command cancel;
    cancel.argv = {program_path(), "cancel", run};
    if (const auto cancelled = run_process(std::move(cancel), std::chrono::seconds(60));
        cancelled && cancelled->exit_code == 0)
      tell("the check's job is cancelled\n");
  }
  return tl::unexpected<Error>(why);
}

Result<Ended> run_followed(Command command, bool shows_rank_log, std::chrono::seconds limit) {
  Pipe pipe;
  if (!pipe.open()) return fail_errno("cannot make a pipe");
  command.stdout_fd = pipe.write_end.get();
  command.stderr_fd = pipe.write_end.get();
  command.env = launch::scrubbed_environment();
  DTS_ASSIGN(const pid_t pid, start_process(command));
  pipe.write_end = UniqueFd();
  Progress progress(pipe.read_end.get());
  if (shows_rank_log) progress.shows_rank_log();
  const auto until = std::chrono::steady_clock::now() + limit;
  while (progress.look()) {
    if (const auto go_on = check_interruption(); !go_on)
      return stopped(pid, progress.run(), go_on.error());
    if (std::chrono::steady_clock::now() > until)
      return stopped(pid,
                     progress.run(),
                     {Errc::io,
                      fmt::format("the measurements have not ended within {} s", limit.count()),
                      ""});
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  DTS_TRY(check_interruption());
  return Ended{exit_code_of_wait_status(status), progress.run()};
}

std::vector<std::string> bench_words(const Measuring& measuring) {
  std::vector<std::string> words{trainer_path(), "bench"};
  if (measuring.quick) words.emplace_back("--quick");
  words.insert(words.end(), measuring.bench.begin(), measuring.bench.end());
  return words;
}

Result<MeasuredJob> take_facts(const std::string& path, const Ended& ended) {
  auto text = read_own_file(path, check::k_largest_facts, Others::may_write);
  // Where a rank did not answer, there is what the others have measured.
  if (!text && ended.exit_code != 0) return MeasuredJob{std::nullopt, ended.run, ended.exit_code};
  if (!text)
    return fail(Errc::io,
                "the measurements left no result: " + text.error().message,
                ended.run.empty() ? "" : "dtsubmit logs " + shell_quote(ended.run));
  return MeasuredJob{*std::move(text), ended.run, ended.exit_code};
}

Result<MeasuredJob> measure_here(const Measuring& measuring) {
  DTS_ASSIGN(const std::string folder, make_temporary_folder("dts-check"));
  Command command;
  command.argv = bench_words(measuring);
  command.argv.insert(command.argv.end(), {"--output", folder + "/check.json"});
  auto measured = [&]() -> Result<MeasuredJob> {
    if (measuring.quick) {  // says one line, about the result
      command.env = launch::scrubbed_environment();
      DTS_ASSIGN(const Output output, run_process(std::move(command), k_quick_limit));
      if (output.exit_code != 0) tell("{}{}", output.out, output.err);
      return take_facts(folder + "/check.json", {output.exit_code, ""});
    }
    remember_signals();
    DTS_ASSIGN(const Ended ended, run_followed(std::move(command), false, k_limit));
    return take_facts(folder + "/check.json", {ended.exit_code, ""});
  }();
  if (const auto removed = remove_all(folder); !removed) tell("{}\n", removed.error().message);
  return measured;
}

}  // namespace

Measuring plan_measuring(const JobOptions& options,
                         bool here,
                         bool quick,
                         const std::vector<std::string>& bench,
                         const std::vector<std::string>& hosts) {
  Measuring measuring{Place::here, words_of(options), bench, quick};
  const bool names_hosts = is_typed(options, "--hosts");
  if (here || (!names_hosts && hosts.empty() && !is_any_typed(options))) return measuring;
  measuring.place = names_hosts || !hosts.empty() ? Place::hosts : Place::submitted;
  auto& words = measuring.words;
  if (measuring.place == Place::hosts && !names_hosts)
    words.push_back("--hosts=" + join(hosts, ","));
  const auto add = [&](const char* name, const char* value) {
    if (!is_typed(options, name)) words.push_back(fmt::format("{}={}", name, value));
  };
  add("--job-name", "check");
  add("--ntasks-per-node", "1");
  if (measuring.place == Place::submitted) add("--time", "30");
  return measuring;
}

Result<MeasuredJob> measure(const Measuring& measuring) {
  if (!exists(trainer_path()))
    return fail(Errc::not_found,
                "the bundled trainer, which measures, is not at " + trainer_path(),
                "build it, or judge earlier measurements with --from FILE");
  if (measuring.place == Place::here) return measure_here(measuring);
  const bool is_submitted = measuring.place == Place::submitted;
  Command command;
  command.argv = {program_path(), is_submitted ? "submit" : "run"};
  if (is_submitted) command.argv.emplace_back("--wait");
  command.argv.insert(command.argv.end(), measuring.words.begin(), measuring.words.end());
  command.argv.emplace_back("--");
  for (std::string& word : bench_words(measuring)) command.argv.push_back(std::move(word));
  remember_signals();
  // A job may wait in the queue for as long as it takes.
  DTS_ASSIGN(const Ended ended,
             run_followed(std::move(command), is_submitted, std::chrono::hours(24 * 365)));
  return take_facts(ended.run + "/check.json", ended);
}

}  // namespace dts::cli
