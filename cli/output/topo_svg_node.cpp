// SPDX-License-Identifier: Apache-2.0
#include "cli/output/topo_svg_node.hpp"

#include "cli/output/rank_colours.hpp"
#include "cli/output/text_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace dts::cli {
namespace {

using svg::Drawing;

constexpr int k_gap = 6;
constexpr int k_core_height = 30;
constexpr int k_usual = 1100;  // the width of the content below the node
constexpr int k_letters = 12, k_small_letters = 8;

// How the boxes of one picture are arranged.
struct NodeArrangement {
  std::size_t packages = 1, numas = 1, caches = 1, cores = 4;  // side by side
};

class NodePainter {
 public:
  NodePainter(const Scene& scene, const NodeArrangement& arrangement)
      : scene_(scene), arrangement_(arrangement) {
    const std::string widest = fmt::format("({}+)", std::max(1U, scene.ranks) - 1);
    core_width_ = std::max(26, svg::width_of(widest, k_letters) + 4);
    const auto measure = [&](const std::vector<SceneDevice>& list) {
      for (const SceneDevice& device : list)
        device_width_ = std::max({device_width_,
                                  svg::width_of(head(device), k_letters) + 12,
                                  svg::width_of(device.pci, k_small_letters) + 12});
    };
    measure(scene.devices);
    for (const ScenePackage& package : scene.packages) {
      measure(package.devices);
      for (const SceneNuma& numa : package.numas) measure(numa.devices);
    }
  }

  [[nodiscard]] Drawing paint() const {
    std::vector<std::vector<Drawing>> numas;
    Drawing largest;
    for (const ScenePackage& package : scene_.packages) {
      auto& drawings = numas.emplace_back();
      for (const SceneNuma& numa : package.numas) {
        drawings.push_back(paint(numa));
        extend(largest, drawings.back());
      }
    }
    if (arrangement_.numas == 1)  // as wide as the lines below them
      for (const ScenePackage& package : scene_.packages)
        for (const std::string& line : package.memory)
          largest.width =
              std::max(largest.width, svg::width_of(line, k_letters) - 2 * svg::k_padding);
    std::vector<Drawing> packages;
    std::vector<std::string> titles;
    for (std::size_t i = 0; i < numas.size(); ++i) {
      const ScenePackage& package = scene_.packages[i];
      std::vector<std::string> names;
      for (const SceneNuma& numa : package.numas) names.push_back(numa.title);
      const Drawing inside = boxes(numas[i], names, "numa", arrangement_.numas, largest);
      packages.push_back(with_extras(inside, package.devices, package.memory));
      titles.push_back(package.title);
    }
    const Drawing all = boxes(packages, titles, "package", arrangement_.packages, {});
    const Drawing loose = with_extras({}, scene_.devices, scene_.memory);
    if (loose.height == 0) return all;
    return svg::below({all, svg::framed(loose, "At no single package", "package")}, k_gap);
  }

 private:
  static void extend(Drawing& drawing, const Drawing& other) {
    drawing.width = std::max(drawing.width, other.width);
    drawing.height = std::max(drawing.height, other.height);
  }

  // Frames boxes, all of one size, at least that of `largest`.
  static Drawing boxes(std::vector<Drawing> drawings,
                       const std::vector<std::string>& titles,
                       const char* kind,
                       std::size_t columns,
                       Drawing largest) {
    for (const Drawing& drawing : drawings) extend(largest, drawing);
    for (std::size_t i = 0; i < drawings.size(); ++i) {
      extend(drawings[i], largest);
      drawings[i] = svg::framed(drawings[i], titles[i], kind);
    }
    return svg::grid(drawings, columns, k_gap);
  }

  [[nodiscard]] Drawing with_extras(const Drawing& upper,
                                    const std::vector<SceneDevice>& list,
                                    const std::vector<std::string>& memory) const {
    std::vector<Drawing> parts{upper, devices(list, std::max(upper.width, 400))};
    for (const std::string& words : memory) parts.push_back(svg::line(words, k_letters, "small"));
    return svg::below(parts, k_gap);
  }

  [[nodiscard]] Drawing paint(const SceneNuma& numa) const {
    std::vector<Drawing> caches;
    for (const SceneCache& cache : numa.caches) caches.push_back(paint(cache));
    const Drawing cores = svg::grid(caches, arrangement_.caches, k_gap);
    const int two = 2 * device_width_ + k_gap;  // prefer a wider box to a tower of devices
    const int room = numa.devices.size() > 2 ? std::max(cores.width, two) : cores.width;
    return svg::below({cores, devices(numa.devices, room)}, k_gap);
  }

  [[nodiscard]] Drawing paint(const SceneCache& cache) const {
    std::vector<Drawing> cores;
    for (const SceneCore& core : cache.cores) cores.push_back(paint(core, cache.kind));
    const std::size_t across = even_columns(cores.size(), arrangement_.cores);
    const Drawing all = svg::grid(cores, across, 2);
    if (!cache.l3) return all;
    return svg::framed(all, "", "l3", fmt::format("L3 {}", *cache.l3));
  }

