// SPDX-License-Identifier: Apache-2.0
// Passes scheduler calls to a plug-in as JSON, and the replies back; chooses the plug-in.
#include "core/plugin/scheduler.hpp"

#include "core/base/os/log.hpp"
#include "core/plugin/host.hpp"
#include "core/plugin/scheduler_json.hpp"
#include "core/sched/order.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace dts::plugin {
namespace {

using nlohmann::json;

// Tried in this order: libslurm is faster, but the commands always match the cluster's release.
constexpr const char* k_preferred = "slurm";
constexpr const char* k_otherwise = "slurm-commands";

// A plug-in that was loaded and opened.
struct Reached {
  std::shared_ptr<const Plugin> plugin;
  sched::Phrases phrases;
  std::string instead;  // see sched::Access
};

Result<std::shared_ptr<const Plugin>> load(const std::string& name) {
  auto plugin = load_plugin(name);
  if (!plugin && plugin.error().code == Errc::not_found)
    plugin.error().code = Errc::unreachable;  // without a plug-in, the scheduler is out of reach
  return plugin;
}

Result<Reached> reach(const std::string& name, bool probe) {
  DTS_ASSIGN(auto plugin, load(name));
  DTS_ASSIGN(const std::string opened, plugin->call("open", json{{"probe", probe}}.dump()));
  return Reached{std::move(plugin), phrases_from(json::parse(opened, nullptr, false)), ""};
}

Result<Reached> reach_by_commands(bool probe, const std::string& instead) {
  DTS_ASSIGN(Reached reached, reach(k_otherwise, probe));
  reached.instead = instead;
  return reached;
}

// If both fail, the first error is the one to fix, unless it only says that libslurm is missing.
Result<Reached> reach_any(bool probe) {
  auto first = reach(k_preferred, probe);
  if (first) return first;
  auto second = reach_by_commands(probe, first.error().message);
  if (second) return second;
  const bool is_loaded = load(k_preferred).has_value();
  if (!is_loaded) first.error().message += "; " + second.error().message;
  if (!is_loaded && !second.error().hint.empty()) first.error().hint = second.error().hint;
  return first;
}

sched::Access way_of(const Plugin& plugin, const std::string& instead) {
  const auto reply = plugin.call("version", "{}");
  std::string words = reply ? text_in(json::parse(*reply, nullptr, false), "words") : "";
  if (words.empty()) words = plugin.description();
  return {plugin.name(), std::move(words), instead};
}

class PluginScheduler final : public sched::Scheduler, public sched::JobSearch {
 public:
  // With `is_chosen`, the commands take over if the controller turns out to have another release.
  PluginScheduler(Reached reached, bool is_chosen)
      : reached_(std::move(reached)),
        may_change_(is_chosen && reached_.plugin->name() == std::string_view(k_preferred)) {}

  [[nodiscard]] sched::Phrases phrases() const override { return current().phrases; }

  [[nodiscard]] sched::Access access() const override {
    const Reached now = current();
    return way_of(*now.plugin, now.instead);
  }

  Result<sched::JobId> submit(const sched::Submission& submission) override {
    DTS_ASSIGN(const json reply, order("submit", to_json(submission)));
    const auto id = sched::JobId::parse(text_in(reply, "id"));
    if (!id || id->empty()) return fail(Errc::internal, "the scheduler plug-in gave no job id");
    // What a rule of the site says about a job that it accepts, for example that it changed it.
    if (const std::string message = text_in(reply, "message"); !message.empty())
      tell("{} adds: {}\n", current().phrases.name, message);
    return *id;
  }

  Result<sched::Expected> expect(const sched::Submission& submission) override {
    DTS_ASSIGN(const json reply, query("expect", to_json(submission)));
    return expected_from(reply);
  }

  Result<sched::JobInfo> job(sched::JobId id) override {
    DTS_ASSIGN(const json reply, query("job", {{"id", id.text()}}));
    return job_from(reply);
  }

  Result<std::vector<sched::JobInfo>> find(const std::string& script_path) override {
    return list("find", job_from, {{"command", script_path}});
  }

  Result<std::vector<sched::QueuedJob>> queue() override { return list("queue", queued_from); }

  Result<std::vector<sched::NodeInfo>> nodes() override { return list("nodes", node_from); }

  Result<std::vector<sched::PartitionInfo>> partitions() override {
    return list("partitions", partition_from);
  }

