// SPDX-License-Identifier: Apache-2.0
// The phases of one rank. Ranks on one machine take turns with measurements that they make alone.
// Then rank 0 finds out which ranks are present, and these measure the links between them.
#include "core/train/bench/bench.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/units.hpp"
#include "core/train/bench/between.hpp"
#include "core/train/bench/phases.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/telemetry/report.hpp"

#include "version.hpp"
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace dts::train::bench {
namespace {

constexpr std::chrono::seconds k_margin(10);  // for ranks that waited for another one
constexpr std::chrono::seconds k_patience(60);

class Bench {
 public:
  Bench(const Comm& comm, const BenchOptions& options)
      : links_(comm), options_(options), began_(std::chrono::system_clock::now()) {
    const char* const node = std::getenv("SLURMD_NODENAME");
    mine_.node = node != nullptr && *node != '\0' ? node : host_name();
    mine_.rank = links_.rank();
  }

  int run();

 private:
  void find_neighbours();
  void take_turn();
  void meet();
  void measure_between();
  void hand_in();
  [[nodiscard]] int end(int code);
  [[nodiscard]] std::size_t most_bytes() const;
  [[nodiscard]] Result<void> write() const;
  void report_phase(const std::string& what) const;

  [[nodiscard]] Links::Deadline after_all_turns(int turns) const {
    return start_ + longest_measurement(options_) * turns + k_margin;
  }

  [[nodiscard]] bool first() const { return links_.rank() == 0; }

  Links links_;
  BenchOptions options_;
  std::chrono::system_clock::time_point began_;
  Clock::time_point start_ = Clock::now();
  std::vector<int> neighbours_;  // ranks on this machine, in order, including this one
  int longest_queue_ = 1;        // the most ranks on one machine
  bool crowded_ = false;         // see Between
  RankFacts mine_;
  std::vector<int> alive_;  // ranks that have met
  bool whole_ = true;       // whether every rank has answered so far
  Facts all_;               // on rank 0
};

// Writes to the stream that does not get the facts, for users.
void Bench::report_phase(const std::string& what) const {
  if (!first()) return;
  if (options_.output.empty()) return tell("{}\n", what);
  std::printf("%s\n", what.c_str());
  std::fflush(stdout);
}

void Bench::find_neighbours() {
  neighbours_ = {links_.rank()};
  if (links_.size() == 1) return;
  // A double can hold 53 bits of it.
  const auto machine = static_cast<double>(hash64(boot_id()) >> 11);
  const auto machines = links_.gather(machine, Clock::now() + k_patience);
  if (!machines) return;
  neighbours_.clear();
  for (int rank = 0; rank < links_.size(); ++rank) {
    const double of_rank = (*machines)[static_cast<std::size_t>(rank)];
    if (of_rank == machine) neighbours_.push_back(rank);
    const auto queue = std::count(machines->begin(), machines->end(), of_rank);
    longest_queue_ = std::max(longest_queue_, static_cast<int>(queue));
  }
  // All processors of the machine; this rank may be bound to one of them.
  const auto processors = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  const auto loads = links_.gather(static_cast<double>(neighbours_.size()) / processors,
                                   Clock::now() + k_patience);
  crowded_ = loads && *std::max_element(loads->begin(), loads->end()) > 1;
  if (static_cast<double>(neighbours_.size()) <= processors)
    links_.set_waits(Links::Waits::spinning);
}

// Two ranks that measured one machine at once would each find half of its speed.
void Bench::take_turn() {
  const auto place = std::find(neighbours_.begin(), neighbours_.end(), links_.rank());
  const auto turn = static_cast<int>(place - neighbours_.begin());
  if (turn > 0 && !links_.receive<char>(*(place - 1), after_all_turns(turn)))
    mine_.notes.push_back(
        fmt::format("rank {}, before this one on its machine, does not answer", *(place - 1)));
  const double share = 1.0 / std::min(4.0, static_cast<double>(neighbours_.size()));
  mine_.append(measure_rank(
      options_, links_.rank(), share, [this](const char* phase) { report_phase(phase); }));
  if (place + 1 != neighbours_.end() && !links_.send(*(place + 1), 't', after_all_turns(turn + 2)))
    mine_.notes.push_back(fmt::format("rank {} does not answer", *(place + 1)));
}

// Rank 0 receives what each rank measured alone, and tells all which ranks did so.
void Bench::meet() {
  const auto deadline = after_all_turns(longest_queue_);
  if (!first()) {
    // Rank 0's list has one character per rank. Ranks that do not get it stop measuring.
    const bool sent = links_.send_bytes(0, encode(mine_), deadline + k_margin);
    const auto list = sent ? links_.receive_bytes(0, deadline + k_margin) : std::nullopt;
    for (std::size_t rank = 0; list && rank < list->size(); ++rank)
      if ((*list)[rank] == '1') alive_.push_back(static_cast<int>(rank));
    whole_ = list.has_value();
    return;
  }
  std::string list(static_cast<std::size_t>(links_.size()), '0');
  all_.ranks.push_back(mine_);
  list[0] = '1';
  for (int rank = 1; rank < links_.size(); ++rank) {
    const auto text = links_.receive_bytes(rank, deadline);
    auto facts = text ? decode_rank(*text) : fail(Errc::io, "");
    if (facts) list[static_cast<std::size_t>(rank)] = '1';
    all_.ranks.push_back(facts ? *std::move(facts) : RankFacts{"", rank});
    if (!facts)
      all_.notes.push_back(fmt::format(
          "rank {} has not answered within {} s", rank, static_cast<int>(seconds_since(start_))));
  }
  for (int rank = 0; rank < links_.size(); ++rank) {
    if (list[static_cast<std::size_t>(rank)] == '0') {
      whole_ = false;
      continue;
    }
    alive_.push_back(rank);
    if (rank > 0) (void)links_.send_bytes(rank, list, Clock::now() + k_margin);
  }
}

// Each rank needs two buffers; together the ranks use at most a quarter of the machine's free
// memory.
std::size_t Bench::most_bytes() const {
  const double free = static_cast<double>(::sysconf(_SC_AVPHYS_PAGES)) *
                      static_cast<double>(::sysconf(_SC_PAGESIZE)) / 8 /
                      static_cast<double>(neighbours_.size());
  const double wanted = options_.quick ? 4 << 20 : 256 << 20;
  return static_cast<std::size_t>(std::min(free, wanted));
}

void Bench::measure_between() {
  if (alive_.size() < 2) return;
  RankFacts found;
  const Between between{
      links_, options_, alive_, [this](const std::string& what) { report_phase(what); }, crowded_};
  if (options_.wants("clock")) {
    report_phase("clock");
    measure_clock(between, found);
  }
  if (options_.wants("pairs")) measure_pairs(between, found);
  const bool whole = static_cast<int>(alive_.size()) == links_.size();
  if (options_.wants("collectives") && whole) {
    const auto room = links_.gather(static_cast<double>(most_bytes()), Clock::now() + k_patience);
    if (room) {
      const double least = *std::min_element(room->begin(), room->end());
      all_.collectives = measure_collectives(between, static_cast<std::size_t>(least), found);
    }
  } else if (options_.wants("collectives") && first()) {
    all_.notes.emplace_back("collectives are not measured without all ranks");
  }
  mine_.append(std::move(found));
}

// Sends what was measured since meet(). The first character says whether this rank finished.
void Bench::hand_in() {
  const auto deadline = Clock::now() + k_patience;
  const auto add = [this](RankFacts facts) {
    all_.ranks[static_cast<std::size_t>(facts.rank)].append(std::move(facts));
  };
  whole_ = whole_ && !links_.broken();
  if (!first()) {
    whole_ = links_.send_bytes(0, (whole_ ? "." : "!") + encode(mine_), deadline) && whole_;
    return;
  }
  add(std::move(mine_));
  for (const int rank : alive_) {
    if (rank == 0) continue;
    const auto text = links_.receive_bytes(rank, deadline);
    whole_ = whole_ && text && text->starts_with('.');
    auto facts = text && !text->empty() ? decode_rank(text->substr(1)) : fail(Errc::io, "");
    if (facts && facts->rank == rank)
      add(*std::move(facts));
    else
      all_.notes.push_back(fmt::format("rank {} no longer answers", rank));
  }
}

Result<void> Bench::write() const {
  Facts facts = all_;
  facts.began = format_utc(began_);
  facts.seconds = seconds_since(start_);
  facts.quick = options_.quick;
  if (options_.wants("gpu")) facts.gpus_asked = options_.gpus;
  const std::string text = encode(facts, cli::k_version);
  if (!options_.output.empty()) return write_file(options_.output, text, 0644);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return fail_errno("cannot write the facts on standard output");
  return {};
}

// MPI_Finalize waits for all ranks. If one does not answer, rank 0 ends the others after it has
// written the facts; they wait for that, but only for a limited time.
int Bench::end(int code) {
  if (links_.size() == 1) return code;
  if (!whole_ && !first()) std::this_thread::sleep_for(2 * k_patience);
  const auto codes = whole_ ? links_.gather(code, Clock::now() + 2 * k_patience) : std::nullopt;
  if (!codes) Comm::abandon(code != 0 ? code : k_no_restart);
  return static_cast<int>(codes->front());
}

int Bench::run() {
  find_neighbours();
  take_turn();
  meet();
  mine_ = {mine_.node, mine_.rank};  // from here on only new facts
  measure_between();
  hand_in();
  if (!first()) return end(0);
  const auto written = write();
  if (!written) print_error(written.error(), -1);
  return end(written ? 0 : exit_code(Errc::io));
}

// As in a training: ranks that each believe they are alone would all write the same file.
Result<void> check_ranks(const BenchOptions& options, int ranks) {
  if (!options.planned_ranks || *options.planned_ranks == static_cast<std::uint64_t>(ranks))
    return {};
  return fail(
      Errc::invalid,
      fmt::format(
          "dtsubmit has started {} ranks, but MPI knows of {}", *options.planned_ranks, ranks),
      "a launcher with MPI is needed: mpirun, or an srun that lists pmix");
}

int complain_of(const Error& error) {
  print_error(error, -1);
  return exit_code(error.code);
}

}  // namespace

int bench_main(const std::vector<std::string>& arguments) {
  const auto options =
      parse_bench_options(arguments, [](const char* name) { return std::getenv(name); });
  if (!options) return complain_of(options.error());
  if (options->help) return std::fputs(bench_usage().c_str(), stdout) < 0 ? 1 : 0;
  if (!options->alone.empty()) return measure_alone(*options);
  const Comm comm({2 * k_patience, k_no_restart});
  if (const auto whole = check_ranks(*options, comm.size()); !whole)
    return complain_of(whole.error());
  return Bench(comm, *options).run();
}

}  // namespace dts::train::bench
