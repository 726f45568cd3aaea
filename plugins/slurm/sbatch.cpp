// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm/sbatch.hpp"

#include "plugins/slurm/request_text.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace slurm_plugin {
namespace {

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
    for (const auto& [name, value] : options->items()) words.option(name, bytes_of(value));
}

// In the order in which sbatch reads them; all of these override the script's own lines.
std::vector<std::string> command_line(const json& request) {
  Words words(request);
  for (const char* word : {"sbatch", "--parsable", "--input=/dev/null"}) words.word(word);
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

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

struct Said {
  std::string out, err;
  int status = 0;
};

// Reads both streams to the end.
void read_all(int out, int err, Said& said) {
  std::array<pollfd, 2> fds{{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      std::array<char, 4096> block{};
      const ssize_t n = ::read(fds[i].fd, block.data(), block.size());
      if (n > 0) (i == 0 ? said.out : said.err).append(block.data(), static_cast<std::size_t>(n));
      if (n == 0 || (n < 0 && errno != EINTR)) fds[i].fd = -1;
    }
  }
}

// Restores the signal state that a program expects: the caller may block some signals.
void set_signals(posix_spawnattr_t& attributes) {
  sigset_t none;
  sigemptyset(&none);
  sigset_t defaults = none;
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

// The script for an sbatch call without a file; -1 on failure.
int memory_file(const std::string& text) {
  const int file = ::memfd_create("script", MFD_CLOEXEC);
  const bool whole = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (whole && ::lseek(file, 0, SEEK_SET) == 0) return file;
  if (file >= 0) ::close(file);
  return -1;
}

Outcome<Said> run(std::vector<std::string> argv,
                  std::vector<std::string> environment,
                  const std::string& script) {
  const int input = memory_file(script);
  if (input < 0) return failed("internal", std::strerror(errno));
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return failed("internal", std::strerror(errno));
  if (::pipe2(err.data(), O_CLOEXEC) != 0) return failed("internal", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  set_signals(attributes);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid,
                                   argv.front().c_str(),
                                   &actions,
                                   &attributes,
                                   pointers(argv).data(),
                                   pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  for (const int fd : {input, out[1], err[1]}) ::close(fd);
  Said said;
  if (error == 0) read_all(out[0], err[0], said);
  for (const int fd : {out[0], err[0]}) ::close(fd);
  if (error != 0)
    return failed("unreachable",
                  std::string("sbatch cannot be started: ") + std::strerror(error),
                  "heterogeneous jobs, and options that only sbatch knows, need it in PATH");
  while (::waitpid(pid, &said.status, 0) < 0 && errno == EINTR) {
  }
  return said;
}

// "sbatch: error: Batch job submission failed: Invalid qos" -> from "Batch" on, for each line.
std::string plain(const std::string& said) {
  std::string text;
  for (std::size_t begin = 0; begin < said.size();) {
    const std::size_t end = std::min(said.find('\n', begin), said.size());
    std::string line = said.substr(begin, end - begin);
    begin = end + 1;
    for (const char* prefix : {"sbatch: ", "error: "})
      if (line.rfind(prefix, 0) == 0) line.erase(0, std::strlen(prefix));
    if (line.rfind("Try \"sbatch --help\"", 0) == 0) continue;
    if (!line.empty()) text += (text.empty() ? "" : "; ") + line;
  }
  return text;
}

}  // namespace

Outcome<json> submit_by_sbatch(const json& request) {
  auto environment = environment_of(request);
  if (const char* conf = std::getenv("SLURM_CONF"))
    environment.push_back(std::string("SLURM_CONF=") + conf);
  const auto said =
      run(command_line(request), std::move(environment), bytes_of(request.at("script")));
  if (!said) return tl::unexpected<Failure>(said.error());
  // "1234" or "1234;cluster"
  const std::string id = said->out.substr(0, said->out.find_first_of(";\n"));
  if (said->status != 0 || id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
    return failed_command("sbatch: " + plain(said->err));
  json result = {{"id", id}};
  if (const std::string message = plain(said->err); !message.empty()) result["message"] = message;
  return result;
}

}  // namespace slurm_plugin
