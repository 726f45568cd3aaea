// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/rank_hello.hpp"

#include "core/base/net/interfaces.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/wire/node_name.hpp"

#include <unistd.h>

#include <vector>

namespace dts::launch {
namespace {

constexpr unsigned k_most_gpus = 1023;  // the highest GPU number

using Numbers = std::vector<unsigned>;

void add_addresses(Hello& hello) {
  std::vector<HostAddress> own = interface_addresses();
  if (own.size() > k_most_addresses) own.resize(k_most_addresses);
  for (HostAddress& one : own) {
    hello.links.push_back({one.interface, link_speed(one.interface)});
    hello.addresses.push_back(std::move(one.address));
  }
}

}  // namespace

Hello make_hello(const ChannelFile& channel, const Identity& identity, const std::string& node) {
  Hello hello;
  hello.token = channel.token;
  hello.host = host_name();
  hello.rank = {identity.rank,
                identity.world_size,
                identity.local_rank,
                node.empty() ? node_name(getenv_lookup, hello.host) : node,
                {},
                {}};
  if (const auto gpus = getenv_lookup("CUDA_VISIBLE_DEVICES"); gpus && !gpus->empty())
    hello.rank.gpu_ids = split(*gpus, ',');
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"})
    if (hello.rank.gpu_numbers.empty())
      hello.rank.gpu_numbers =
          parse_number_list(getenv_lookup(name).value_or(""), k_most_gpus).value_or(Numbers());
  hello.pid = ::getpid();
  add_addresses(hello);
  // The agent already knows the topology of its own node.
  hello.topology = identity.local_rank == 0 && hello.rank.node != channel.node;
  return hello;
}

}  // namespace dts::launch
