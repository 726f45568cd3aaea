// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/sbatch.hpp"

#include "plugins/slurm_shared/command.hpp"
#include "plugins/slurm_shared/expectation.hpp"
#include "plugins/slurm_shared/request_text.hpp"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace slurm_plugin {
namespace {

// Long, because sbatch itself retries while the controller is busy.
constexpr std::chrono::seconds k_limit{60};

class Words {
 public:
  explicit Words(const json& request) : request_(request) {}

  void option(const std::string& name, const std::string& value) {
    words_.push_back("--" + name + (value.empty() ? "" : "=" + value));
  }

  void text(const char* key, const std::string& name) {
    if (const auto found = request_.find(key); found != request_.end())
      option(name, bytes_of(*found));
  }

  void number(const char* key, const std::string& name, const char* unit = "") {
    if (const auto found = request_.find(key); found != request_.end())
      option(name, (found->is_string() ? found->get<std::string>() : found->dump()) + unit);
  }

  void flag(const char* key, const std::string& name) {
    if (request_.value(key, false)) option(name, "");
  }

  void word(std::string text) { words_.push_back(std::move(text)); }

  void append(Words more) {
    for (std::string& word : more.words_) words_.push_back(std::move(word));
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(words_); }

 private:
  const json& request_;
  std::vector<std::string> words_;
};

void add_gpus(Words& words, const json& request) {
  const auto gpus = request.find("gpus_per_node");
  if (gpus == request.end()) return;
  const std::string type = request.value("gpu_type", std::string());
  words.option("gpus-per-node", type + (type.empty() ? "" : ":") + gpus->dump());
}

void add_signal(Words& words, const json& request) {
  if (request.value("warn_signal", 0) == 0) return;
  words.option("signal",
               "B:" + request["warn_signal"].dump() + "@" +
                   std::to_string(request.value("warn_seconds", 0)));
}

void add_options(Words& words, const json& request) {
  words.text("job_name", "job-name");
  words.number("nodes", "nodes");
  words.number("ntasks_per_node", "ntasks-per-node");
  words.number("cpus_per_task", "cpus-per-task");
  add_gpus(words, request);
  words.number("memory_mib", "mem", "M");
  words.number("time_limit_minutes", "time");
  words.text("partition", "partition");
  words.text("exclude_nodes", "exclude");
  words.text("output", "output");
  words.text("work_folder", "chdir");
  words.option("open-mode", request.value("append_output", true) ? "append" : "truncate");
  if (const auto requeue = request.find("requeue"); requeue != request.end())
    words.option(requeue->get<bool>() ? "requeue" : "no-requeue", "");
  words.flag("no_kill", "no-kill");
  add_signal(words, request);
  if (const auto options = request.find("options"); options != request.end())
    for (const auto& [name, value] : options->items()) {
      const std::string text = bytes_of(value);
      // None, although a line of the script asks for one; other options without a value are flags.
      if (name == "reservation" && text.empty())
        words.word("--reservation=");
      else
        words.option(name, text);
    }
}

// In the order in which sbatch reads them. These options override the lines of the script.
std::vector<std::string> command_line(const json& request, const char* what) {
  Words words(request);
  for (const char* word : {"sbatch", what, "--input=/dev/null"}) words.word(word);
  add_options(words, request);
  if (const auto components = request.find("components"); components != request.end())
    for (const json& component : *components) {
      Words more(component);
      words.word(":");
      add_options(more, component);
      words.append(std::move(more));
    }
  if (const auto script = request.find("script_path"); script != request.end())
    words.word(bytes_of(*script));
  return words.take();
}

std::vector<std::string> environment_of(const json& request) {
  std::vector<std::string> environment;
  if (const auto given = request.find("environment"); given != request.end())
    for (const json& entry : *given) environment.push_back(bytes_of(entry));
  return environment;
}

// Slurm's sentence about a submission that the controller refused, followed by what sbatch printed
// before: "Invalid partition name specified (invalid partition specified: none)". Otherwise
// everything that sbatch printed, after its name.
std::string refusal(const std::string& said, std::string_view mark) {
  const std::string words = plain(said);
  const std::size_t at = words.rfind(mark);
  if (at == std::string::npos) return "sbatch: " + words;
  const std::string before = words.substr(0, at < 2 ? 0 : at - 2);  // "; "
  return words.substr(at + mark.size()) + (before.empty() ? "" : " (" + before + ")");
}

tl::unexpected<Failure> refused(const std::string& said, std::string_view mark) {
  return tl::unexpected(of_submission(failed_command(refusal(said, mark)).value()));
}

// SLURM_SUBMIT_DIR, the folder in which sbatch is started.
std::string submit_folder(const json& request) {
  const auto folder = request.find("work_folder");
  std::string text = folder == request.end() ? std::string() : bytes_of(*folder);

  struct stat found {};

  const bool there = ::stat(text.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
  return there ? text : std::string();
}

// Runs sbatch; `what` is --parsable or --test-only.
Outcome<CommandOutput> run_sbatch(const json& request,
                                  const char* what,
                                  std::vector<std::string> environment) {
  if (const char* conf = std::getenv("SLURM_CONF"))
    environment.push_back(std::string("SLURM_CONF=") + conf);
  return run_command({.words = command_line(request, what),
                      .environment = std::move(environment),
                      .folder = submit_folder(request),
                      .input = bytes_of(request.at("script")),
                      .limit = k_limit});
}

}  // namespace

Outcome<json> submit_by_sbatch(const json& request) {
  const auto said = run_sbatch(request, "--parsable", environment_of(request));
  if (!said) return tl::unexpected<Failure>(said.error());
  // "1234" or "1234;cluster"
  const std::string id = said->out.substr(0, said->out.find_first_of(";\n"));
  if (said->exit_code != 0 || id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
    return refused(said->err, "Batch job submission failed: ");
  json result = {{"id", id}};
  if (const std::string message = plain(said->err); !message.empty()) result["message"] = message;
  return result;
}

Outcome<json> expect_by_sbatch(const json& request) {
  json without_path = request;  // sbatch would read that file, not its standard input
  without_path.erase("script_path");
  auto environment = environment_of(request);
  environment.emplace_back("SLURM_TIME_FORMAT=%s");
  const auto said = run_sbatch(without_path, "--test-only", std::move(environment));
  if (!said) return tl::unexpected<Failure>(said.error());
  if (said->exit_code != 0) return refused(said->err, "allocation failure: ");
  const auto expectation = parse_expectation(said->err + said->out);
  if (!expectation) return failed("internal", "sbatch --test-only printed: " + plain(said->err));
  return reply_of(*expectation, std::time(nullptr));
}

}  // namespace slurm_plugin
