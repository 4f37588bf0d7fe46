// SPDX-License-Identifier: Apache-2.0
// Linking PTX modules by name, and variadic functions.
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {

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
  expect_failure(error_kind::unresolved, "f is used by a.ptx and defined by no input", {library});
  expect_failure(
      error_kind::duplicate, "f is defined twice: by b.ptx and by c.ptx",
      {library, {"b.ptx", definition(".visible", 1)}, {"c.ptx", definition(".visible", 2)}});
  expect_failure(
      error_kind::prototype,
      "a.ptx declares (4 bytes) f(4 bytes), b.ptx defines (8 bytes) f(8 bytes)",
      {library, {"b.ptx", ".visible .func (.param .b64 r) f (.param .b64 x) { ret; }\n"}});
}

TEST_F(Ptx, WeakAndStrongDefinitionsOfOtherTypesDoNotLink)
{
  std::string const weak = definition(".weak", 1);
  std::string const wide = ".visible .func (.param .b64 r) f (.param .b64 x) { ret; }\n";
  expect_failure(error_kind::prototype,
                 "a.ptx defines (4 bytes) f(4 bytes), b.ptx defines (8 bytes) f(8 bytes)",
                 {{"a.ptx", caller(weak.c_str())}, {"b.ptx", wide}});
  expect_failure(error_kind::prototype,
                 "b.ptx defines (4 bytes) f(4 bytes), c.ptx defines (8 bytes)",
                 {{"a.ptx", kernel_of("mov.u32 %v, 1;")}, {"b.ptx", weak}, {"c.ptx", wide}});
}

// ---- variadic functions, as nvcc writes them

namespace {

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
  expect_failure(error_kind::prototype, "the arguments are not those of sum",
                 {{"a.ptx", k_sum + kernel_of("{ .param .b64 n; .param .align 8 .b8 all[8]; .param "
                                              ".b32 r; call (r), sum, (n, all); }")}});
  expect_failure(error_kind::prototype,
                 "a.ptx declares (4 bytes) sum(4 bytes), b.ptx defines (4 bytes) sum(4 bytes, ...)",
                 {{"a.ptx", ".extern .func (.param .b32 r) sum(.param .b32 n);\n" + kernel_of("")},
                  {"b.ptx", k_sum}});
}

}  // namespace fatlink::interpreter
