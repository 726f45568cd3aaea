// SPDX-License-Identifier: Apache-2.0
#include "core/base/random.hpp"
#include "core/train/bench/cpus.hpp"
#include "core/train/bench/measures.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/memory/buffer.hpp"
#include "core/train/model/onednn.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <numeric>

namespace dts::train::bench {
namespace {

using dnnl::memory;
using Type = memory::data_type;

struct GemmKind {
  const char* name;
  Type type;
  int side;  // of square matrices, so that a product takes 0.1 ms
};

constexpr GemmKind k_kinds[] = {{"fp32", Type::f32, 192}, {"bf16", Type::bf16, 384}};

// One product, in the layouts that oneDNN prefers, on the calling thread only.
class Product {
 public:
  explicit Product(const GemmKind& kind)
      : side_(kind.side),
        numbers_(static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_)),
        stream_(cpu()),
        desc_(forward_primitive<dnnl::matmul>({}, any(kind.type), any(kind.type), any(Type::f32))),
        product_(desc_),
        a_(filled(desc_.src_desc())),
        b_(filled(desc_.weights_desc())),
        c_(desc_.dst_desc(), cpu()) {}

  void operator()() {
    product_.execute(stream_, {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}});
    stream_.wait();
  }

  [[nodiscard]] double operations() const { return 2.0 * side_ * side_ * side_; }

 private:
  [[nodiscard]] memory::desc any(Type type) const {
    return {{side_, side_}, type, memory::format_tag::any};
  }

  // Not zeros, on which processors save power and so can raise the clock.
  [[nodiscard]] memory filled(const memory::desc& desc) {
    Random random(7, 0);
    for (float& number : numbers_.all()) number = static_cast<float>(random.uniform()) - 0.5F;
    memory plain({{side_, side_}, Type::f32, memory::format_tag::ab}, cpu(), numbers_.data());
    memory made(desc, cpu());
    dnnl::reorder(plain, made).execute(stream_, plain, made);
    stream_.wait();
    return made;
  }

  int side_;
  Buffer numbers_;
  dnnl::stream stream_;
  dnnl::matmul::primitive_desc desc_;
  dnnl::matmul product_;
  memory a_;
  memory b_;
  memory c_;
};

struct Rates {
  std::vector<double> cores;  // FLOP/s by core; empty unless all are known
  double others = 0;          // see on_each()
  bool is_there = true;       // whether oneDNN has such a product here
};

// On all `cores` at once.
Rates rates(const GemmKind& kind, const std::vector<int>& cores, double stolen, double seconds) {
  std::vector<double> found(cores.size());
  std::atomic<bool> is_there{true};
  const double others = on_each(cores, [&](std::size_t i) {
    omp_set_num_threads(1);
    try {
      Product product(kind);
      const Timed timed = fast_seconds(seconds, stolen, [&] { product(); });
      found[i] = per_second(product.operations(), timed.seconds);
      return timed.spent;
    } catch (const std::exception&) {  // dnnl::error, std::bad_alloc
      is_there = false;
      return CoreTime();
    }
  });
  if (std::count(found.begin(), found.end(), 0.0) > 0) found.clear();
  return {std::move(found), others, is_there};
}

// oneDNN emulates bf16 on processors without such instructions, which would be no useful rate.
bool has_type(Type type) {
#if defined(__x86_64__)
  if (type == Type::bf16) {  // cpu_isa is a set of bits
    const auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
    return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
  }
#endif
  (void)type;
  return true;
}

}  // namespace

void measure_gemm(const BenchOptions& options, double seconds, RankFacts& facts) {
  constexpr std::size_t k_most_alone = 4;
  const std::vector<int> cores = own_cores();
  const double stolen = options.injection("slow", 0) != nullptr ? 0.2 : 0;
  const std::size_t alone = std::min(cores.size(), k_most_alone);
  for (const GemmKind& kind : k_kinds) {
    if (!has_type(kind.type)) {
      facts.notes.push_back(fmt::format("no {} instructions here", kind.name));
      continue;
    }
    Rates one;
    bool is_known = true;
    for (std::size_t i = 0; i < alone; ++i) {  // spread evenly over all cores
      const Rates of_core = rates(kind,
                                  {cores[i * cores.size() / alone]},
                                  stolen,
                                  seconds / 4 / static_cast<double>(alone));
      one.cores.insert(one.cores.end(), of_core.cores.begin(), of_core.cores.end());
      is_known = is_known && !of_core.cores.empty();
      one.others += of_core.others / static_cast<double>(alone);
    }
    const Rates all = rates(kind, cores, stolen, seconds / 4);
    if (!is_known || all.cores.empty()) {
      facts.notes.push_back(all.is_there
                                ? fmt::format("the {} GEMM rate is not known: {}",
                                              kind.name,
                                              taken(std::max(one.others, all.others)))
                                : fmt::format("oneDNN has no product of {} here", kind.name));
      continue;
    }
    facts.add(fmt::format("gemm_{}_core", kind.name), median(one.cores), "FLOP/s", one.others);
    facts.add(fmt::format("gemm_{}", kind.name),
              std::accumulate(all.cores.begin(), all.cores.end(), 0.0),
              "FLOP/s",
              all.others);
  }
}

}  // namespace dts::train::bench