  Result<sched::ConfigInfo> config() override {
    DTS_ASSIGN(const json reply, query("config", json::object()));
    return config_from(reply);
  }

  Result<sched::Settings> settings() override {
    DTS_ASSIGN(const json reply, query("settings", json::object()));
    return settings_from(reply);
  }

  Result<std::vector<sched::QosInfo>> qos(const std::string& account) override {
    return list("qos", qos_from, {{"account", account}});
  }

  Result<sched::SiteLimits> limits(const std::string& account, const std::string& qos) override {
    DTS_ASSIGN(const json reply, query("limits", {{"account", account}, {"qos", qos}}));
    return limits_from(reply);
  }

  Result<void> cancel(sched::JobId id) override { return act("cancel", {{"id", id.text()}}); }

  Result<void> requeue(sched::JobId id) override { return act("requeue", {{"id", id.text()}}); }

  Result<void> forbid_requeue(sched::JobId id) override {
    return act("forbid_requeue", {{"id", id.text()}});
  }

  Result<void> exclude(sched::JobId id, const std::string& nodes) override {
    return act("exclude", {{"id", id.text()}, {"nodes", nodes}});
  }

  Result<void> signal_batch(sched::JobId id, int signal) override {
    return act("signal_batch", {{"id", id.text()}, {"signal", signal}});
  }

 private:
  [[nodiscard]] Reached current() const {
    const std::lock_guard lock(mutex_);
    return reached_;
  }

  // Returns the plug-in for the commands instead of `refused`, if the commands answer; otherwise
  // nullptr. Calls run concurrently, so another one may already have made the change.
  [[nodiscard]] std::shared_ptr<const Plugin> change(const std::shared_ptr<const Plugin>& refused,
                                                     const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (reached_.plugin != refused) return reached_.plugin;
    if (!std::exchange(may_change_, false)) return nullptr;
    auto other = reach_by_commands(true, why);
    if (!other) return nullptr;
    reached_ = *std::move(other);
    return reached_.plugin;
  }

  [[nodiscard]] Result<json> call(const char* operation, const json& request, bool is_order) {
    const std::string text = dump(request);
    const auto plugin = current().plugin;
    auto reply = plugin->call(operation, text);
    if (!reply && reply.error().other_release) {
      const auto other = change(plugin, reply.error().message);
      // The outcome of an order is unknown: the caller has to find it out, and order again.
      if (other && !is_order) reply = other->call(operation, text);
    }
    if (!reply) return tl::unexpected<Error>(std::move(reply).error());
    return json::parse(*reply, nullptr, false);
  }

  [[nodiscard]] Result<json> query(const char* operation, const json& request) {
    return call(operation, request, false);
  }

  [[nodiscard]] Result<json> order(const char* operation, const json& request) {
    return call(operation, request, true);
  }

  [[nodiscard]] Result<void> act(const char* operation, const json& request) {
    DTS_TRY(order(operation, request));
    return {};
  }

  template <class T>
  [[nodiscard]] Result<std::vector<T>> list(const char* operation,
                                            T (*from)(const json&),
                                            const json& request = json::object()) {
    DTS_ASSIGN(const json reply, query(operation, request));
    std::vector<T> items;
    for (const json& item : reply) items.push_back(from(item));
    return items;
  }

  mutable std::mutex mutex_;
  Reached reached_;
  bool may_change_;
};

}  // namespace

std::string scheduler_name() {
  const char* name = std::getenv("DTSUBMIT_SCHEDULER");
  return name == nullptr ? std::string() : name;
}

Result<std::unique_ptr<sched::Scheduler>> load_scheduler(const std::string& name, bool probe) {
  auto reached = name.empty() ? reach_any(probe) : reach(name, probe);
  if (!reached) return tl::unexpected<Error>(std::move(reached).error());
  return std::make_unique<PluginScheduler>(*std::move(reached), name.empty());
}

Result<sched::Access> scheduler_access(const std::string& name) {
  auto plugin = load(name.empty() ? k_preferred : name);
  if (plugin) return way_of(**plugin, "");
  if (!name.empty()) return tl::unexpected<Error>(std::move(plugin).error());
  const auto other = load(k_otherwise);
  if (!other) return tl::unexpected<Error>(std::move(plugin).error());
  return way_of(**other, plugin.error().message);
}

}  // namespace dts::plugin
