// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/node_order.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dts::launch {
namespace {

constexpr std::string_view k_version = "dtsubmit/node/1";
constexpr std::uint64_t k_most_texts = 1'000'000;
constexpr std::size_t k_longest_head = 64;

// An order consists of a version, the number of texts, and the texts, each terminated by NUL.
void put(std::string& bytes, std::string_view text) {
  bytes += text;
  bytes += '\0';
}

tl::unexpected<Error> no_order(std::string_view what) {
  return fail(Errc::invalid,
              fmt::format("`dtsubmit node` got no order on its standard input: {}", what),
              "`dtsubmit run --hosts` starts it, with the same dtsubmit on every host");
}

// Returns one text after another; `good` becomes false when one is missing or not a number.
struct Reader {
  std::vector<std::string> texts;
  std::size_t next = 0;
  bool good = true;

  std::string text() {
    good = good && next < texts.size();
    return good ? std::move(texts[next++]) : std::string();
  }

  unsigned number() {
    const auto value = parse_number(text());
    good = good && value && *value <= k_most_texts;
    return good ? static_cast<unsigned>(*value) : 0;
  }

  std::vector<std::string> list() {
    std::vector<std::string> all(std::min<std::size_t>(number(), texts.size()));
    for (std::string& one : all) one = text();
    return all;
  }
};

// The NUL-terminated text at `begin`; nullopt if its end has not arrived yet.
std::optional<std::string_view> text_at(std::string_view bytes, std::size_t begin) {
  const std::size_t end = bytes.find('\0', begin);
  return end == std::string_view::npos ? std::nullopt
                                       : std::optional(bytes.substr(begin, end - begin));
}

}  // namespace

std::vector<NodeOrder> node_orders(const plan::Plan& plan) {
  std::vector<NodeOrder> orders;
  unsigned first = 0;
  for (const HostSlots& host : plan.hosts) {
    NodeOrder& order = orders.emplace_back();
    order.node = host.host;
    order.first_rank = std::exchange(first, first + host.slots);
    order.ranks = host.slots;
    order.world_size = plan.world_size;
    order.command = plan.command;
  }
  return orders;
}

std::string to_bytes(const NodeOrder& order) {
  std::vector<std::string> texts{order.run_directory,
                                 std::to_string(order.attempt),
                                 order.node,
                                 std::to_string(order.first_rank),
                                 std::to_string(order.ranks),
                                 std::to_string(order.world_size),
                                 order.folder};
  for (const auto* list : {&order.environment, &order.command}) {
    texts.push_back(std::to_string(list->size()));
    texts.insert(texts.end(), list->begin(), list->end());
  }
  std::string bytes;
  put(bytes, k_version);
  put(bytes, std::to_string(texts.size()));
  for (const std::string& text : texts) put(bytes, text);
  return bytes;
}

Result<std::optional<NodeOrder>> parse_node_order(std::string_view bytes) {
  const auto version = text_at(bytes, 0);
  if (!version && bytes.size() < k_longest_head) return std::nullopt;
  if (version != k_version) return no_order(fmt::format("it does not begin with {}", k_version));
  std::size_t at = version->size() + 1;
  const auto number = text_at(bytes, at);
  if (!number) return std::nullopt;
  const auto count = parse_number(*number);
  if (!count || *count > k_most_texts) return no_order("its length is not a number");
  at += number->size() + 1;
  Reader reader;
  while (reader.texts.size() < *count) {
    const auto text = text_at(bytes, at);
    if (!text) return std::nullopt;
    reader.texts.emplace_back(*text);
    at += text->size() + 1;
  }
  NodeOrder order;
  order.run_directory = reader.text();
  order.attempt = reader.number();
  order.node = reader.text();
  order.first_rank = reader.number();
  order.ranks = reader.number();
  order.world_size = reader.number();
  order.folder = reader.text();
  order.environment = reader.list();
  order.command = reader.list();
  if (!reader.good || reader.next != reader.texts.size() || order.command.empty() ||
      order.ranks == 0)
    return no_order("its parts do not fit together");
  return order;
}

bool is_machine_variable(std::string_view name) {
  constexpr std::array<std::string_view, 3> k_prefixes{"SSH_", "XDG_", "DBUS_"};
  constexpr std::array<std::string_view, 15> k_names{"HOSTNAME",
                                                     "HOST",
                                                     "HOME",
                                                     "USER",
                                                     "LOGNAME",
                                                     "SHELL",
                                                     "MAIL",
                                                     "DISPLAY",
                                                     "WAYLAND_DISPLAY",
                                                     "XAUTHORITY",
                                                     "WINDOWID",
                                                     "TMUX",
                                                     "STY",
                                                     "SHLVL",
                                                     "_"};
  return std::find(k_names.begin(), k_names.end(), name) != k_names.end() ||
         std::any_of(k_prefixes.begin(), k_prefixes.end(), [&](std::string_view prefix) {
           return name.substr(0, prefix.size()) == prefix;
         });
}

}  // namespace dts::launch
