// SPDX-License-Identifier: Apache-2.0
// Attention on a device against double precision: complete and partial tiles, heads of all widths,
// groups of queries, rows with gaps, widely spread scores; and the memory that it needs.
#include "tests/unit/accelerator/step.hpp"

#include <cstring>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

// The shape of rows that have heads one after another, and then a gap.
struct HeadArray {
  int rows = 0;
  int heads = 0;
  int width = 0;
  int gap = 0;  // between rows

  [[nodiscard]] int pitch() const { return heads * width + gap; }

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(rows * pitch()); }

  [[nodiscard]] std::size_t at(int row, int head, int i) const {
    return static_cast<std::size_t>(row * pitch() + head * width + i);
  }

  // The same values with 7 in the gaps.
  [[nodiscard]] Floats with_gaps(Floats values) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (static_cast<int>(i) % pitch() >= heads * width) values[i] = 7;
    return values;
  }

  [[nodiscard]] bool has_its_gaps(const Floats& values) const {
    return with_gaps(values) == values;
  }
};

struct AttentionCase {
  int batch = 2;
  int context = 1;
  int width = 1;
  int heads = 1;
  int keys = 1;
  float size = 1;  // of queries
  bool rounds = false;
  int gap = 3;
};

// Inputs, results and gradients, for queries, keys, values and the output.
template <class Values>
struct AttentionArrays {
  Values q, k, v, out, d_q, d_k, d_v;
};

class AttentionTrial {
 public:
  explicit AttentionTrial(const AttentionCase& of)
      : case_(of),
        queries_{of.batch * of.context, of.heads, of.width, of.gap},
        keys_{of.batch * of.context, of.keys, of.width, of.gap} {
    given_.q = queries_.with_gaps(stored(noise(queries_.count(), 1, of.size)));
    given_.k = keys_.with_gaps(stored(noise(keys_.count(), 2)));
    given_.v = keys_.with_gaps(stored(noise(keys_.count(), 3)));
    d_out_ = queries_.with_gaps(stored(noise(queries_.count(), 4)));
    given_.out = given_.d_q = queries_.with_gaps(poisoned(queries_.count()));
    given_.d_k = given_.d_v = keys_.with_gaps(poisoned(keys_.count()));
  }

  void check(double tolerance) {
    case_.rounds ? run<TensorRowFactors>() : run<PlainFactors>();
    AttentionArrays<Doubles> expected;
    expected.out = expected.d_q = Doubles(given_.q.size());
    expected.d_k = expected.d_v = Doubles(given_.k.size());
    for (int sample = 0; sample < case_.batch; ++sample)
      for (int head = 0; head < case_.heads; ++head)
        for (int row = 0; row < case_.context; ++row) add_row(expected, sample, head, row);
    CHECK(difference(given_.out, expected.out, queries_) < tolerance);
    CHECK(difference(given_.d_q, expected.d_q, queries_) < tolerance);
    CHECK(difference(given_.d_k, expected.d_k, keys_) < tolerance);
    CHECK(difference(given_.d_v, expected.d_v, keys_) < tolerance);
  }

 private:
  [[nodiscard]] double scale() const { return 1 / std::sqrt(static_cast<double>(case_.width)); }

  // The inputs as they are stored.
  [[nodiscard]] Floats stored(const Floats& values) const {
    return case_.rounds ? widened(rounded(values)) : values;
  }

  template <class Factors>
  void run() {
    using Stored = typename Factors::Stored;
    using Array = std::vector<Stored>;
    const auto put_all = [](const Floats& values) {
      Array all(values.size());
      for (std::size_t i = 0; i < all.size(); ++i) store(all[i], values[i]);
      return all;
    };
    const auto floats_of = [](const Array& values) {
      Floats all;
      for (const Stored value : values) all.push_back(value_of(value));
      return all;
    };
    const Array q = put_all(given_.q), k = put_all(given_.k), v = put_all(given_.v);
    const Array d_out = put_all(d_out_);
    Array out = put_all(given_.out), d_q = put_all(given_.d_q);
    Array d_k = put_all(given_.d_k), d_v = put_all(given_.d_v);
    const Attend<Factors> base{{case_.batch,
                                case_.context,
                                case_.width,
                                case_.heads,
                                case_.keys,
                                static_cast<float>(scale())},
                               {q.data(), queries_.pitch()},
                               {k.data(), keys_.pitch()},
                               {v.data(), keys_.pitch()}};
    Floats log_sums = poisoned(base.shape.positions());
    Floats deltas = log_sums;
    const auto forward = [&] {
      return AttendForward<Factors>{base, {out.data(), queries_.pitch()}, log_sums.data()};
    };
    run_both(forward, {&log_sums});
    run_both(forward, {&out});
    const AttendBackward<Factors> both{base, {d_out.data(), queries_.pitch()}, log_sums.data()};
    const auto queries = [&] {
      return AttendQueries<Factors>{
          both, {out.data(), queries_.pitch()}, {d_q.data(), queries_.pitch()}, deltas.data()};
    };
    run_both(queries, {&deltas});
    run_both(queries, {&d_q});
    run_both(
        [&] {
          return AttendKeys<Factors>{
              both, deltas.data(), {d_k.data(), keys_.pitch()}, {d_v.data(), keys_.pitch()}};
        },
        {&d_k, &d_v});
    given_.out = floats_of(out);
    given_.d_q = floats_of(d_q);
    given_.d_k = floats_of(d_k);
    given_.d_v = floats_of(d_v);
    CHECK(queries_.has_its_gaps(given_.out));
    CHECK(queries_.has_its_gaps(given_.d_q));
    CHECK(keys_.has_its_gaps(given_.d_k));
    CHECK(keys_.has_its_gaps(given_.d_v));
  }

