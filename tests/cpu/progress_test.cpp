// SPDX-License-Identifier: Apache-2.0
// Threads that wait for each other: they make progress, or the error names what they wait for.
#include "progress_suite.hpp"

#include <gmock/gmock.h>

#include "expect_error.hpp"
#include "ptx_fixture.hpp"

namespace fatlink {

INSTANTIATE_TEST_SUITE_P(Cpu, Progress, testing::Values("cpu"));

/// On a GPU this needs a cooperative launch.
TEST_P(Progress, OfACooperativeGrid)
{
  auto const results = run<unsigned>("meet_in_grid", shape(64, 64), 4096, zeros<unsigned>(4096));
  for (unsigned i = 0; i < 4096; ++i) EXPECT_EQ(results[i], (i + 1) % 4096);
}

TEST_P(Progress, OfACooperativeGridThatDoesNotFitIsRefused)
{
  expect_error<device_error>(
      [&] {
        launch("meet_in_grid", shape(265, 1024), zeros<unsigned>(265 * 1024),
               zeros<unsigned>(265 * 1024));
      },
      "kernel meet_in_grid: its blocks may wait for each other (grid synchronisation), and at most "
      "264 of the 265 run at a time");
}

namespace interpreter {

TEST_F(Ptx, AThreadThatWaitsForeverIsNamedWithWhatItWaitsFor)
{
  auto const text = ".visible .global .b32 flag;\n" +
                    kernel_of(
                        "setp.ne.u32 %p1, %t, 0; @%p1 bar.sync 0; $l: ld.volatile.global.u32 "
                        "%r1, [flag]; setp.eq.u32 %p2, %r1, 0; @%p2 bra $l; bar.sync 0;");
  for (auto const* part :
       {"thread (0,0,0): ", "is still running after 200000 instructions, the limit for polling: ",
        "it waits for another value at 0x7", " (flag), and every thread that has started waits",
        "; thread (1,0,0), with 2 others of its warp, waits at a barrier that other threads of the "
        "block never reach: @%p1 bar.sync 0 (a.ptx:9)"})
    expect_failure(error_kind::endless, part, {{"a.ptx", text}}, 200'000);
}

/// It reads a flag that never changes, a number of times.
TEST_F(Ptx, AThreadThatWaitsABoundedTimeEnds)
{
  auto const text = ".visible .global .b32 flag;\n" +
                    kernel_of(
                        "mov.u32 %v, 0; $l: ld.volatile.global.u32 %r1, [flag]; add.u32 %v, "
                        "%v, 1; setp.lt.u32 %p1, %v, 40000; @%p1 bra $l;");
  EXPECT_EQ(run({{"a.ptx", text}}, 64, 1'000'000), values(64, 40'000));
}

/// A call or a product of matrices takes the host as long as many instructions.
TEST_F(Ptx, EndlessLoopsOfCallsAndProductsEndAsSoonAsOthers)
{
  auto const heap = std::string(
      ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
      ".extern .func free(.param .b64 a);\n"
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".global .align 1 .b8 text[2] = {97, 0};\n");
  for (auto const* body :
       {"$l: { .param .b64 a, b; .param .b32 r; mov.u64 %rd4, text; st.param.b64 [a], %rd4; "
        "st.param.b64 [b], 0; call (r), vprintf, (a, b); } bra $l;",
        "$l: { .param .b64 n, r; st.param.b64 [n], 16; call (r), malloc, (n); call free, (r); } "
        "bra $l;",
        "$l: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
        "{%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f2, %f3, %f4}; bra $l;"}) {
    expect_failure(error_kind::endless, "is still running after 100000000 instructions",
                   {{"a.ptx", heap + kernel_of(body)}}, 100'000'000, 32);
  }
}

TEST_F(Ptx, AThreadThatSleepsForeverIsNamed)
{
  expect_failure(error_kind::endless, "it sleeps repeatedly",
                 {{"a.ptx", kernel_of("$l: nanosleep.u32 100; bra $l;")}}, 5000);
}

TEST_F(Ptx, BlocksThatHaveNotStartedAreNamed)
{
  auto const text =
      k_header + std::string(
                     ".visible .global .b32 flag;\n.visible .entry k()\n"
                     "{ .reg .pred %p; .reg .b32 %r; mov.u32 %r, %ctaid.x; setp.eq.u32 %p, "
                     "%r, 139; @%p st.volatile.global.u32 [flag], 1;\n$l: "
                     "ld.volatile.global.u32 %r, [flag]; setp.eq.u32 %p, %r, 0; @%p bra "
                     "$l; ret; }\n");
  program program(memory_, std::array{module_text{text, "a.ptx"}});
  auto const run = [&](std::uint32_t shared) {
    launch(program, program.find("k"),
           {.grid = {140, 1, 1}, .shared_bytes = shared, .budget = 20'000}, {});
  };
  EXPECT_NO_THROW(run(100 * 1024));  // two blocks fit on each of 132 multiprocessors
  try {
    program.device_memory()->snapshot()->front().data[0] = std::byte{0};  // the flag
    run(200 * 1024);
    ADD_FAILURE() << "no failure";
  } catch (code_error const& failed) {
    EXPECT_EQ(failed.kind(), error_kind::endless);
    // 8, or 7 where a block started while the failed one ended.
    EXPECT_THAT(failed.what(),
                testing::HasSubstr(" blocks of the grid have not started, because at most 132 run "
                                   "at a time: none may wait for them"));
  }
}

TEST_F(Ptx, LanesMeetByMaskAtDifferentInstructions)
{
  EXPECT_EQ(run("setp.lt.u32 %p1, %t, 2; mov.u32 %v, %t; @%p1 bra $a;\n"
                "shfl.sync.idx.b32 %v, 30, 0, 0x1F, 0xF; bra $e;\n"
                "$a: shfl.sync.idx.b32 %v, 20, 3, 0x1F, 0xF;\n$e:"),
            (values{30, 30, 20, 20}));
  EXPECT_EQ(run("setp.lt.u32 %p1, %t, 2; mov.u32 %v, 1; @%p1 bar.warp.sync 0xF; "
                "@!%p1 bar.warp.sync 0xF;"),
            values(4, 1));
  EXPECT_EQ(run("setp.lt.u32 %p1, %t, 1; setp.gt.u32 %p2, %t, 2; @%p1 bra $a;\n"
                "match.any.sync.b32 %v, 7, 0xF; vote.sync.ballot.b32 %r1, %p2, 0xF; bra $e;\n"
                "$a: match.any.sync.b32 %v, 5, 0xF; vote.sync.ballot.b32 %r1, 1, 0xF;\n"
                "$e: shl.b32 %r1, %r1, 8; or.b32 %v, %v, %r1;"),
            (values{0x901, 0x90E, 0x90E, 0x90E}));
}

TEST_F(Ptx, LanesAtInstructionsOfDifferentModesDoNotMeet)
{
  expect_failure(error_kind::deadlock,
                 "waits for lanes of its mask that never reach this instruction",
                 "setp.lt.u32 %p1, %t, 2; @%p1 bra $a; vote.sync.any.pred %p2, %p1, 0xF; bra $e;\n"
                 "$a: vote.sync.all.pred %p2, %p1, 0xF;\n$e: mov.u32 %v, 0;");
}

/// A lane whose guard is false does not wait.
TEST_F(Ptx, LanesWhoseGuardIsFalsePassTheOthers)
{
  EXPECT_EQ(run("setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %t, 3; mov.u32 %v, 4; @%p2 bra $late;\n"
                "@%p1 bar.warp.sync 0x9; bra $e;\n$late: bar.warp.sync 0x9;\n$e:"),
            values(4, 4));
}

TEST_F(Ptx, OrderedVectorsAreReadAndWritten)
{
  EXPECT_EQ(run(".shared .align 16 .b32 s[4]; mov.u32 %r1, 5; mov.u32 %r2, 6; mov.u32 %r3, 7;"
                "st.volatile.shared.v4.b32 [s], {%r1, %r2, %r3, %r1};"
                "ld.volatile.shared.v2.b32 {%r4, %r5}, [s+8]; mad.lo.u32 %v, %r4, 10, %r5;"),
            values(4, 75));
}

}  // namespace interpreter
}  // namespace fatlink
