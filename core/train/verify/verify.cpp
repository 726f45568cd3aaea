// SPDX-License-Identifier: Apache-2.0
#include "core/train/verify/verify.hpp"

#include "core/base/files/files.hpp"
#include "core/train/hub/saved_model.hpp"
#include "core/train/telemetry/report.hpp"
#include "core/train/verify/first_difference.hpp"
#include "core/train/verify/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace dts::train {
namespace {

constexpr int k_differs = 1;

const char* const k_verify_usage =
    "Usage: dttrain verify RUN_A RUN_B\n\n"
    "Names the first step, tensor and chunk in which two trainings differ. Each is a run's folder\n"
    "(metrics.jsonl, checkpoints/), a folder of checkpoints, or a checkpoint.\n\n"
    "Exit codes: 0 all that both have is equal; 1 something differs; 2 usage; 3 a damaged file, "
    "or\n"
    "nothing in common; 6 not there; 74 cannot be read.\n";

struct Training {
  History history;
  std::map<std::uint64_t, std::string> checkpoints;
};

Result<Training> read_training(const std::string& path) {
  Training made;
  const std::string metrics = path + "/metrics.jsonl";
  const auto text = read_file(metrics);
  if (!text && text.error().code != Errc::not_found) return tl::unexpected(text.error());
  if (text) {
    auto history = parse_history(*text);
    if (!history) return tl::unexpected(std::move(history).error().during(metrics));
    made.history = *std::move(history);
  }
  made.checkpoints = checkpoints_in(path + "/checkpoints");
  if (made.checkpoints.empty()) made.checkpoints = checkpoints_in(path);
  if (text || !made.checkpoints.empty()) return made;
  return fail(Errc::not_found,
              path + " has neither metrics.jsonl nor checkpoints",
              "name a run's folder, a folder of checkpoints, or a checkpoint");
}

// The checkpoints of one step.
struct Pair {
  std::uint64_t step = 0;
  std::string there, here;
};

std::vector<Pair> pairs_of(const Training& there, const Training& here) {
  std::vector<Pair> pairs;
  for (const auto& [step, path] : there.checkpoints)
    if (const auto other = here.checkpoints.find(step); other != here.checkpoints.end())
      pairs.push_back({step, path, other->second});
  return pairs;
}

// The first pair from `step` on whose manifests have different digests, or end().
Result<std::vector<Pair>::const_iterator> first_odd(const std::vector<Pair>& pairs,
                                                    std::uint64_t step) {
  for (auto pair = pairs.begin(); pair != pairs.end(); ++pair) {
    if (pair->step < step) continue;
    DTS_ASSIGN(const SavedModel there, model_of(pair->there));
    DTS_ASSIGN(const SavedModel here, model_of(pair->here));
    if (there.manifest.digest != here.manifest.digest) return pair;
  }
  return pairs.end();
}

Result<State> read_state(const std::string& checkpoint, const Layout& layout) {
  State state(layout);
  auto read = read_checkpoint(checkpoint, layout, &state);
  if (!read) return tl::unexpected(std::move(read).error().during(checkpoint));
  return state;
}

Result<void> tell_tensors(const Pair& pair) {
  DTS_ASSIGN(const SavedModel there, model_of(pair.there));
  DTS_ASSIGN(const SavedModel here, model_of(pair.here));
  const std::string config = differences(there.manifest.config, here.manifest.config);
  if (!config.empty()) fmt::print("the configurations differ: {}\n", config);
  if (!are_alike(there.layout, here.layout)) {
    fmt::print("checkpoints of step {} have other tensors\n", pair.step);
    return {};
  }
  DTS_ASSIGN(const State a, read_state(pair.there, there.layout));
  DTS_ASSIGN(const State b, read_state(pair.here, here.layout));
  const TensorDifferences found = compare_tensors(there.layout, a, b);
  if (!found.first) {
    fmt::print("checkpoints of step {}: all {} tensors are equal\n", pair.step, found.tensors);
    return {};
  }
  const ChunkDifference& first = *found.first;
  fmt::print(
      "checkpoints of step {}: {} of {} tensors differ, first {}, in its chunk {} (elements {} to "
      "{}), {} of them;\n  element {} is {:.9g} there, {:.9g} here\n",
      pair.step,
      found.differ,
      found.tensors,
      first.tensor,
      first.begin / k_chunk,
      first.begin,
      first.end - 1,
      first.count,
      first.element,
      first.there,
      first.here);
  return {};
}

void tell_step(const Comparison& found, const char* digest) {
  fmt::print(
      "step {} is the first that differs ({} {} there, {} here); {}\n",
      *found.differs,
      digest,
      found.there,
      found.here,
      found.equal ? fmt::format("step {} is equal", *found.equal) : "no earlier step is in both");
}

// Returns whether everything is equal.
Result<bool> verify(const std::string& there_path, const std::string& here_path) {
  DTS_ASSIGN(const Training there, read_training(there_path));
  DTS_ASSIGN(const Training here, read_training(here_path));
  const Comparison roots = compare(there.history.roots, here.history.roots);
  const Comparison digests = compare(there.history.digests, here.history.digests);
  const std::vector<Pair> pairs = pairs_of(there, here);
  if (roots.compared + digests.compared + pairs.size() == 0)
    return fail(Errc::invalid,
                fmt::format("{} and {} have no step in common", there_path, here_path),
                "start both with --run-dir, or train to a common multiple of their --save-every");
  const bool by_root = roots.differs && (!digests.differs || *roots.differs <= *digests.differs);
  const auto first = by_root ? roots.differs : digests.differs;
  DTS_ASSIGN(const auto odd, first_odd(pairs, first.value_or(0)));
  if (!first && odd == pairs.end()) {
    fmt::print("equal: {} steps by their digests, {} checkpoints\n",
               std::max(roots.compared, digests.compared),
               pairs.size());
    return true;
  }
  fmt::print("there: {}\nhere:  {}\n", there_path, here_path);
  if (first) tell_step(by_root ? roots : digests, by_root ? "root" : "digest");
  if (odd != pairs.end()) {
    DTS_TRY(tell_tensors(*odd));
  } else {
    fmt::print("no step from {} on has a checkpoint in both, so the tensor is not known\n", *first);
  }
  return false;
}

}  // namespace

int verify_main(const std::vector<std::string>& words) {
  const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
  if (std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word == "--help" || word == "-h";
      })) {
    std::fputs(k_verify_usage, stdout);
    return 0;
  }
  Result<bool> equal = fail(Errc::usage, "verify takes two folders and no options", k_verify_usage);
  if (words.size() == 2 && std::none_of(words.begin(), words.end(), is_option))
    equal = verify(words[0], words[1]);
  if (equal) return *equal ? 0 : k_differs;
  print_error(equal.error(), -1);
  return exit_code(equal.error().code);
}

}  // namespace dts::train