  [[nodiscard]] Drawing paint(const SceneCore& core, const std::string& kind) const {
    const Paint paint = paint_of(core.use);
    return cell(core_width_,
                k_core_height,
                paint.kind,
                paint.ink,
                mark(core.use),
                fmt::format("{}{}{}", kind, kind.empty() ? "" : " ", core.first_pu),
                core.words);
  }

  [[nodiscard]] Drawing devices(const std::vector<SceneDevice>& list, int room) const {
    std::vector<Drawing> cells;
    for (const SceneDevice& device : list) {
      const Paint paint = paint_of(device.use);
      const std::string use = device.use.closed          ? "not in the job"
                              : device.use.ranks.empty() ? "unused"
                                                         : ranks_in_words(device.use);
      cells.push_back(cell(device_width_,
                           k_core_height,
                           paint.kind,
                           paint.ink,
                           head(device),
                           device.pci,
                           fmt::format("{} at {}: {}", device.name, device.pci, use)));
      if (!device.gpu) cells.back().rectangles.front().radius = k_core_height / 2;
    }
    const auto most =
        static_cast<std::size_t>(std::max(1, (room + k_gap) / (device_width_ + k_gap)));
    return svg::grid(cells, even_columns(cells.size(), most), k_gap);
  }

  [[nodiscard]] std::string head(const SceneDevice& device) const {
    return device.name + " " + ranks_in_words(device.use);
  }

  const Scene& scene_;
  const NodeArrangement& arrangement_;
  int core_width_ = 0, device_width_ = 0;
};

// 1, 2, 4, ... up to and including `most`.
std::vector<std::size_t> doubled(std::size_t most) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 1; i < most; i *= 2) numbers.push_back(i);
  numbers.push_back(most);
  return numbers;
}

}  // namespace

std::string home_kind(unsigned rank) {
  return fmt::format("h{}", rank % k_rank_colours.size());
}

std::string annex_kind(unsigned rank) {
  return fmt::format("a{}", rank % k_rank_colours.size());
}

Drawing cell(int width,
             int height,
             const std::string& kind,
             const std::string& ink,
             const std::string& words,
             const std::string& below,
             const std::string& tooltip) {
  Drawing box{width, height, {{0, 0, width, height, kind, tooltip}}, {}};
  const int middle = height / 2;
  box.words.push_back(
      {width / 2, below.empty() ? middle + 4 : middle - 1, k_letters, true, ink, words});
  if (!below.empty())
    box.words.push_back({width / 2, middle + 10, k_small_letters, true, ink, below});
  return box;
}

Paint paint_of(const Use& use) {
  if (use.closed) return {"closed", "small"};
  if (use.ranks.empty()) return {"idle", "small"};
  if (use.everybody) return {"all", "plain"};
  const unsigned rank = use.ranks.front();
  if (use.annex) return {annex_kind(rank), "plain"};
  return {home_kind(rank), colour_of(rank).dark ? "on-dark" : "on-light"};
}

namespace {

// The largest number of each kind within one parent.
struct Most {
  std::size_t numas = 1, caches = 1, cores = 1;
};

Most most_of(const Scene& scene) {
  Most most;
  for (const ScenePackage& package : scene.packages) {
    most.numas = std::max(most.numas, package.numas.size());
    for (const SceneNuma& numa : package.numas) {
      most.caches = std::max(most.caches, numa.caches.size());
      for (const SceneCache& cache : numa.caches)
        most.cores = std::max(most.cores, cache.cores.size());
    }
  }
  return most;
}

// All arrangements worth trying.
std::vector<NodeArrangement> arrangements(const Scene& scene) {
  const Most most = most_of(scene);
  std::vector<NodeArrangement> all;
  for (const std::size_t p : doubled(std::max<std::size_t>(scene.packages.size(), 1)))
    for (const std::size_t n : doubled(most.numas))
      for (const std::size_t c : doubled(most.caches))
        for (const std::size_t k : doubled(most.cores))
          if (k >= std::min<std::size_t>(most.cores, 4))  // no columns of single cores
            all.push_back({p, n, c, k});
  return all;
}

}  // namespace

Drawing draw_node(const Scene& scene, int widest) {
  std::optional<Drawing> best;
  std::pair<int, int> best_cost;
  for (const NodeArrangement& arrangement : arrangements(scene)) {
    Drawing drawing = NodePainter(scene, arrangement).paint();
    const int excess = std::max(0, drawing.width - widest);
    const std::pair cost{
        std::max(drawing.height * 3, std::max(drawing.width, k_usual) * 2) + 1000 * excess,
        drawing.height};
    if (best && cost >= best_cost) continue;
    best = std::move(drawing);
    best_cost = cost;
  }
  return best.value_or(Drawing{});
}

}  // namespace dts::cli
