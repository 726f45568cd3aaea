// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/runner/node_questions.hpp"

#include "core/base/os/log.hpp"
#include "core/launch/health/node_doubt.hpp"

#include <chrono>
#include <thread>

namespace dts::launch {
namespace {

constexpr std::chrono::milliseconds k_look_limit{
    1500};                                          // a lost SYN is sent again after 1 s (RFC 6298)
constexpr std::chrono::seconds k_answer_limit{20};  // for a step of a shell

// True: the answer is there, or nothing was asked.
template <class Answer>
bool is_idle(const std::future<Answer>& answer) {
  return !answer.valid() || answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Unlike std::async's, this future does not wait when it is dropped.
template <class Answer, class Question>
std::future<Answer> ask_apart(Question question) {
  std::packaged_task<Answer()> task(std::move(question));
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  return answer;
}

}  // namespace

// A name server can take long as well.
void NodeQuestions::look_at_silent() {
  if (!is_idle(sights_)) return;
  if (sights_.valid()) attempt_.on_sights(sights_.get(), Time::clock::now());
  auto endpoints = scheduler_.endpoints(attempt_.take_silent_nodes());
  if (endpoints.empty()) return;
  sights_ = ask_apart<std::vector<NodeSight>>(
      [endpoints = std::move(endpoints)] { return probe_nodes(endpoints, k_look_limit); });
}

// A step that begins on such a node can take long.
void NodeQuestions::ask_mute() {
  if (!is_idle(unable_)) return;
  if (unable_.valid()) {
    auto unable = unable_.get();
    if (!unable) log("silent nodes were asked what they lack: {}", unable.error().message);
    if (unable) attempt_.on_unable(*std::move(unable), Time::clock::now());
  }
  const std::vector<std::string> nodes = attempt_.take_mute_nodes();
  if (nodes.empty() || settings_.local) return;
  const NodeDoubt doubt{nodes, settings_.dtsubmit, settings_.attempt.folder() + "/channel.json"};
  unable_ = ask_apart<Result<std::vector<run::UnfitNode>>>(
      [doubt] { return unable_nodes(doubt, k_answer_limit); });
}

}  // namespace dts::launch
