// SPDX-License-Identifier: Apache-2.0
// Initialises and ends MPI, and finds out which ranks are on which node.
#include "core/train/comm/comm.hpp"

#include "core/base/os/log.hpp"
#include "core/base/text/names.hpp"
#include "core/train/comm/core_waits.hpp"
#include "core/train/comm/hier_transport.hpp"
#include "core/train/comm/self_transport.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <utility>

namespace dts::train {
namespace {

// Plain data, sent between ranks.
struct Place {
  std::uint64_t node = 0;
  pid_t pid = 0;
  cpu_set_t cpus{};
};

bool launched_by_mpi() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_FD"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

volatile std::sig_atomic_t g_lost_code = 0;

// MPI_Init and MPI_Finalize wait for all ranks without a deadline; a signal ends the process
// instead. 0 cancels it.
void end_in(std::chrono::milliseconds time, int code) {
  g_lost_code = code;

  struct sigaction action {};

  action.sa_handler = [](int /*signal*/) {
    tell_words("dttrain: a rank does not answer MPI; given up\n");
    ::_exit(g_lost_code);
  };
  ::sigaction(SIGALRM, &action, nullptr);
  ::alarm(static_cast<unsigned>((time.count() + 999) / 1000));
}

}  // namespace

std::optional<TransportKind> transport_of(std::string_view name) {
  constexpr Names<TransportKind, 4> k_kinds{{{TransportKind::automatic, "auto"},
                                             {TransportKind::mpi, "mpi"},
                                             {TransportKind::shm, "shm"},
                                             {TransportKind::hier, "hier"}}};
  return value_of(k_kinds, name);
}

Group Comm::meet(const Settings& settings) {
  // Our waits sleep. Yielding as well (mpirun's default when ranks share cores) would do harm: on
  // Linux 6.18 a process that yields in a loop was seen to keep its core from all others for
  // minutes.
  setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
  // A single rank has no peers; without this, Open MPI starts its own daemon.
  if (!launched_by_mpi()) setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  // MPI_Init makes hwloc inspect the node, and hwloc's plugins query ten X displays and every
  // OpenCL driver for GPUs. This takes seconds per rank if "localhost" is looked up on a name
  // server that does not answer.
  setenv("HWLOC_PLUGINS_BLACKLIST", "hwloc_gl.so hwloc_opencl.so", 0);
  setenv("HWLOC_COMPONENTS", "-gl,-opencl", 0);     // if they are built in
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // otherwise sleeps of 20 us last 70 us
  int provided = 0;
  end_in(settings.longest(), settings.lost);
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  end_in({}, 0);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  const auto lost = [rank, size, code = settings.lost](const Error& error) {
    const std::string who = size > 1 ? fmt::format("rank {}: ", rank) : "";
    tell("dttrain: {}{}\n  {}\n", who, error.message, error.hint);
    abandon(error.code == Errc::timed_out ? code : exit_code(error.code));
  };
  std::shared_ptr<Transport> transport;
  if (size > 1)
    transport = std::make_shared<MpiTransport>();
  else
    transport = std::make_shared<SelfTransport>();
  return {std::move(transport), std::move(all), rank, {settings.longest(), lost}};
}

Comm::Comm(Settings settings) : Group(meet(settings)), limits_(settings) {
  // For tests: treat this node as that many nodes.
  const char* const split = std::getenv("DTTRAIN_SPLIT_NODE");
  Place mine{
      node_key() + (split == nullptr ? 0 : rank() * std::atoi(split) / size()), ::getpid(), {}};
  sched_getaffinity(0, sizeof mine.cpus, &mine.cpus);
  const std::vector<Place> places = Group::gather(mine);
  std::vector<pid_t> neighbours;
  for (int peer = 0; peer < size(); ++peer) {
    const Place& place = places[static_cast<std::size_t>(peer)];
    nodes_.push_back(
        static_cast<int>(std::find_if(places.begin(),
                                      places.end(),
                                      [&](const Place& one) { return one.node == place.node; }) -
                         places.begin()));
    one_node_ = one_node_ && place.node == places.front().node;
    if (place.node != mine.node) continue;
    node_.push_back(peer);
    CPU_OR(&cpus_, &cpus_, &place.cpus);
    if (peer != rank()) neighbours.push_back(place.pid);
  }
  if (!neighbours.empty())
    Group::settings().starved = [waits = CoreWaits(std::move(neighbours))]() mutable {
      return waits.since_last();
    };
  set_spin();
}

Comm::~Comm() {
  barrier();  // this wait sleeps, and keeps the wait of MPI_Finalize short
  end_in(limits_.longest(), limits_.lost);
  MPI_Finalize();
  end_in({}, 0);
}

void Comm::abandon(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

Result<void> Comm::travel_by(TransportKind kind) {
  if (size() == 1) return {};
  if (least(static_cast<int>(kind)) != -least(-static_cast<int>(kind)))
    return fail(Errc::invalid, rank() == 0 ? "the ranks do not agree on --transport" : "");
  if (kind == TransportKind::shm && !one_node_ && rank() != 0) return fail(Errc::usage, "");
  if (kind == TransportKind::shm && !one_node_)
    return fail(Errc::usage,
                "--transport shm, but the ranks are on several nodes",
                "--transport hier uses memory within each node");
  const bool some_share = least(-node_size()) < -1;
  if (kind == TransportKind::mpi || (kind == TransportKind::automatic && !some_share)) return {};
  auto made = through_memory();
  const int failed = agree(made ? 0 : exit_code(made.error().code)).code;
  if (failed == 0) {
    use(*std::move(made));
    share_buffers();
  }
  set_spin();
  if (kind == TransportKind::automatic && !made && !made.error().message.empty())
    tell("dttrain: warning: rank {}: {}; messages go over MPI\n", rank(), made.error().message);
  if (failed == 0 || kind == TransportKind::automatic) return {};
  if (!made) return tl::unexpected(std::move(made).error());
  return fail(Errc::io, "");
}

void Comm::set_spin() {
  if (node_size() <= CPU_COUNT(&cpus_)) transport().set_spin(std::chrono::milliseconds(1));
}

// Collective, even if it fails.
Result<std::shared_ptr<Transport>> Comm::through_memory() {
  const auto place = std::find(node_.begin(), node_.end(), rank()) - node_.begin();
  auto memory = ShmTransport::create(static_cast<int>(place), node_size());
  const auto all = gather(memory ? (*memory)->name() : SharedMemoryName{});
  std::vector<SharedMemoryName> names;
  std::vector<int> places(all.size(), -1);
  for (const int peer : node_) {
    places[static_cast<std::size_t>(peer)] = static_cast<int>(names.size());
    names.push_back(all[static_cast<std::size_t>(peer)]);
  }
  const bool all_made =
      std::all_of(names.begin(), names.end(), [](const auto& name) { return name.pid != 0; });
  Result<void> connected;
  if (!memory)
    connected = tl::unexpected(memory.error());
  else
    connected = all_made ? (*memory)->connect(names) : fail(Errc::io, "");  // another reports
  barrier();  // until then every rank must keep its own memory open
  if (!connected) return tl::unexpected(std::move(connected).error());
  std::shared_ptr<Transport> made = *std::move(memory);
  if (!one_node_)
    made = std::make_shared<HierTransport>(std::static_pointer_cast<ShmTransport>(std::move(made)),
                                           std::move(places));
  return made;
}

Result<std::byte*> Comm::node_memory(std::size_t bytes) {
  Result<void> mapped;
  const auto keep = [&](Result<SharedMemory> memory) {
    if (memory)
      memory_.push_back(*std::move(memory));
    else
      mapped = tl::unexpected(std::move(memory).error());
  };
  if (first_on_node()) keep(SharedMemory::create(bytes));
  const auto names = gather(first_on_node() && mapped ? memory_.back().name() : SharedMemoryName{});
  const SharedMemoryName name = names[static_cast<std::size_t>(node_root())];
  if (!first_on_node() && name.pid != 0)
    keep(SharedMemory::open(name, bytes, SharedMemory::Access::read));
  DTS_TRY(mapped);
  // The rank that creates the memory reports the error.
  if (name.pid == 0)
    return fail(Errc::io,
                fmt::format("rank {} could not make the node's shared memory", node_root()));
  return memory_.back().data();
}

}  // namespace dts::train
