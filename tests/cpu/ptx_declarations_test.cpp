// SPDX-License-Identifier: Apache-2.0
// Forms of declarations, calls and operands that compilers other than nvcc write.
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {

// ---- registers

TEST_F(Ptx, RegistersOf128BitsArePackedAndUnpacked)
{
  EXPECT_EQ(run(".reg .b128 %q<3>; mov.b64 %rd4, 5; mov.b64 %rd5, 6; mov.b128 %q1, {%rd4, %rd5}; "
                "mov.b128 %q2, %q1; mov.b128 {%rd6, %rd7}, %q2; shl.b64 %rd7, %rd7, 4; or.b64 "
                "%rd6, %rd6, %rd7; cvt.u32.u64 %v, %rd6;",
                1),
            values{0x65});
}

TEST_F(Ptx, VectorRegistersHaveElements)
{
  EXPECT_EQ(run(".reg .v2 .b32 %w; mov.b32 %w.x, 5; mov.b32 %w.y, 6; mov.b64 %rd4, %w; "
                "shr.b64 %rd4, %rd4, 28; cvt.u32.u64 %v, %rd4;",
                1),
            values{0x60});
  EXPECT_EQ(run({{"a.ptx", ".global .align 16 .u32 x[4] = {1, 2, 3, 4};\n" +
                               kernel_of(".reg .v4 .u32 %w<3>; ld.global.v4.u32 %w2, [x]; "
                                         "add.u32 %v, %w2.y, %w2.a;")}},
                1),
            values{6});
  EXPECT_EQ(run(".reg .v4 .u32 %w; mov.v4.u32 %w, %tid; add.u32 %v, %w.x, %w.w;", 3),
            (values{0, 1, 2}));
  EXPECT_EQ(run("mov.u32 %r1, 1; mov.u32 %r2, 2; mov.v2.u32 {%r1, %r2}, {%r2, %r1}; shl.b32 %r2, "
                "%r2, 4; or.b32 %v, %r1, %r2;",
                1),
            values{0x12});
  expect_failure(error_kind::syntax, "the register has no element '.z'",
                 ".reg .v2 .b32 %w; mov.b32 %w.z, 5;");
  expect_failure(error_kind::invalid, "the vectors have other lengths",
                 "mov.v2.u32 {%r1, %r2}, {%r1, %r2, %r3};");
}

TEST_F(Ptx, RegistersOf8BitsAreLoadedStoredAndConverted)
{
  EXPECT_EQ(run({{"a.ptx", ".global .u8 x[2] = {200, 100};\n" +
                               kernel_of(".reg .b8 %c; .reg .s8 %s; ld.global.b8 %c, [x]; "
                                         "st.global.b8 [x+1], %c; ld.global.s8 %s, [x+1]; "
                                         "cvt.s32.s8 %v, %s;")}},
                1),
            values{static_cast<std::uint32_t>(-56)});
  EXPECT_EQ(run(".reg .u8 %u; mov.u32 %r1, 300; cvt.u8.u32 %u, %r1; cvt.u32.u8 %v, %u;", 1),
            values{44});
  EXPECT_EQ(run(".reg .b8 %c<5>; mov.u32 %r1, 0x44332211; mov.b32 {%c1, %c2, %c3, %c4}, %r1; "
                "mov.b32 %v, {%c4, %c3, %c2, %c1};",
                1),
            values{0x11223344});
}

TEST_F(Ptx, OperandsMayBeSumsOfARegisterAndAConstant)
{
  EXPECT_EQ(run("add.u32 %v, %t+1, %t+-1;", 3), (values{0, 2, 4}));
  EXPECT_EQ(run("mov.u32 %v, %t+1*2;", 2), (values{2, 3}));
  EXPECT_EQ(run("setp.eq.u32 %p1, %t+1, 2; selp.u32 %v, %t+5, 0, %p1;", 2), (values{0, 6}));
  expect_failure(error_kind::refused, "a sum of a register and a constant in floating point",
                 "add.f32 %f1, %f1+1, %f2;");
}

// ---- functions

TEST_F(Ptx, ParametersAndResultsMayBeRegisters)
{
  auto const text = std::string(
      ".func (.reg .b32 r) f(.reg .b32 a, .reg .b64 b)\n{ .reg .b32 c; cvt.u32.u64 c, b; "
      "add.u32 r, a, c; ret; }\n");
  EXPECT_EQ(run({{"a.ptx", text + kernel_of("mov.u64 %rd4, 10; call (%v), f, (%t, %rd4);")}}, 3),
            (values{10, 11, 12}));
  EXPECT_EQ(run({{"a.ptx", text + kernel_of("call (%v), f, (%t, 1+2);")}}, 2), (values{3, 4}));
  EXPECT_EQ(run({{"a.ptx", text + kernel_of("mov.u32 %v, 7; setp.eq.u32 %p1, %t, 1; "
                                            "@%p1 call (%v), f, (%t, 5);")}},
                3),
            (values{7, 6, 7}));
  EXPECT_EQ(run({{"a.ptx", text + kernel_of("mov.u32 %v, 1; call (_), f, (%t, 5);")}}, 1),
            values{1});
}

TEST_F(Ptx, ParametersAndResultsMayBeVectorRegisters)
{
  auto const text = std::string(
      ".func (.reg .v2 .b32 r, .reg .b32 s) f(.reg .v4 .b32 a)\n{ add.u32 r.x, a.x, a.y; "
      "add.u32 r.y, a.z, a.w; mov.u32 s, a.w; ret; }\n");
  auto const call =
      ".reg .v4 .b32 %w; .reg .v2 .b32 %s; mov.u32 %w.x, %t; mov.u32 %w.y, 1; mov.u32 %w.z, 16; "
      "mov.u32 %w.w, 256; call (%s, %r1), f, (%w); mad.lo.u32 %v, %r1, 65536, %s.x; "
      "mad.lo.u32 %v, %s.y, 4096, %v;";
  EXPECT_EQ(run({{"a.ptx", text + kernel_of(call)}}, 2), (values{0x1110001, 0x1110002}));
  EXPECT_EQ(run({{"a.ptx", text + kernel_of(".reg .v2 .b32 %s; mov.u32 %r2, 5; "
                                            "call (%s, _), f, ({%t, %r2, %r2, %t}); "
                                            "mad.lo.u32 %v, %s.x, 256, %s.y;")}},
                2),
            (values{0x505, 0x606}));
}

TEST_F(Ptx, ParametersAndResultsMayBePredicates)
{
  auto const text = std::string(
      ".func (.reg .pred r) f(.reg .pred a, .reg .b32 b)\n{ .reg .pred c; setp.gt.u32 c, b, 1; "
      "xor.pred r, a, c; ret; }\n");
  EXPECT_EQ(run({{"a.ptx", text + kernel_of("setp.eq.u32 %p1, %t, 3; call (%p2), f, (%p1, %t); "
                                            "selp.u32 %v, 7, 8, %p2;")}},
                4),
            (values{8, 8, 7, 8}));
  EXPECT_EQ(run({{"a.ptx", text + kernel_of("setp.eq.u32 %p1, %t, 3; call (%p2), f, (!%p1, %t); "
                                            "selp.u32 %v, 7, 8, %p2;")}},
                4),
            (values{7, 7, 8, 7}));
}

TEST_F(Ptx, FunctionsOfRegistersHaveSeveralResultsAndReturns)
{
  EXPECT_EQ(run({{"a.ptx",
                  ".func (.reg .b32 r, .reg .b32 s) f(.reg .b32 a)\n{ .reg .pred p; "
                  "mov.u32 r, 1; mov.u32 s, 2; setp.eq.u32 p, a, 0; @p ret; mov.u32 r, "
                  "3; }\n" +
                      kernel_of("call (%v, %r1), f, (%t); shl.b32 %r1, %r1, 4; or.b32 "
                                "%v, %v, %r1;")}},
                2),
            (values{0x21, 0x23}));
}

TEST_F(Ptx, ArgumentsInParametersMayBeConstantsAndRegisters)
{
  auto const text = std::string(
      ".func (.param .b32 r) f(.param .b32 a, .param .b8 b)\n{ .reg .b32 x, y; ld.param.b32 x, "
      "[a]; ld.param.u8 y, [b]; add.u32 x, x, y; st.param.b32 [r], x; ret; }\n");
  EXPECT_EQ(run({{"a.ptx", text + kernel_of("call (%v), f, (%t, 3);")}}, 2), (values{3, 4}));
  EXPECT_EQ(run({{"a.ptx", text + kernel_of("{ .param .b32 a; st.param.b32 [a], 9; call (%v), f, "
                                            "(a, 1); }")}},
                1),
            values{10});
  EXPECT_EQ(run({{"a.ptx", text + kernel_of(".reg .b8 %c; cvt.u8.u32 %c, %t; mov.u64 %rd4, f; "
                                            "P: .callprototype (.param .b32 _) _ (.param .b32 _, "
                                            ".param .b8 _); call (%v), %rd4, (%t, %c), P;")}},
                3),
            (values{0, 2, 4}));
}

TEST_F(Ptx, RefusesArgumentsOfUnknownSize)
{
  auto const call = [](std::string const& arguments) {
    return "mov.u64 %rd4, k; P: .callprototype (.param .b32 _) _ (.param .b32 _); call " +
           arguments + ", P;";
  };
  expect_failure(error_kind::refused, "a constant as an argument of unknown size",
                 call("(%v), %rd4, (3)"));
  expect_failure(error_kind::refused, "_ in a call by address", call("(_), %rd4, (%t)"));
  expect_failure(error_kind::refused,
                 "an argument that is neither a .param variable nor a register",
                 call("(%v), %rd4, (k)"));
}

TEST_F(Ptx, AliasesAreOtherNamesOfAFunction)
{
  auto const library = std::string(
      ".visible .func (.param .b32 r) f();\n.visible .func (.param .b32 r) g();\n"
      ".visible .func (.param .b32 r) f() { st.param.b32 [r], 7; ret; }\n.alias g, f;\n");
  auto const call = kernel_of("{ .param .b32 r; call (r), g, (); ld.param.b32 %v, [r]; }");
  EXPECT_EQ(run({{"a.ptx", library + call}}, 1), values{7});
  EXPECT_EQ(run({{"a.ptx", ".extern .func (.param .b32 r) g();\n" + call}, {"b.ptx", library}}, 1),
            values{7});
  expect_failure(error_kind::unresolved,
                 "g is an alias of h, which is not a function that the module defines",
                 {{"a.ptx", ".visible .func g();\n.alias g, h;\n" + kernel_of("call g;")}});
}

TEST_F(Ptx, DeclarationsMayBeRepeated)
{
  auto const twice = [](std::string const& text) { return text + text; };
  EXPECT_EQ(
      run({{"a.ptx",
            twice(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n") +
                twice(".extern .func (.param .b64 r) malloc(.param .b64 n);\n") +
                twice(".extern .shared .align 16 .b8 s[];\n") + twice(".visible .func f();\n") +
                ".visible .func f() { ret; }\n" + kernel_of("call f; mov.u32 %v, 3;")}},
          1),
      values{3});
}

// ---- variables

TEST_F(Ptx, SharedVariablesThatNoModuleDefinesAreDefinedWhereTheyAreDeclared)
{
  auto const declaration = std::string(".extern .shared .align 4 .b32 s[2];\n");
  EXPECT_EQ(run({{"a.ptx", declaration + declaration + ".extern .func (.param .b32 r) f();\n" +
                               kernel_of("st.shared.u32 [s+4], 5; { .param .b32 r; call (r), f, "
                                         "(); ld.param.b32 %v, [r]; }")},
                 {"b.ptx", declaration + ".visible .func (.param .b32 r) f()\n{ .reg .b32 x; "
                                         "ld.shared.u32 x, [s+4]; st.param.b32 [r], x; ret; }\n"}},
                1),
            values{5});
}

TEST_F(Ptx, InitialisersTakeBytesOfAddresses)
{
  EXPECT_EQ(run({{"a.ptx",
                  ".global .u32 y[3] = {4, 5, 6};\n.global .align 8 .u8 x[8] = {0xFF(y+4), "
                  "0xFF00(generic(y)+4), 0xFF0000(y), 0xFF000000(y), 0xFF00000000(y), "
                  "0xFF0000000000(y), 0xFF000000000000(y), 0xFF00000000000000(y)};\n" +
                      kernel_of("ld.global.u64 %rd4, [x]; ld.global.u32 %v, [%rd4];")}},
                1),
            values{5});
  expect_failure(error_kind::syntax, "the mask of a symbol is not a positive integer",
                 {{"a.ptx", ".global .u32 y;\n.global .u8 x = 0(y);\n" + kernel_of("")}});
}

TEST_F(Ptx, VariablesOfFunctionsMayHaveAddressesOfOthers)
{
  EXPECT_EQ(run(".global .u32 a[2] = {8, 9}; .global .u64 b = a+4; ld.global.u64 %rd4, [b]; "
                "ld.global.u32 %v, [%rd4];",
                1),
            values{9});
}

TEST_F(Ptx, TextureReferencesAreRefusedWhereAKernelUsesThem)
{
  auto const text = std::string(
      ".global .texref t;\n.global .surfref s;\n.global .samplerref q = {addr_mode_0 = wrap, "
      "filter_mode = nearest};\n");
  EXPECT_EQ(run({{"a.ptx", text + kernel_of("mov.u32 %v, 1;")}}, 1), values{1});
  expect_failure(error_kind::refused,
                 "does not execute 'mov.u64 %rd4, t': it does not support references to textures "
                 "and surfaces, as t is",
                 {{"a.ptx", text + kernel_of("mov.u64 %rd4, t;")}});
  expect_failure(error_kind::refused, "the parameter t is a reference to a texture or surface",
                 {{"a.ptx", ".visible .entry k(.param .texref t) { ret; }\n"}});
}

// ---- instructions

TEST_F(Ptx, ModifiersMayFollowTheType)
{
  EXPECT_EQ(run("mov.f32 %f2, 0f41000000; lg2.approx.f32.ftz %f1, %f2; mov.b32 %v, %f1;", 1),
            values{0x40400000});
  EXPECT_EQ(run("setp.u32.lt %p1, %t, 1; selp.u32 %v, 5, 6, %p1;", 2), (values{5, 6}));
  EXPECT_EQ(run("mov.u32 %r1, 3; cvt.f32.u32.rn %f1, %r1; add.f32.rn.ftz %f1, %f1, %f1; "
                "mov.b32 %v, %f1;",
                1),
            values{0x40C00000});
  EXPECT_EQ(run({{"a.ptx", ".global .u32 x = 3;\n" +
                               kernel_of("atom.add.u32.global %v, [x], 1; ld.u32.global %v, "
                                         "[x];")}},
                1),
            values{4});
}

TEST_F(Ptx, LinesOfAPreprocessorAreComments)
{
  EXPECT_EQ(run({{"a.ptx", "# 1 \"a.cu\"\n#line 5 \"b.cu\"\n" +
                               kernel_of("mov.u32 %v, 1;\n# 7 \"c.cu\"\nadd.u32 %v, %v, 1;")}},
                1),
            values{2});
}

TEST_F(Ptx, EventsOfProfilersHaveNoEffect)
{
  EXPECT_EQ(run("pmevent 1; pmevent.mask 3; mov.u32 %v, 1;", 1), values{1});
}

TEST_F(Ptx, OnlyFunctionsThatAKernelReachesMustBeUnderstood)
{
  auto const broken =
      std::string(".visible .func g() { .reg .b32 %a; { mov.u32 %a, ?; }\n ret; }\n");
  EXPECT_EQ(run({{"a.ptx", broken + kernel_of("mov.u32 %v, 1;")}}, 1), values{1});
  expect_failure(error_kind::syntax,
                 "a.ptx:4: in g: the reference device does not understand 'mov.u32 %a, ?': "
                 "expected an operand, found '?'",
                 {{"a.ptx", broken + kernel_of("call g;")}});
}

}  // namespace fatlink::interpreter
