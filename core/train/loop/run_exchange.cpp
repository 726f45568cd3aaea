// SPDX-License-Identifier: Apache-2.0
// How gradients and weights travel between the devices of ranks, and how ranks choose the way.
#include "core/base/os/log.hpp"
#include "core/train/accelerator/device_sums.hpp"
#include "core/train/accelerator/exchange/link_settings.hpp"
#include "core/train/accelerator/open_device.hpp"
#include "core/train/loop/numerics.hpp"
#include "core/train/loop/run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <vector>

namespace dts::train {
namespace {

using accelerator::LinkSettings;

std::string as_text(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// Collective: returns every rank's text.
std::vector<std::string> gather_texts(Comm& comm, const std::string& mine) {
  const auto longest = static_cast<std::size_t>(-comm.least(-static_cast<int>(mine.size())));
  std::string padded = mine;
  padded.resize(longest + 1);
  std::string blocks(padded.size() * static_cast<std::size_t>(comm.size()), '\0');
  comm.wait(comm.post_gather(padded.data(), blocks.data(), padded.size()));
  std::vector<std::string> all;
  for (std::size_t at = 0; at < blocks.size(); at += padded.size()) all.emplace_back(&blocks[at]);
  return all;
}

// Collective: rank 0 reports the settings that differ between ranks.
Result<void> agree_on_settings(Comm& comm, const std::string& library, const LinkSettings& mine) {
  LinkSettings named = mine;
  named["NCCL's version"] = library;
  const std::vector<std::string> texts = gather_texts(comm, as_text(named));
  std::map<std::string, std::vector<std::string>> values;  // by name and rank
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const nlohmann::json all = nlohmann::json::parse(texts[rank]);
    for (const auto& [name, value] : all.items())
      values.try_emplace(name, texts.size(), "not set").first->second[rank] =
          value.get<std::string>();
  }
  std::string found;
  for (const auto& [name, of_ranks] : values)
    if (const std::string one = disagreement(name, of_ranks); !one.empty())
      found += (found.empty() ? "" : "; ") + one;
  if (found.empty()) return {};
  return fail(
      Errc::invalid,
      comm.rank() == 0 ? "the ranks do not agree on " + found : "",
      "set the same NCCL_* variables, in the environment and in NCCL's configuration files "
      "(NCCL_CONF_FILE, ~/.nccl.conf, /etc/nccl.conf), and install the same NCCL for all ranks");
}

}  // namespace

// Finds the library that links this rank's device to others.
Result<std::string> Run::find_link() const {
  const char* const hint = "use --device-exchange staged";
  const std::string device = device_->facts.name;
  DTS_ASSIGN(const auto facts, accelerator::find_link(device_sums_->queue()));
  if (device.find(" MIG ") != std::string::npos)
    return fail(Errc::invalid, device + " is a part of a GPU, which NCCL does not link", hint);
  if (shares_device_ && options_.exchange == ExchangeKind::automatic)
    return fail(Errc::invalid, "ranks share a device", hint);
  if (shares_device_ && facts.shares_devices == 0)
    return fail(
        Errc::invalid,
        fmt::format("ranks share a device, which {} does not link; NCCL 2.30 and later does",
                    facts.library),
        hint);
  return std::string(facts.library);
}

// Collective. Returns the same library on all ranks; empty: staged.
Result<std::string> Run::choose_link() {
  if (options_.exchange == ExchangeKind::staged || options_.staleness) return std::string();
  auto found = find_link();
  if (!found) {
    const std::string option = "--device-exchange ";
    found =
        tl::unexpected<Error>(Error(found.error()).during(option + to_string(options_.exchange)));
  }
  const Verdict verdict = comm_.agree(found ? 0 : exit_code(found.error().code));
  if (verdict.code == 0) return found;
  const bool is_first = verdict.rank == comm_.rank();
  if (options_.exchange == ExchangeKind::nccl) return is_first ? found : fail(Errc::invalid, "");
  if (is_first) tell("dttrain: {}: took staged\n", found.error().message);
  return std::string();
}

// Collective, after make_backend(). In asynchronous trainings servers update weights on the
// processor, where the gradients of workers arrive.
int Run::link_devices() {
  if (device_sums_ == nullptr || comm_.size() == 1) return 0;
  const auto library = choose_link();
  if (const int code =
          agree_on_error(library ? Result<void>{} : tl::unexpected<Error>(library.error()));
      code != 0)
    return code;
  if (!library->empty()) return link_devices_by(*library);
  exchange_ = as_text({{"kind", "staged"}});
  report_.note("sums and weights go between devices through the host's memory (staged)\n");
  return 0;
}

int Run::link_devices_by(const std::string& library) {
  const LinkSettings settings = accelerator::link_settings_here();
  if (const int code = agree_on_error(agree_on_settings(comm_, library, settings)); code != 0)
    return code;
  Result<accelerator::LinkId> id = accelerator::LinkId{};
  if (comm_.rank() == 0) id = accelerator::make_link_id(device_sums_->queue());
  if (const int code = agree_on_error(id ? Result<void>{} : tl::unexpected<Error>(id.error()));
      code != 0)
    return code;
  comm_.broadcast(id->data(), id->size());
  device_sums_->link(comm_, *id, {shares_device_, std::chrono::seconds(options_.comm_timeout)});
  const std::string path = accelerator::find_link(device_sums_->queue()).value().path;
  exchange_ =
      as_text({{"kind", "nccl"}, {"library", library}, {"path", path}, {"settings", settings}});
  std::string words = library;
  for (const auto& [name, value] : settings) words += fmt::format(", {}={}", name, value);
  report_.note(fmt::format("sums and weights go from device to device by nccl: {}\n", words));
  return 0;
}

}  // namespace dts::train
