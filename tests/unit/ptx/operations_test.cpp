// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/operations.hpp"

#include "tests/ptx/matrices.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using ptx::Word;

Word of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

Word compute(const std::string& name, const std::vector<Word>& from) {
  const ptx::Operation operation = ptx::operation_named(name);
  REQUIRE_MESSAGE((operation != nullptr), name);
  std::vector<Word> registers{~Word{0}};
  std::vector<int> slots{0};
  for (const Word one : from) {
    slots.push_back(static_cast<int>(registers.size()));
    registers.push_back(one);
  }
  operation(registers.data(), slots.data());
  return registers[0];
}

constexpr Word k_minus_one = 0xffffffff;  // of 32 bits

}  // namespace

TEST_CASE("integers wrap, and unused bits are 0") {
  struct Row {
    const char* name;
    std::vector<Word> from;
    Word to;
  };

  const Row rows[] = {{"add.s32", {k_minus_one, 1}, 0},
                      {"sub.s32", {0, 1}, k_minus_one},
                      {"sub.s64", {0, 1}, ~Word{0}},
                      {"mul.wide.s32", {k_minus_one, 2}, ~Word{1}},
                      {"mul.wide.u32", {k_minus_one, 2}, 0x1fffffffe},
                      {"mul.hi.s32", {k_minus_one, 5}, k_minus_one},
                      {"mad.lo.s32", {3, k_minus_one, 5}, 2},
                      {"shr.s32", {0x80000000, 31}, k_minus_one},
                      {"shr.s32", {0x80000000, 99}, k_minus_one},
                      {"shr.u32", {0x80000000, 31}, 1},
                      {"shl.b32", {1, 32}, 0},
                      {"shl.b64", {1, 32}, Word{1} << 32},
                      {"not.b32", {0}, k_minus_one},
                      {"and.b16", {0xffff, 0x10}, 0x10},
                      {"div.s32", {k_minus_one - 6, 2}, k_minus_one - 2},
                      {"rem.s32", {k_minus_one - 6, 2}, k_minus_one},
                      {"min.s32", {k_minus_one, 1}, k_minus_one},
                      {"min.u64", {~Word{0}, 1}, 1},
                      {"setp.lt.s32", {k_minus_one, 0}, 1},
                      {"setp.lt.u32", {k_minus_one, 0}, 0},
                      {"cvt.s64.s32", {k_minus_one}, ~Word{0}},
                      {"cvt.u64.u32", {k_minus_one}, k_minus_one},
                      {"cvt.u32.u64", {~Word{0}}, k_minus_one},
                      {"selp.b32", {4, 5, 0}, 5},
                      {"mov.b32 pack", {0x1234, 0xabcd}, 0xabcd1234}};
  for (const Row& row : rows) CHECK_MESSAGE(compute(row.name, row.from) == row.to, row.name);
}

TEST_CASE("floats round as their names say") {
  const float next = std::nextafter(1.0F, 2.0F);
  const float tiny = std::ldexp(1.0F, -30);
  CHECK(compute("fma.rn.f32", {of(1), of(1), of(-tiny)}) == of(1));
  CHECK(compute("fma.rm.f32", {of(1), of(1), of(-tiny)}) == of(std::nextafter(1.0F, 0.0F)));
  CHECK(compute("fma.rm.f32", {of(1), of(1), of(tiny)}) == of(1));
  CHECK(compute("fma.rm.f32", {of(next), of(1), of(0)}) == of(next));
  CHECK(compute("fma.rm.f32", {of(-1), of(1), of(-tiny)}) == of(-next));
  CHECK(compute("cvt.sat.f32.f32", {of(7)}) == of(1));
  CHECK(compute("cvt.sat.f32.f32", {of(std::nanf(""))}) == of(0));
  CHECK(compute("cvt.rn.bf16.f32", {0x3f808000}) == 0x3f80);  // ties to even
  CHECK(compute("cvt.rn.bf16.f32", {0x3f818000}) == 0x3f82);
  CHECK(compute("cvt.rn.bf16x2.f32", {of(2), of(1)}) == 0x40003f80);  // the first one is higher
  CHECK(compute("ex2.approx.ftz.f32", {of(-140)}) == of(0));
  const Word nan = of(std::nanf(""));
  CHECK(compute("setp.lt.f32", {nan, of(1)}) == 0);
  CHECK(compute("setp.ne.f32", {nan, of(1)}) == 0);
  CHECK(compute("setp.geu.f32", {nan, of(1)}) == 1);
  CHECK(compute("min.f32", {nan, of(1)}) == of(1));
}

TEST_CASE("a warp's product is that of the matrices whose fragments it holds") {
  // Left is row + 16 column, right is row - 4 column, in the layout of the PTX ISA's figures.
  const auto pair = [](float low, float high) {
    return static_cast<std::uint32_t>(compute("cvt.rn.bf16x2.f32", {of(high), of(low)}));
  };
  ptx::Fragments fragments{};
  for (int lane = 0; lane < 32; ++lane) {
    const auto left = [&](int row, int column) { return static_cast<float>(row + 16 * column); };
    const auto right = [&](int row, int column) { return static_cast<float>(row - 4 * column); };
    const int group = lane / 4;
    const int first = lane % 4 * 2;
    auto& mine = fragments[static_cast<std::size_t>(lane)];
    mine[0] = pair(left(group, first), left(group, first + 1));
    mine[1] = pair(left(group + 8, first), left(group + 8, first + 1));
    mine[2] = pair(left(group, first + 8), left(group, first + 9));
    mine[3] = pair(left(group + 8, first + 8), left(group + 8, first + 9));
    mine[4] = pair(right(first, group), right(first + 1, group));
    mine[5] = pair(right(first + 8, group), right(first + 9, group));
    mine[8] = std::bit_cast<std::uint32_t>(1.0F);
  }
  const auto product = [](int row, int column) {
    float sum = 0;
    for (int k = 0; k < 16; ++k)
      sum += static_cast<float>(row + 16 * k) * static_cast<float>(k - 4 * column);
    return sum;
  };
  for (int lane = 0; lane < 32; ++lane)
    for (int number = 0; number < 4; ++number) {
      const float got = std::bit_cast<float>(ptx::product_word(fragments, lane, number));
      const int row = lane / 4 + number / 2 * 8;
      CHECK(got == product(row, lane % 4 * 2 + number % 2) + (number == 2 ? 1 : 0));
    }
}
