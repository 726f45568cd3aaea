// SPDX-License-Identifier: Apache-2.0
// Writes the control channel's messages.
#include "core/base/overload.hpp"
#include "core/base/text/json_bytes.hpp"
#include "core/base/text/json_text.hpp"
#include "core/launch/wire/protocol.hpp"

#include <nlohmann/json.hpp>

namespace dts::launch {
namespace {

using nlohmann::json;

template <class One>
std::vector<std::string> texts_of(const std::vector<One>& list) {
  std::vector<std::string> texts;
  for (const One& one : list) texts.push_back(to_text(one));
  return texts;
}

json container_to(const spec::Container& container) {
  return json{{"image", container.image},
              {"runtime", spec::to_string(container.runtime)},
              {"mounts", texts_of(container.mounts)},
              {"variables", texts_of(container.variables)}};
}

json hello_to(const Hello& m) {
  json j{{"type", "hello"},
         {"token", m.token},
         {"rank", m.rank.rank},
         {"world_size", m.rank.world_size},
         {"local_rank", m.rank.local_rank},
         {"node", m.rank.node},
         {"gpu_ids", m.rank.gpu_ids},
         {"host", m.host},
         {"pid", m.pid},
         {"addresses", m.addresses},
         {"links", json::array()},
         {"worker_port", m.worker_port}};
  for (const Link& link : m.links) j["links"].push_back({link.interface, link.mbps});
  if (!m.rank.gpu_numbers.empty()) j["gpu_numbers"] = m.rank.gpu_numbers;
  if (m.topology) j["topology"] = true;
  if (!m.folder_trouble.empty()) j["folder_trouble"] = m.folder_trouble;
  return j;
}

json launched_to(const Launched& m) {
  json processes = json::array();
  for (const LaunchedProcess& one : m.processes)
    processes.push_back({{"rank", one.rank},
                         {"world_size", one.world_size},
                         {"master", one.master},
                         {"program", one.program}});
  return {{"type", "launched"},
          {"launcher", m.launcher},
          {"command", m.command},
          {"started", m.started},
          {"processes", std::move(processes)}};
}

json reached_to(const Reached& m) {
  json routes = json::array();
  for (const Route& route : m.routes)
    routes.push_back(
        {{"address", route.address}, {"from", route.from}, {"interface", route.interface}});
  return {{"type", "reached"}, {"routes", std::move(routes)}};
}

json environment_to(const std::vector<std::pair<std::string, std::string>>& environment) {
  json variables = json::array();
  for (const auto& [name, value] : environment) variables.push_back({name, bytes_to_json(value)});
  return variables;
}

json go_to(const Go& m) {
  json j{{"type", "go"},
         {"cpus", m.binding.cpus},
         {"memory", plan::to_text(m.binding.memory)},
         {"gpus_per_node", m.binding.gpus_per_node},
         {"node_cpus", m.binding.node_cpus},
         {"strict_binding", m.strict_binding},
         {"environment", environment_to(m.environment)},
         {"log", bytes_to_json(m.log)},
         {"log_timestamps", m.log_timestamps},
         {"stop_signal", m.stop_signal},
         {"hang_seconds", m.hang_seconds},
         {"checkpoint_every", m.checkpoint_every},
         {"thread_cpus", m.thread_cpus},
         {"signals_reach_programs", m.signals_reach_programs},
         {"command", bytes_to_json(m.command)},
         {"set", bytes_to_json(m.set_up.set)},
         {"unset", bytes_to_json(m.set_up.unset)},
         {"limits", m.limits},
         {"umask", m.umask}};
  if (!m.container.image.empty()) j["container"] = container_to(m.container);
  return j;
}

}  // namespace

std::string to_line(const FromRank& message) {
  return json_line(std::visit(
      Overload{
          [](const Hello& m) { return hello_to(m); },
          [](const Topology& m) {
            return json{{"type", "topology"}, {"text", m.text}};
          },
          [](const Measured& m) {
            return json{{"type", "measured"}, {"text", m.text}};
          },
          [](const ClockReading& m) {
            return json{{"type", "clock"}, {"milliseconds", m.milliseconds}};
          },
          [](const Listening& m) {
            json j{{"type", "listening"}, {"port", m.port}};
            if (!m.note.empty()) j["note"] = m.note;
            return j;
          },
          [](const Reached& m) { return reached_to(m); },
          [](const Bound& m) {
            return json{{"type", "bound"}, {"text", m.text}};
          },
          [](const SetUpEnded& m) {
            return json{{"type", "set_up_ended"},
                        {"failure", m.failure},
                        {"set", bytes_to_json(m.changes.set)},
                        {"unset", bytes_to_json(m.changes.unset)}};
          },
          [](const Staging& m) {
            return json{{"type", "staging"}, {"done", m.done}, {"total", m.total}};
          },
          [](const Started& m) {
            return json{{"type", "started"}, {"pid", m.pid}};
          },
          [](const Launched& m) { return launched_to(m); },
          [](const Signalled& m) {
            return json{{"type", "signalled"}, {"signal", m.signal}};
          },
          [](const Exited& m) {
            return json{{"type", "exited"},
                        {"code", m.code},
                        {"out_of_memory", m.out_of_memory},
                        {"done", m.done},
                        {"left_running", m.left_running}};
          },
          [](const Progress& m) {
            return json{{"type", "progress"},
                        {"step", m.step},
                        {"stalled_seconds", m.stalled_seconds},
                        {"state", m.state},
                        {"quiet_seconds", m.quiet_seconds},
                        {"idle_seconds", m.idle_seconds},
                        {"asleep", m.asleep},
                        {"save", m.pace.save},
                        {"saves", m.pace.saves},
                        {"work", m.pace.work},
                        {"input", m.pace.input},
                        {"pause", m.pace.pause}};
          },
          [](const Dumped& m) {
            return json{{"type", "dumped"}, {"written", m.written}};
          },
          [](const Failed& m) {
            return json{{"type", "failed"}, {"message", m.message}, {"program", m.program}};
          },
          [](const Refused& m) {
            return json{{"type", "refused"},
                        {"token", m.token},
                        {"node", m.node},
                        {"message", m.message},
                        {"of_node", m.of_node}};
          },
          [](const Notice& m) {
            return json{
                {"type", "notice"}, {"token", m.token}, {"node", m.node}, {"signal", m.signal}};
          },
          [](const Attached& m) {
            return json{{"type", "attached"}, {"token", m.token}};
          },
          [](const NotLaunched& m) {
            return json{{"type", "not_launched"}, {"token", m.token}, {"message", m.message}};
          },
          [](const Verify& m) {
            return json{{"type", "verify"}, {"token", m.token}};
          },
      },
      message));
}

std::string to_line(const ToRank& message) {
  return json_line(std::visit(
      Overload{
          [](const AskClock&) {
            return json{{"type", "ask_clock"}};
          },
          [](const Listen& m) {
            return json{{"type", "listen"}, {"ports", m.ports}, {"nonce", m.nonce}};
          },
          [](const Probe& m) {
            return json{{"type", "probe"},
                        {"addresses", m.addresses},
                        {"port", m.port},
                        {"nonce", m.nonce}};
          },
          [](const SetUp& m) {
            return json{{"type", "set_up"},
                        {"script", bytes_to_json(m.script)},
                        {"tear_down", bytes_to_json(m.tear_down)},
                        {"log", bytes_to_json(m.log)},
                        {"environment", environment_to(m.environment)},
                        {"stages", m.stages}};
          },
          [](const Go& m) { return go_to(m); },
          [](const Advise& m) {
            return json{{"type", "advise"}, {"milliseconds", m.milliseconds}};
          },
          [](const ReadBack&) {
            return json{{"type", "read_back"}};
          },
          [](const Stacks& m) {
            return json{{"type", "stacks"}, {"file", bytes_to_json(m.file)}, {"saving", m.saving}};
          },
          [](const Stop& m) {
            return json{{"type", "stop"}, {"signal", m.signal}};
          },
          [](const Kill&) {
            return json{{"type", "kill"}};
          },
          [](const Bye& m) {
            return json{{"type", "bye"}, {"leaves_node", m.leaves_node}};
          },
      },
      message));
}

std::string to_text(const ChannelFile& channel) {
  return json_line(json{{"token", channel.token},
                        {"node", channel.node},
                        {"addresses", channel.addresses},
                        {"port", channel.port},
                        {"preflight", channel.preflight},
                        {"check_gpus", channel.check_gpus},
                        {"folder", channel.folder}});
}

}  // namespace dts::launch
