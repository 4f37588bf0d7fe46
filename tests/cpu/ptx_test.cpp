// SPDX-License-Identifier: Apache-2.0
// The reference device on PTX written by hand: what nvcc rarely emits, and what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "interpreter/machine.hpp"

using namespace fatlink::interpreter;

namespace {

constexpr char const* k_header = ".version 9.0\n.target sm_90\n.address_size 64\n";

struct source {
  std::string name;
  std::string text;
};

/// The kernel `k(.param .u64 out)` with this body, which may write out[%tid.x] from %v.
std::string kernel_of(std::string const& body)
{
  return ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b32 %v, %t; .reg .b64 %rd<9>;"
         ".reg .f32 %f<9>; .reg .f64 %fd<9>;\n"
         "mov.u32 %t, %tid.x;\n" +
         body +
         "\nld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %t, 4; add.s64 %rd3, %rd1, %rd2;\n"
         "st.global.u32 [%rd3], %v;\nret;\n}\n";
}

class Ptx : public testing::Test {
 protected:
  /// Links `sources`, runs their kernel k with a block of `threads`, returns out.
  std::vector<std::uint32_t> run(std::vector<source> const& sources, std::uint32_t threads,
                                 std::uint64_t budget = 100'000)
  {
    std::vector<std::string> texts;
    for (auto const& one : sources) texts.push_back(k_header + one.text);
    std::vector<module_text> modules;
    for (std::size_t i = 0; i < sources.size(); ++i) modules.push_back({texts[i], sources[i].name});
    program in(memory_, modules);
    auto const out = memory_->allocate(threads * 4);
    auto const address = out.base;
    std::array const arguments{std::as_bytes(std::span(&address, 1))};
    std::vector<std::span<std::byte const>> const spans(arguments.begin(), arguments.end());
    launch(in, in.find("k"),
           {.grid = {},
            .block = {threads, 1, 1},
            .shared_bytes = 0,
            .budget = budget,
            .check_races = false,
            .print = {}},
           spans);
    std::vector<std::uint32_t> values(threads);
    std::memcpy(values.data(), out.data, threads * 4);
    memory_->release(out.base);
    return values;
  }

  std::vector<std::uint32_t> run(std::string const& body, std::uint32_t threads = 4)
  {
    return run({{"a.ptx", kernel_of(body)}}, threads);
  }

  void expect_failure(fault kind, std::string const& says, std::vector<source> const& sources,
                      std::uint64_t budget = 100'000)
  {
    try {
      run(sources, 4, budget);
      ADD_FAILURE() << "no failure; expected " << says;
    } catch (failure const& failed) {
      EXPECT_EQ(static_cast<int>(failed.kind()), static_cast<int>(kind)) << failed.what();
      EXPECT_THAT(failed.what(), testing::HasSubstr(says));
    }
  }

  void expect_failure(fault kind, std::string const& says, std::string const& body)
  {
    expect_failure(kind, says, {{"a.ptx", kernel_of(body)}});
  }

  std::shared_ptr<memory> memory_ = std::make_shared<memory>();
};

using values = std::vector<std::uint32_t>;

}  // namespace

TEST_F(Ptx, BranchesByTable)
{
  EXPECT_EQ(run("targets: .branchtargets $a, $b, $c, $a;\nbrx.idx %t, targets;\n"
                "$a: mov.u32 %v, 10; bra $end;\n$b: mov.u32 %v, 20; bra.uni $end;\n"
                "$c: mov.u32 %v, 30;\n$end:"),
            (values{10, 20, 30, 10}));
  expect_failure(fault::address, "branches to entry 1 of a table of 1",
                 "targets: .branchtargets $a;\nbrx.idx %t, targets;\n$a: mov.u32 %v, 1;");
}

TEST_F(Ptx, ScopesHideNamesAndLabels)
{
  EXPECT_EQ(run("mov.u32 %v, 1; { .reg .b32 %v; mov.u32 %v, 5; bra $l; mov.u32 %v, 6; $l: }\n"
                "{ bra $l; mov.u32 %v, 7; $l: }"),
            (values{1, 1, 1, 1}));
}

TEST_F(Ptx, PredicatesGuardAndCombine)
{
  EXPECT_EQ(run("setp.gt.and.u32 %p1|%p2, %t, 1, %p0; setp.eq.u32 %p3, %t, 2;\n"
                "mov.u32 %v, 0; @%p2 add.u32 %v, %v, 0; not.pred %p4, %p3;\n"
                "@%p3 add.u32 %v, %v, 100; @!%p3 add.u32 %v, %v, 7; @%p4 add.u32 %v, %v, 1000;"),
            (values{1007, 1007, 100, 1007}));
}

TEST_F(Ptx, WideArithmeticCarries)
{
  // 64-bit (tid << 32 | 0xFFFFFFFF) + 1 in two halves: the upper half is tid + 1.
  EXPECT_EQ(run("add.cc.u32 %r1, 0xFFFFFFFF, 1; addc.u32 %v, %t, 0;"), (values{1, 2, 3, 4}));
  EXPECT_EQ(run("sub.cc.u32 %r1, 0, 1; subc.u32 %v, %t, 0;"), (values{0xFFFFFFFF, 0, 1, 2}));
  EXPECT_EQ(run("mad.lo.cc.u32 %r1, 0xFFFFFFFF, 1, 1; madc.hi.u32 %v, 0x80000000, %t, 0;"),
            (values{1, 1, 2, 2}));
}

/// ptxas folds each of these to the value expected here.
TEST_F(Ptx, SubtractionLeavesTheCarryThatHardwareLeaves)
{
  EXPECT_EQ(run("sub.cc.u32 %r1, 5, 7; addc.u32 %v, %t, 0;"), (values{0, 1, 2, 3}));
  EXPECT_EQ(run("sub.cc.u32 %r1, 7, 5; addc.u32 %v, %t, 0;"), (values{1, 2, 3, 4}));
  EXPECT_EQ(run("add.cc.u32 %r1, 5, 7; subc.u32 %v, 100, 1;"), values(4, 98));
  EXPECT_EQ(run("add.cc.u32 %r1, 0xFFFFFFFF, 7; subc.u32 %v, 100, 1;"), values(4, 99));
  EXPECT_EQ(run("sub.cc.u32 %r1, 5, 7; madc.lo.u32 %v, %t, 3, 10;"), (values{10, 13, 16, 19}));
  EXPECT_EQ(run("mad.lo.cc.u32 %r1, 1, 1, 1; subc.cc.u32 %r2, 0, 0; addc.u32 %v, %t, 0;"),
            (values{0, 1, 2, 3}));
  EXPECT_EQ(run("sub.cc.u64 %rd4, 5, 7; subc.u64 %rd5, 100, 1; cvt.u32.u64 %v, %rd5;"),
            values(4, 98));
}

TEST_F(Ptx, BitInstructionsFollowTheirFormulas)
{
  EXPECT_EQ(run("lop3.b32 %v, %t, 0xC, 0xA, 0xE8;"), (values{8, 8, 10, 10}));
  EXPECT_EQ(run("prmt.b32.b4e %v, 0x33221100, 0x77665544, %t;"),
            (values{0x55667700, 0x66770011, 0x77001122, 0x00112233}));
  EXPECT_EQ(run("prmt.b32 %v, 0x80, 0, 0x8888;"), values(4, 0xFFFFFFFF));
  EXPECT_EQ(run("shl.b32 %v, 1, 40;"), values(4, 0));
  EXPECT_EQ(run("shr.s32 %v, 0x80000000, 99;"), values(4, 0xFFFFFFFF));
  EXPECT_EQ(run("bfe.s32 %v, 0x00000F00, 8, 4;"), values(4, 0xFFFFFFFF));
  EXPECT_EQ(run("bfind.s32 %v, -1;"), values(4, 0xFFFFFFFF));
  EXPECT_EQ(run("dp4a.s32.s32 %v, 0x01FF02FE, 0x01010101, %t;"), (values{0, 1, 2, 3}));
  EXPECT_EQ(run("sad.u32 %v, %t, 2, 100;"), (values{102, 101, 100, 101}));
  EXPECT_EQ(run("mul24.lo.s32 %v, 0x00FFFFFF, 5;"), values(4, 0xFFFFFFFB));
}

TEST_F(Ptx, DivisionByZeroGivesAllOnes)
{
  EXPECT_EQ(run("div.u32 %v, 7, %t;"), (values{0xFFFFFFFF, 7, 3, 2}));
  EXPECT_EQ(run("rem.s32 %v, 7, %t;"), (values{7, 0, 1, 1}));
  EXPECT_EQ(run("div.s32 %v, 0x80000000, -1;"), values(4, 0x80000000));
}

TEST_F(Ptx, RoundsInEveryDirection)
{
  auto const third = [&](char const* mode) {
    return run(std::string("div.") + mode +
               ".f32 %f1, 0f3F800000, 0f40400000; mov.b32 %v, %f1;")[0];
  };
  EXPECT_EQ(third("rn"), 0x3EAAAAABU);
  EXPECT_EQ(third("rz"), 0x3EAAAAAAU);
  EXPECT_EQ(third("rm"), 0x3EAAAAAAU);
  EXPECT_EQ(third("rp"), 0x3EAAAAABU);
  EXPECT_EQ(run("fma.rz.f32 %f1, 0fBF800000, 0f3F800000, 0f33000000; mov.b32 %v, %f1;")[0],
            0xBF7FFFFFU);
  EXPECT_EQ(run("cvt.rpi.s32.f32 %v, 0fC0200000;")[0], 0xFFFFFFFEU);
  EXPECT_EQ(run("cvt.sat.u8.s32 %v, 300;")[0], 255U);
  EXPECT_EQ(run("mul.ftz.sat.f32 %f1, 0f40400000, 0f3F800000; mov.b32 %v, %f1;")[0], 0x3F800000U);
}

TEST_F(Ptx, PacksAndUnpacksRegisters)
{
  EXPECT_EQ(run("mov.b64 %rd4, {%t, 7}; mov.b64 {%r1, %r2}, %rd4; add.u32 %v, %r1, %r2;"),
            (values{7, 8, 9, 10}));
  EXPECT_EQ(run("mov.b32 {%h1, %h2}, 0x00050003; mov.b32 %v, {%h2, %h1};"), values(4, 0x00030005));
}

TEST_F(Ptx, VariablesHaveTheirFirstValues)
{
  auto const text = ".global .u32 table[3] = {7, 8, 9};\n.const .u64 where = generic(table)+4;\n" +
                    kernel_of("ld.const.u64 %rd5, [where]; ld.u32 %v, [%rd5];");
  EXPECT_EQ(run({{"a.ptx", text}}, 2), (values{8, 8}));
}

TEST_F(Ptx, ConstantMemoryIsNotWritten)
{
  expect_failure(fault::address, "in constant memory (fixed)",
                 {{"a.ptx", ".const .u32 fixed = 1;\n" +
                                kernel_of("mov.u64 %rd5, fixed; st.u32 [%rd5], 2;")}});
}

// ---- linking by name

namespace {

std::string caller(char const* declaration)
{
  return std::string(declaration) +
         kernel_of(
             "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call (b), f, (a); "
             "ld.param.b32 %v, [b]; }");
}
constexpr char const* k_declaration = ".extern .func (.param .b32 r) f (.param .b32 x);\n";

std::string definition(char const* linkage, int add)
{
  return std::string(linkage) +
         " .func (.param .b32 r) f (.param .b32 x)\n{ .reg .b32 %r1; ld.param.b32 %r1, [x]; "
         "add.u32 %r1, %r1, " +
         std::to_string(add) + "; st.param.b32 [r], %r1; ret; }\n";
}

}  // namespace

TEST_F(Ptx, CallsAcrossModules)
{
  EXPECT_EQ(run({{"a.ptx", caller(k_declaration)}, {"b.ptx", definition(".visible", 5)}}, 3),
            (values{5, 6, 7}));
}

TEST_F(Ptx, StrongDefinitionsBeatWeakOnes)
{
  source const library{"a.ptx", caller(k_declaration)};
  EXPECT_EQ(
      run({library, {"w.ptx", definition(".weak", 1)}, {"s.ptx", definition(".visible", 2)}}, 1),
      values{2});
  EXPECT_EQ(run({library, {"w.ptx", definition(".weak", 1)}, {"x.ptx", definition(".weak", 3)}}, 1),
            values{1});
  EXPECT_EQ(run({library, {"l.ptx", definition("", 9)}, {"s.ptx", definition(".visible", 2)}}, 1),
            values{2});
}

TEST_F(Ptx, UndefinedDuplicateAndWrongPrototypesAreErrors)
{
  source const library{"a.ptx", caller(k_declaration)};
  expect_failure(fault::unresolved, "f is used by a.ptx and defined by no input", {library});
  expect_failure(
      fault::duplicate, "f is defined twice: by b.ptx and by c.ptx",
      {library, {"b.ptx", definition(".visible", 1)}, {"c.ptx", definition(".visible", 2)}});
  expect_failure(
      fault::prototype, "a.ptx declares (4 bytes) f(4 bytes), b.ptx defines (8 bytes) f(8 bytes)",
      {library, {"b.ptx", ".visible .func (.param .b64 r) f (.param .b64 x) { ret; }\n"}});
}

TEST_F(Ptx, WeakAndStrongDefinitionsOfOtherTypesDoNotLink)
{
  std::string const weak = definition(".weak", 1);
  std::string const wide = ".visible .func (.param .b64 r) f (.param .b64 x) { ret; }\n";
  expect_failure(fault::prototype,
                 "a.ptx defines (4 bytes) f(4 bytes), b.ptx defines (8 bytes) f(8 bytes)",
                 {{"a.ptx", caller(weak.c_str())}, {"b.ptx", wide}});
  expect_failure(fault::prototype, "b.ptx defines (4 bytes) f(4 bytes), c.ptx defines (8 bytes)",
                 {{"a.ptx", kernel_of("mov.u32 %v, 1;")}, {"b.ptx", weak}, {"c.ptx", wide}});
}

// ---- functions that take any number of arguments, as nvcc writes them

namespace {

/// Adds up `count` numbers of 32 bits that follow it.
constexpr char const* k_sum =
    ".visible .func (.param .b32 r) sum(.param .b32 count, .param .align 8 .b8 %VAParam[])\n{\n"
    ".reg .pred %p1; .reg .b32 %n, %s, %x; .reg .b64 %a;\n"
    "ld.param.u32 %n, [count]; mov.u64 %a, %VAParam; mov.u32 %s, 0;\n"
    "$l: setp.eq.u32 %p1, %n, 0; @%p1 bra $e; ld.local.u32 %x, [%a]; add.u32 %s, %s, %x;\n"
    "add.s64 %a, %a, 4; sub.u32 %n, %n, 1; bra $l;\n"
    "$e: st.param.b32 [r], %s; ret; }\n";

constexpr char const* k_sum_declaration =
    ".extern .func (.param .b32 r) sum(.param .b32 count, .param .align 8 .b8 %VAParam[]);\n";

constexpr char const* k_call_with_three =
    "{ .param .b32 n; st.param.b32 [n], 3; .param .align 8 .b8 all[16]; st.param.b32 [all], %t;"
    " st.param.b32 [all+4], 10; st.param.b32 [all+8], 100; .param .b32 r; call (r), ";

}  // namespace

TEST_F(Ptx, VariadicFunctionsTakeTheirArguments)
{
  auto const call = std::string(k_call_with_three) + "sum, (n, all); ld.param.b32 %v, [r]; }";
  EXPECT_EQ(run({{"a.ptx", k_sum + kernel_of(call)}}, 3), (values{110, 111, 112}));
  EXPECT_EQ(run({{"a.ptx", k_sum_declaration + kernel_of(call)}, {"b.ptx", k_sum}}, 2),
            (values{110, 111}));
  EXPECT_EQ(run({{"a.ptx", k_sum + kernel_of("{ .param .b32 n; st.param.b32 [n], 0; "
                                             ".param .b32 r; call (r), sum, (n); "
                                             "ld.param.b32 %v, [r]; }")}},
                1),
            (values{0}));
}

TEST_F(Ptx, VariadicFunctionsAreCalledByAddress)
{
  auto const call =
      "p: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[]);\n"
      "mov.u64 %rd5, sum;" +
      std::string(k_call_with_three) + "%rd5, (n, all), p; ld.param.b32 %v, [r]; }";
  EXPECT_EQ(run({{"a.ptx", k_sum + kernel_of(call)}}, 3), (values{110, 111, 112}));
}

TEST_F(Ptx, VariadicFunctionsStillNeedTheirNamedArguments)
{
  expect_failure(fault::prototype, "the arguments are not those of sum",
                 {{"a.ptx", k_sum + kernel_of("{ .param .b64 n; .param .align 8 .b8 all[8]; .param "
                                              ".b32 r; call (r), sum, (n, all); }")}});
  expect_failure(fault::prototype,
                 "a.ptx declares (4 bytes) sum(4 bytes), b.ptx defines (4 bytes) sum(4 bytes, ...)",
                 {{"a.ptx", ".extern .func (.param .b32 r) sum(.param .b32 n);\n" + kernel_of("")},
                  {"b.ptx", k_sum}});
}

// ---- lines of the source, which nvcc -lineinfo records

TEST_F(Ptx, FaultsNameTheLineOfTheSource)
{
  auto const file = std::string(".file 1 \"/src/wild.cu\"\n.file 2 \"wild.cuh\", 1, 2\n");
  expect_failure(fault::address, "(a.ptx:9, /src/wild.cu:7): reads 4 bytes",
                 {{"a.ptx", kernel_of(".loc 1 7 3\nld.global.u32 %v, [16];") + file}});
  expect_failure(fault::address, "(a.ptx:9, wild.cuh:5, inlined at /src/wild.cu:11): reads",
                 {{"a.ptx", kernel_of(".loc 2 5 3, function_name $L__info_string0, inlined_at 1 11 "
                                      "9\nld.global.u32 %v, [16];") +
                                file}});
  expect_failure(fault::refused, "a.ptx:9, /src/wild.cu:7: in k: the reference device does not",
                 {{"a.ptx", kernel_of(".loc 1 7 3\nwgmma.fence.sync.aligned;") + file}});
  expect_failure(fault::prototype, "a.ptx:16, /src/wild.cu:7: in k: ",
                 {{"a.ptx", k_sum + kernel_of(".loc 1 7 3\ncall sum;") + file}});
  expect_failure(fault::address, "(a.ptx:9): reads",
                 {{"a.ptx", kernel_of(".loc 9 7 3\nld.global.u32 %v, [16];") + file}});
  expect_failure(fault::address, "(a.ptx:9): reads",
                 {{"a.ptx", kernel_of(".loc 1 7 0\nld.global.u32 %v, [16];") + file}});
}

// ---- what is refused before it runs

TEST_F(Ptx, TexturesSurfacesAndTheDeviceHeapAreNamedAsLimits)
{
  auto const k_texture = "does not support textures and surfaces";
  for (auto const* text : {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
                           "tex.level.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5}], %f6;",
                           "suld.b.2d.b32.trap {%r3}, [%rd2, {%r2, %r2}];",
                           "sust.b.2d.b32.trap [%rd2, {%r4, %r4}], {%r3};",
                           "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
                           "txq.width.b32 %r1, [%rd1];"})
    expect_failure(fault::refused, k_texture, text);
  for (auto const* text : {".global .texref t;\n", ".global .surfref s;\n",
                           ".global .samplerref s = {addr_mode_0 = wrap};\n"})
    expect_failure(fault::refused, k_texture, {{"a.ptx", text + kernel_of("mov.u32 %v, 1;")}});
  auto const heap = std::string(
      ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n");
  auto const k_heap = "does not support the device heap";
  expect_failure(
      fault::refused, k_heap,
      {{"a.ptx", heap + kernel_of("{ .param .b64 n; .param .b64 r; call (r), malloc, (n); }")}});
  expect_failure(fault::refused, k_heap,
                 {{"a.ptx", heap + kernel_of("{ .param .b64 p; call free, (p); }")}});
  EXPECT_EQ(run({{"a.ptx", heap + ".visible .func g() { .param .b64 p; call free, (p); ret; }\n" +
                               kernel_of("mov.u32 %v, 3;")}},
                1),
            values{3});  // what the kernel does not reach is not refused
}

TEST_F(Ptx, CallsByAddressWithOtherArgumentsAreMismatches)
{
  expect_failure(fault::prototype, "the arguments are not those of g",
                 {{"a.ptx", ".visible .func g(.param .b32 x) { ret; }\n" +
                                kernel_of("p: .callprototype _ (.param .b64 _); mov.u64 %rd5, g; "
                                          "{ .param .b64 x; call %rd5, (x), p; }")}});
}

TEST_F(Ptx, MessagesHaveInstructionsOnOneLine)
{
  expect_failure(fault::refused, "does not execute 'call (r), malloc, (n)'",
                 {{"a.ptx", ".extern .func (.param .b64 r) malloc(.param .b64 n);\n" +
                                kernel_of("{ .param .b64 n; .param .b64 r; call (r),\n\tmalloc, "
                                          "\n\t(n); }")}});
  expect_failure(fault::address, "ld.global.u32 %v, [16] (a.ptx", "ld.global.u32 \t%v,\n\t[16];");
}

TEST_F(Ptx, CodeOfWrongTypesIsInvalidOnEveryDevice)
{
  expect_failure(fault::invalid, "a.ptx:8: in k: 'add.u32 %v, %rd1, 1' is invalid",
                 "add.u32 %v, %rd1, 1;");
  expect_failure(fault::invalid, "%p1 is a predicate", "add.u32 %v, %p1, 1;");
  expect_failure(fault::prototype, "the arguments are not those of g",
                 {{"a.ptx", ".visible .func g(.param .b32 x) { ret; }\n" +
                                kernel_of("{ .param .b64 x; call g, (x); }")}});
}

TEST_F(Ptx, RefusesUnknownInstructionsNamingThemAndTheirLine)
{
  expect_failure(fault::refused,
                 "a.ptx:8: in k: the reference device does not execute 'wgmma.fence",
                 "wgmma.fence.sync.aligned;");
  expect_failure(fault::refused, "unknown modifier .v9", "add.v9.u32 %v, %t, 1;");
  expect_failure(fault::invalid, "%rd1 is of another width", "add.u32 %v, %rd1, 1;");
  expect_failure(fault::refused, "unknown special register %nonsense", "mov.u32 %v, %nonsense;");
  expect_failure(fault::refused, "too few operands", "add.u32 %v, %t;");
  expect_failure(fault::invalid, "outside of out", "ld.param.u64 %rd4, [out+8];");
  expect_failure(fault::unresolved, "nothing is used by a.ptx", "mov.u64 %rd4, nothing;");
}

TEST_F(Ptx, SaysWhereTextIsNoPtx)
{
  expect_failure(fault::syntax, "a.ptx:10: expected ';', found 'ld'", "add.u32 %v, %t, 1\n");
  expect_failure(fault::syntax, "a number is malformed or out of range",
                 "mov.u32 %v, 99999999999999999999999;");
  expect_failure(fault::syntax, "unknown directive '.nonsense'", ".nonsense 3;");
  expect_failure(fault::syntax, "label $a is defined twice", "$a: $a: mov.u32 %v, 1;");
  expect_failure(fault::syntax, "the body has no closing brace", "{");
  try {
    (void)program(memory_, std::array{module_text{"hello", "x.ptx"}});
    ADD_FAILURE() << "no failure";
  } catch (failure const& failed) {
    EXPECT_STREQ(failed.what(), "x.ptx:1: not PTX: it does not begin with .version");
  }
}

TEST_F(Ptx, LaunchesCheckCountAndSizeOfTheirArguments)
{
  auto const text = k_header + kernel_of("mov.u32 %v, 1;");
  program in(memory_, std::array{module_text{text, "a.ptx"}});
  auto const expect_refusal = [&](std::vector<std::size_t> const& sizes, char const* says) {
    std::vector<std::byte> const bytes(16);
    std::vector<std::span<std::byte const>> arguments;
    for (auto const size : sizes) arguments.emplace_back(bytes.data(), size);
    try {
      launch(in, in.find("k"), {}, arguments);
      ADD_FAILURE() << "no failure; expected " << says;
    } catch (failure const& failed) {
      EXPECT_EQ(failed.kind(), fault::launch);
      EXPECT_THAT(failed.what(), testing::HasSubstr(says));
    }
  };
  expect_refusal({}, "kernel k: takes 1 arguments, given 0");
  expect_refusal({8, 8}, "takes 1 arguments, given 2");
  expect_refusal({1}, "argument 0 is of 8 bytes, given 1");
}

// ---- threads that never end

TEST_F(Ptx, EndlessAndDeadlockedThreadsAreStopped)
{
  expect_failure(fault::endless, "is still running after 5000 instructions",
                 {{"a.ptx", kernel_of("$l: bra $l;")}}, 5000);
  expect_failure(fault::deadlock, "waits at a barrier that other threads of the block never reach",
                 "setp.eq.u32 %p1, %t, 0; @%p1 bar.sync 0, 64; mov.u32 %v, 1;");
  expect_failure(fault::deadlock, "waits for lanes of its mask that never reach",
                 "setp.lt.u32 %p1, %t, 2; mov.u32 %v, 1; @%p1 bar.warp.sync 0xF; "
                 "@!%p1 bar.sync 0, 64;");
}

TEST_F(Ptx, RecursionWithoutEndIsStopped)
{
  expect_failure(
      fault::address, "calls too deep",
      {{"a.ptx", ".visible .func g() { call g; ret; }\n" + kernel_of("call g; mov.u32 %v, 1;")}});
}

TEST_F(Ptx, LanesMeetAgainAfterTheyBranched)
{
  // Each lane loops tid times; at the end all are there.
  EXPECT_EQ(run("mov.u32 %r1, 0; $l: setp.ge.u32 %p1, %r1, %t; @%p1 bra $e; add.u32 %r1, %r1, 1; "
                "bra $l; $e: activemask.b32 %v;"),
            values(4, 0xF));
}
