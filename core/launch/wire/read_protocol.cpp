// SPDX-License-Identifier: Apache-2.0
// Reads the control channel's messages and checks each field that the peer sent.
#include "core/base/text/json_fields.hpp"
#include "core/launch/wire/protocol.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>

namespace dts::launch {
namespace {

using nlohmann::json;

// Calls `build` with the JSON value that `text` holds; any JSON exception becomes one Error.
template <class Build>
auto parse(std::string_view text, const char* what, Build build)
    -> Result<decltype(build(json()))> {
  try {
    const json object = json::parse(text);
    if (!object.is_object()) return fail(Errc::invalid, fmt::format("{}: not a JSON object", what));
    return build(object);
  } catch (const json::exception& error) {
    return fail(Errc::invalid, fmt::format("{}: {}", what, error.what()));
  }
}

int number(const json& j, const char* name) {
  return whole<int>(j.at(name), name);
}

unsigned port(const json& j, const char* name = "port") {
  return whole<unsigned>(j.at(name), name, 65535);
}

std::vector<unsigned> counts(const json& j, const char* name) {
  std::vector<unsigned> values;
  for (const json& value : j.at(name).get_ref<const json::array_t&>())
    values.push_back(whole<unsigned>(value, name));
  return values;
}

std::uint64_t milliseconds(const json& j, const char* name) {
  return whole<std::uint64_t>(j.at(name), name);
}

Progress progress_from(const json& j) {
  Progress progress;
  progress.step = whole<std::uint64_t>(j.at("step"), "step");
  progress.stalled_seconds = count(j, "stalled_seconds");
  progress.state = j.at("state").get<std::string>();
  progress.quiet_seconds = count(j, "quiet_seconds");
  progress.idle_seconds = count(j, "idle_seconds");
  progress.asleep = j.at("asleep").get<bool>();
  progress.pace.save = milliseconds(j, "save");
  progress.pace.saves = count(j, "saves");
  progress.pace.work = milliseconds(j, "work");
  progress.pace.input = milliseconds(j, "input");
  progress.pace.pause = milliseconds(j, "pause");
  return progress;
}

Launched launched_from(const json& j) {
  Launched launched;
  launched.launcher = j.at("launcher").get<std::string>();
  launched.command = j.at("command").get<std::string>();
  launched.started = j.at("started").get<std::string>();
  for (const json& one : j.at("processes").get_ref<const json::array_t&>())
    launched.processes.push_back({count(one, "rank"),
                                  count(one, "world_size"),
                                  one.at("master").get<std::string>(),
                                  one.at("program").get<std::string>()});
  return launched;
}

Hello hello_from(const json& j) {
  Hello hello;
  hello.token = j.at("token").get<std::string>();
  hello.rank.rank = count(j, "rank");
  hello.rank.world_size = count(j, "world_size");
  hello.rank.local_rank = count(j, "local_rank");
  hello.rank.node = j.at("node").get<std::string>();
  hello.rank.gpu_ids = j.at("gpu_ids").get<std::vector<std::string>>();
  hello.rank.gpu_numbers = j.value("gpu_numbers", std::vector<unsigned>());
  hello.host = j.at("host").get<std::string>();
  hello.pid = number(j, "pid");
  hello.addresses = j.at("addresses").get<std::vector<std::string>>();
  for (const json& link : j.at("links").get_ref<const json::array_t&>())
    hello.links.push_back(
        {link.at(0).get<std::string>(), whole<unsigned>(link.at(1), "links", 100'000'000)});
  if (!hello.links.empty() && hello.links.size() != hello.addresses.size()) wrong_field("links");
  hello.topology = j.value("topology", false);
  hello.worker_port = port(j, "worker_port");
  hello.folder_trouble = j.value("folder_trouble", "");
  return hello;
}

Reached reached_from(const json& j) {
  Reached reached;
  for (const json& route : j.at("routes").get_ref<const json::array_t&>())
    reached.routes.push_back({route.at("address").get<std::string>(),
                              route.at("from").get<std::string>(),
                              route.at("interface").get<std::string>()});
  return reached;
}

PlannedBinding planned_binding_from(const json& j) {
  const auto memory = plan::memory_policy_from(j.at("memory").get<std::string>());
  if (!memory) throw json::other_error::create(501, "`memory` is not a memory policy", nullptr);
  return {counts(j, "cpus"), *memory, count(j, "gpus_per_node"), count(j, "node_cpus")};
}

std::vector<std::string> arguments(const json& j, const char* name) {
  std::vector<std::string> all;
  for (const json& word : j.at(name).get_ref<const json::array_t&>())
    all.push_back(bytes(word, name));
  return all;
}

decltype(Go::environment) environment_from(const json& j) {
  decltype(Go::environment) all;
  for (const json& one : j.at("environment").get_ref<const json::array_t&>())
    all.emplace_back(one.at(0).get<std::string>(), bytes(one.at(1), "environment"));
  return all;
}

// Reads the list element `text` with `parse`.
template <class One>
One part_of(const json& text, Result<One> (*parse)(std::string_view)) {
  auto one = parse(text.get_ref<const std::string&>());
  if (!one) throw json::other_error::create(501, "`container`: " + one.error().message, nullptr);
  return *std::move(one);
}

spec::Container container_from(const json& j) {
  spec::Container container;
  container.image = j.at("image").get<std::string>();
  const auto runtime = spec::container_runtime_from(j.at("runtime").get<std::string>());
  if (!runtime) throw json::other_error::create(501, "`runtime` is not one", nullptr);
  container.runtime = *runtime;
  for (const json& text : j.at("mounts").get_ref<const json::array_t&>())
    container.mounts.push_back(part_of(text, &spec::parse_mount));
  for (const json& text : j.at("variables").get_ref<const json::array_t&>())
    container.variables.push_back(part_of(text, &spec::parse_container_variable));
  return container;
}

SetUp set_up_from(const json& j) {
  return {bytes(j.at("script"), "script"),
          bytes(j.at("tear_down"), "tear_down"),
          bytes(j.at("log"), "log"),
          environment_from(j),
          j.at("stages").get<bool>()};
}

Staging staging_from(const json& j) {
  return {whole<std::uint64_t>(j.at("done"), "done"), whole<std::uint64_t>(j.at("total"), "total")};
}

SetUpEnded set_up_ended_from(const json& j) {
  return {j.at("failure").get<std::string>(), {arguments(j, "set"), arguments(j, "unset")}};
}

Go go_from(const json& j) {
  Go go;
  go.binding = planned_binding_from(j);
  go.strict_binding = j.at("strict_binding").get<bool>();
  go.environment = environment_from(j);
  go.log = bytes(j.at("log"), "log");
  go.stop_signal = number(j, "stop_signal");
  go.log_timestamps = j.value("log_timestamps", false);
  go.hang_seconds = number(j, "hang_seconds");
  go.checkpoint_every = milliseconds(j, "checkpoint_every");
  go.thread_cpus = counts(j, "thread_cpus");
  go.signals_reach_programs = j.at("signals_reach_programs").get<bool>();
  go.command = arguments(j, "command");
  if (j.contains("container")) go.container = container_from(j.at("container"));
  go.set_up = {arguments(j, "set"), arguments(j, "unset")};
  go.limits = j.at("limits").get<std::vector<std::string>>();
  go.umask = j.at("umask").get<std::string>();
  return go;
}

Exited exited_from(const json& j) {
  return {whole<int>(j.at("code"), "code", 255),
          j.at("out_of_memory").get<bool>(),
          j.at("done").get<bool>(),
          j.at("left_running").get<std::string>()};
}

Failed failed_from(const json& j) {
  return {j.at("message").get<std::string>(), whole<int>(j.at("program"), "program", 255)};
}

// A message's name on the wire, and the function that reads its fields.
template <class Message>
struct Reader {
  std::string_view type;
  Message (*read)(const json&);
};

constexpr Reader<FromRank> k_from_rank[] = {
    {"hello", [](const json& j) -> FromRank { return hello_from(j); }},
    {"topology", [](const json& j) -> FromRank { return Topology{j.at("text")}; }},
    {"measured", [](const json& j) -> FromRank { return Measured{j.at("text")}; }},
    {"clock",
     [](const json& j) -> FromRank {
       return ClockReading{whole<std::int64_t>(j.at("milliseconds"), "milliseconds")};
     }},
    {"listening",
     [](const json& j) -> FromRank {
       return Listening{port(j), j.value("note", "")};
     }},
    {"reached", [](const json& j) -> FromRank { return reached_from(j); }},
    {"bound", [](const json& j) -> FromRank { return Bound{j.at("text")}; }},
    {"set_up_ended", [](const json& j) -> FromRank { return set_up_ended_from(j); }},
    {"staging", [](const json& j) -> FromRank { return staging_from(j); }},
    {"started", [](const json& j) -> FromRank { return Started{number(j, "pid")}; }},
    {"launched", [](const json& j) -> FromRank { return launched_from(j); }},
    {"signalled", [](const json& j) -> FromRank { return Signalled{number(j, "signal")}; }},
    {"exited", [](const json& j) -> FromRank { return exited_from(j); }},
    {"progress", [](const json& j) -> FromRank { return progress_from(j); }},
    {"dumped", [](const json& j) -> FromRank { return Dumped{j.at("written").get<bool>()}; }},
    {"failed", [](const json& j) -> FromRank { return failed_from(j); }},
    {"refused",
     [](const json& j) -> FromRank {
       return Refused{j.at("token"), j.at("node"), j.at("message"), j.at("of_node")};
     }},
    {"notice",
     [](const json& j) -> FromRank {
       return Notice{j.at("token"), j.at("node"), number(j, "signal")};
     }},
    {"attached", [](const json& j) -> FromRank { return Attached{j.at("token")}; }},
    {"not_launched",
     [](const json& j) -> FromRank {
       return NotLaunched{j.at("token"), j.at("message")};
     }},
    {"verify", [](const json& j) -> FromRank { return Verify{j.at("token")}; }},
};

constexpr Reader<ToRank> k_to_rank[] = {
    {"ask_clock", [](const json&) -> ToRank { return AskClock{}; }},
    {"listen",
     [](const json& j) -> ToRank {
       return Listen{counts(j, "ports"), j.at("nonce")};
     }},
    {"probe",
     [](const json& j) -> ToRank {
       return Probe{j.at("addresses").get<std::vector<std::string>>(), port(j), j.at("nonce")};
     }},
    {"set_up", [](const json& j) -> ToRank { return set_up_from(j); }},
    {"go", [](const json& j) -> ToRank { return go_from(j); }},
    {"advise", [](const json& j) -> ToRank { return Advise{milliseconds(j, "milliseconds")}; }},
    {"read_back", [](const json&) -> ToRank { return ReadBack{}; }},
    {"stacks",
     [](const json& j) -> ToRank {
       return Stacks{bytes(j.at("file"), "file"), j.at("saving").get<bool>()};
     }},
    {"stop", [](const json& j) -> ToRank { return Stop{number(j, "signal")}; }},
    {"kill", [](const json&) -> ToRank { return Kill{}; }},
    {"bye", [](const json& j) -> ToRank { return Bye{j.at("leaves_node").get<bool>()}; }},
};

template <class Message>
Message message_from(std::span<const Reader<Message>> readers, const json& j) {
  const auto type = j.at("type").get<std::string>();
  const auto found = std::ranges::find(readers, type, &Reader<Message>::type);
  if (found == readers.end())
    throw json::other_error::create(501, "unknown type `" + type + "`", nullptr);
  return found->read(j);
}

}  // namespace

Result<FromRank> parse_from_rank(std::string_view line) {
  return parse(line, "control channel", [](const json& j) {
    return message_from<FromRank>(k_from_rank, j);
  });
}

Result<ToRank> parse_to_rank(std::string_view line) {
  return parse(
      line, "control channel", [](const json& j) { return message_from<ToRank>(k_to_rank, j); });
}

Result<ChannelFile> parse_channel_file(std::string_view text) {
  return parse(text, "channel.json", [](const json& j) {
    return ChannelFile{j.at("token").get<std::string>(),
                       j.at("node").get<std::string>(),
                       j.at("addresses").get<std::vector<std::string>>(),
                       port(j),
                       j.at("preflight").get<bool>(),
                       j.at("check_gpus").get<bool>(),
                       j.at("folder").get<std::string>()};
  });
}

}  // namespace dts::launch