  // Computes one query of one head, and adds its gradients.
  void add_row(AttentionArrays<Doubles>& to, int sample, int head, int row) const {
    const int first = sample * case_.context;
    const int key_head = head / (case_.heads / case_.keys);
    const auto dot = [&](const Floats& a, const HeadArray& of, const Floats& b, int other) {
      double sum = 0;
      for (int i = 0; i < case_.width; ++i)
        sum += static_cast<double>(a[of.at(first + row, head, i)]) *
               static_cast<double>(b[keys_.at(first + other, key_head, i)]);
      return sum;
    };
    const auto seen = static_cast<std::size_t>(row) + 1;
    Doubles weights(seen), d_weights(seen);
    for (std::size_t i = 0; i < seen; ++i)
      weights[i] = dot(given_.q, queries_, given_.k, static_cast<int>(i)) * scale();
    const double top = *std::max_element(weights.begin(), weights.end());
    double sum = 0, level = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - top);
    for (std::size_t i = 0; i < seen; ++i) {
      weights[i] /= sum;
      d_weights[i] = dot(d_out_, queries_, given_.v, static_cast<int>(i));
      level += weights[i] * d_weights[i];
    }
    for (std::size_t other = 0; other < seen; ++other)
      for (int i = 0; i < case_.width; ++i) {
        const double d_score = weights[other] * (d_weights[other] - level) * scale();
        const std::size_t mine = queries_.at(first + row, head, i);
        const std::size_t there = keys_.at(first + static_cast<int>(other), key_head, i);
        to.out[mine] += weights[other] * static_cast<double>(given_.v[there]);
        to.d_q[mine] += d_score * static_cast<double>(given_.k[there]);
        to.d_k[there] += d_score * static_cast<double>(given_.q[mine]);
        to.d_v[there] += weights[other] * static_cast<double>(d_out_[mine]);
      }
  }

  // The norm of the difference, relative to that of the expected values; infinite for NaN.
  [[nodiscard]] static double difference(const Floats& values,
                                         const Doubles& expected,
                                         const HeadArray& shape) {
    double off = 0, all = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (static_cast<int>(i) % shape.pitch() >= shape.heads * shape.width) continue;
      off += std::pow(static_cast<double>(values[i]) - expected[i], 2);
      all += std::pow(expected[i], 2);
    }
    if (std::isnan(off)) return std::numeric_limits<double>::infinity();
    return std::sqrt(off) / std::max(std::sqrt(all), 1e-3);
  }

  AttentionCase case_;
  HeadArray queries_;
  HeadArray keys_;
  AttentionArrays<Floats> given_;
  Floats d_out_;
};

// Bytes of device memory that a model with this context needs per sample.
std::size_t bytes_of(int context) {
  const Model model = make_model("gpt2,vocab_size=19,n_embd=16,n_layer=1,n_head=4,n_positions=" +
                                 std::to_string(context))
                          .value();
  const auto queue = new_queue();
  const DeviceNetwork network(model, 1, Precision::bf16, *queue);
  return queue->allocated();
}

}  // namespace

TEST_CASE("attention on a device and its gradients are those of double precision") {
  for (const AttentionCase& one :
       {AttentionCase{.context = 1, .width = 1},
        {.context = 5, .width = 10, .heads = 6, .keys = 2},
        {.context = 64, .width = 32, .heads = 2, .keys = 2},
        {.batch = 1, .context = 65, .width = 64, .heads = 3, .keys = 1},
        {.batch = 1, .context = 130, .width = 80, .heads = 2, .keys = 2},
        {.batch = 1, .context = 150, .width = 5, .heads = 4, .keys = 2},
        {.batch = 1, .context = 70, .width = 8, .heads = 1, .keys = 1, .size = 90}}) {
    CAPTURE(one.context);
    CAPTURE(one.width);
    AttentionTrial(one).check(one.size > 1 ? 1e-4 : 2e-6);
  }
}

TEST_CASE("attention of factors rounded to bf16 is that of double precision but for the rounding") {
  for (const AttentionCase& one :
       {AttentionCase{.context = 9, .width = 16, .heads = 4, .keys = 2, .rounds = true},
        {.batch = 1, .context = 100, .width = 24, .heads = 2, .keys = 2, .rounds = true},
        {.batch = 1, .context = 65, .width = 80, .heads = 2, .keys = 1, .rounds = true},
        {.batch = 1, .context = 150, .width = 5, .heads = 2, .keys = 2, .rounds = true},
        // Widths for which eight neighbours are read at once, and the width 12, for which they are
        // not.
        {.context = 70, .width = 16, .heads = 2, .keys = 1, .rounds = true, .gap = 0},
        {.batch = 1, .context = 150, .width = 64, .heads = 3, .keys = 1, .rounds = true, .gap = 0},
        {.batch = 1, .context = 100, .width = 72, .heads = 3, .keys = 3, .rounds = true, .gap = 8},
        {.batch = 1,
        .context = 40,
        .width = 12,
        .heads = 2,
        .keys = 2,
        .rounds = true,
        .gap = 8}}) {
    CAPTURE(one.context);
    AttentionTrial(one).check(0x1p-6);
  }
}

TEST_CASE("the memory of a model on a device grows with its context, not with the square of it") {
  const std::size_t some = bytes_of(128);
  const std::size_t twice = bytes_of(256);
  const std::size_t fourfold = bytes_of(512);
  MESSAGE("bytes at a context of 128, 256 and 512: ", some, ", ", twice, ", ", fourfold);
  // Scores of 4 heads would need 3 MiB more.
  CHECK(fourfold - twice == doctest::Approx(2 * static_cast<double>(twice - some)).epsilon(0.01));
}
