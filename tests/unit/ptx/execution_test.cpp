// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/execution.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// A kernel whose parameter is the address of `values`; %rd1 is that address, %r1 the thread.
constexpr const char* k_begin = R"(.version 8.0
.target sm_80
.address_size 64
.entry test(
	.param .align 8 .b8 test_param_0[8]
)
.maxntid 64, 1, 1
{
	.reg .b64 	%rd<9>; // a comment
	.shared .align 16 .b8 shared[1024];
	ld.param.u64 	%rd1, [test_param_0];
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd2, %r1, 4;
	add.s64 	%rd3, %rd1, %rd2;
	shl.b32 	%r2, %r1, 2;
	mov.u32 	%r3, shared;
	add.s32 	%r4, %r3, %r2;
)";

constexpr int k_threads = 64;

using Values = std::array<std::uint32_t, k_threads>;

// The values after one block of 64 threads; the code before it stores each thread's at %rd3 or
// %r4.
Values run(const std::string& code, Values values = {}, std::size_t blocks = 1, unsigned seed = 1) {
  const auto kernels = ptx::parse(k_begin + code + "\n\tret;\n}\n");
  const std::uint32_t* const at = values.data();
  const auto begin = reinterpret_cast<std::uint64_t>(at);
  ptx::execute(
      kernels.at("test"),
      {&at, sizeof at, blocks, k_threads, seed, [&](std::uint64_t first, std::size_t bytes) {
         return first >= begin && first + bytes <= begin + sizeof values;
       }});
  return values;
}

// What is wrong with the code, without the kernel's name.
std::string wrong_with(const std::string& code, std::size_t blocks = 1) {
  try {
    (void)run(code, {}, blocks);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& whole, const char* part) {
  return whole.find(part) != std::string::npos;
}

constexpr const char* k_store_shared = "st.shared.u32 [%r4], %r1;\n";
// The value that the thread of the other warp, or the neighbour, has stored.
constexpr const char* k_load_other_warp =
    "xor.b32 %r5, %r2, 128;\nadd.s32 %r5, %r3, %r5;\nld.shared.u32 %r6, [%r5];\n";
constexpr const char* k_load_neighbour =
    "xor.b32 %r5, %r2, 4;\nadd.s32 %r5, %r3, %r5;\nld.shared.u32 %r6, [%r5];\n";
constexpr const char* k_store_global = "st.global.u32 [%rd3], %r6;\n";

}  // namespace

TEST_CASE("threads compute, branch and skip") {
  const Values got = run(R"(
	and.b32 %r5, %r1, 1;
	setp.eq.s32 %p1, %r5, 0;
	mov.u32 %r6, 7;
	@%p1 bra $even;
	mad.lo.s32 %r6, %r1, -3, 100;
$even:
	@!%p1 bra $odd;
	add.s32 %r6, %r6, 1;
$odd:
	st.global.u32 [%rd3], %r6;
)");
  for (std::uint32_t t = 0; t < k_threads; ++t) CHECK(got[t] == (t % 2 == 0 ? 8 : 100 - 3 * t));
}

TEST_CASE("values of other threads are there after a barrier, and a race before") {
  const std::string store = k_store_shared;
  const Values other = run(store + "bar.sync 0;\n" + k_load_other_warp + k_store_global);
  const Values neighbour = run(store + "bar.warp.sync -1;\n" + k_load_neighbour + k_store_global);
  for (std::uint32_t t = 0; t < k_threads; ++t) {
    CHECK(other[t] == (t ^ 32));
    CHECK(neighbour[t] == (t ^ 1));
  }
  CHECK(contains(wrong_with(store + k_load_neighbour), "a data race with block 0, warp"));
  // The barrier of a warp does not order the accesses of two warps.
  CHECK(contains(wrong_with(store + "bar.warp.sync -1;\n" + k_load_other_warp), "a data race"));
  // Nor may a value be replaced before all have read it.
  CHECK(contains(wrong_with(store + "bar.sync 0;\n" + k_load_other_warp + store), "a data race"));
  CHECK(wrong_with(store + "bar.sync 0;\n" + k_load_other_warp + "bar.sync 0;\n" + store).empty());
}

TEST_CASE("blocks race in global memory whatever their order") {
  CHECK(wrong_with("st.global.u32 [%rd3], %r1;\n").empty());
  CHECK(contains(wrong_with("st.global.u32 [%rd3], %r1;\n", 2), "a data race with block"));
  CHECK(contains(wrong_with("mov.u32 %r7, %ctaid.x;\nsetp.eq.s32 %p1, %r7, 0;\n"
                            "@%p1 st.global.u32 [%rd3], %r1;\n@!%p1 ld.global.u32 %r8, [%rd3];\n",
                            2),
                 "a data race with block"));
  CHECK(wrong_with("ld.global.u32 %r8, [%rd3];\n", 3).empty());
}

TEST_CASE("addresses that are not allocated or not aligned are errors") {
  CHECK(contains(wrong_with("st.global.u32 [%rd3+4], %r1;\n"),
                 "thread 63: an address is outside of all allocations"));
  CHECK(contains(wrong_with("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];\n"),
                 "not aligned to 16 bytes"));
  CHECK(contains(wrong_with("ld.shared.u32 %r9, [shared+1024];\n"), "outside of shared memory"));
  CHECK(contains(wrong_with("ld.shared.u32 %r9, [0];\n"), "outside of shared memory"));
  CHECK(
      contains(wrong_with("ld.param.u64 %rd4, [test_param_0+8];\n"), "outside of the parameters"));
}

TEST_CASE("threads that do not reach what their warp or block does together are an error") {
  const char* const some = "setp.lt.s32 %p1, %r1, 5;\n@%p1 bra $end;\n";
  CHECK(contains(wrong_with(std::string(some) + "bar.sync 0;\n$end:\n"), "of the same warp is in"));
  CHECK(contains(wrong_with("setp.lt.s32 %p1, %r1, 32;\n@%p1 bra $end;\nbar.sync 0;\n$end:\n"),
                 "some warps wait at a barrier, the others have ended"));
}

TEST_CASE("an asynchronous copy arrives when its thread waits for it, and its target is busy") {
  Values values{};
  for (std::uint32_t t = 0; t < k_threads; ++t) values[t] = 3 * t;
  const std::string copy = "cp.async.ca.shared.global [%r4], [%rd3], 4;\n";
  const std::string load = "ld.shared.u32 %r6, [%r4];\n";
  const std::string wait = "cp.async.wait_all;\n";
  const std::string store = "add.s32 %r6, %r6, 1;\nbar.sync 0;\nst.global.u32 [%rd3], %r6;\n";
  CHECK(run(copy + wait + load + store, values)[5] == 16);
  CHECK(run(copy + load + wait + store, values)[5] == 0);  // what shared memory was full of, and 1
  CHECK(contains(wrong_with(copy + k_load_neighbour), "a data race"));
}

TEST_CASE("text that is not implemented is an error with its line") {
  CHECK(contains(wrong_with("sin.approx.f32 %f1, %f2;\n"), "PTX, line 18: not implemented: sin"));
  CHECK(contains(wrong_with("mov.u32 %r9, %laneid;\n"), "not implemented"));
  CHECK(contains(wrong_with("bra $nowhere;\n"), "no such label: bra $nowhere"));
  CHECK(contains(wrong_with("ld.local.u32 %r9, [%r4];\n"), "not implemented"));
}
