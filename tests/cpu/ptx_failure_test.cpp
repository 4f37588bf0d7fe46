// SPDX-License-Identifier: Apache-2.0
// Errors of the reference device: what is refused before it runs, and the messages.
#include "ptx_fixture.hpp"

namespace fatlink::interpreter {

// ---- source lines, which nvcc -lineinfo records

TEST_F(Ptx, FaultsNameTheLineOfTheSource)
{
  auto const file = std::string(".file 1 \"/src/wild.cu\"\n.file 2 \"wild.cuh\", 1, 2\n");
  expect_failure(error_kind::address, "(a.ptx:9, /src/wild.cu:7): reads 4 bytes",
                 {{"a.ptx", kernel_of(".loc 1 7 3\nld.global.u32 %v, [16];") + file}});
  expect_failure(error_kind::address, "(a.ptx:9, wild.cuh:5, inlined at /src/wild.cu:11): reads",
                 {{"a.ptx", kernel_of(".loc 2 5 3, function_name $L__info_string0, inlined_at 1 11 "
                                      "9\nld.global.u32 %v, [16];") +
                                file}});
  expect_failure(error_kind::refused,
                 "a.ptx:9, /src/wild.cu:7: in k: the reference device does not",
                 {{"a.ptx", kernel_of(".loc 1 7 3\nwgmma.fence.sync.aligned;") + file}});
  expect_failure(error_kind::prototype, "a.ptx:16, /src/wild.cu:7: in k: ",
                 {{"a.ptx", k_sum + kernel_of(".loc 1 7 3\ncall sum;") + file}});
  expect_failure(error_kind::address, "(a.ptx:9): reads",
                 {{"a.ptx", kernel_of(".loc 9 7 3\nld.global.u32 %v, [16];") + file}});
  expect_failure(error_kind::address, "(a.ptx:9): reads",
                 {{"a.ptx", kernel_of(".loc 1 7 0\nld.global.u32 %v, [16];") + file}});
}

// ---- PTX that is refused before it runs

TEST_F(Ptx, ReferencesToTexturesAreNamedAsLimits)
{
  expect_failure(error_kind::refused, "does not support references to textures and surfaces",
                 "istypep.texref %p1, %rd1;");
  EXPECT_EQ(run({{"a.ptx",
                  ".visible .func g() { .reg .pred %p; .reg .b64 %d; istypep.texref %p, [%d]; ret; "
                  "}\n" +
                      kernel_of("mov.u32 %v, 3;")}},
                1),
            values{3});  // a function that the kernel does not call is not refused
}

TEST_F(Ptx, CallsByAddressWithOtherArgumentsAreMismatches)
{
  expect_failure(error_kind::prototype, "the arguments are not those of g",
                 {{"a.ptx", ".visible .func g(.param .b32 x) { ret; }\n" +
                                kernel_of("p: .callprototype _ (.param .b64 _); mov.u64 %rd5, g; "
                                          "{ .param .b64 x; call %rd5, (x), p; }")}});
}

TEST_F(Ptx, MessagesHaveInstructionsOnOneLine)
{
  expect_failure(error_kind::prototype,
                 "'call (r), malloc, (n)': the arguments are not those of malloc",
                 {{"a.ptx", ".extern .func (.param .b64 r) malloc(.param .b64 n);\n" +
                                kernel_of("{ .param .b32 n; .param .b64 r; call (r),\n\tmalloc, "
                                          "\n\t(n); }")}});
  expect_failure(error_kind::address, "ld.global.u32 %v, [16] (a.ptx",
                 "ld.global.u32 \t%v,\n\t[16];");
}

TEST_F(Ptx, CodeOfWrongTypesIsInvalidOnEveryDevice)
{
  expect_failure(error_kind::invalid, "a.ptx:8: in k: 'add.u32 %v, %rd1, 1' is invalid",
                 "add.u32 %v, %rd1, 1;");
  expect_failure(error_kind::invalid, "%p1 is a predicate", "add.u32 %v, %p1, 1;");
  expect_failure(error_kind::prototype, "the arguments are not those of g",
                 {{"a.ptx", ".visible .func g(.param .b32 x) { ret; }\n" +
                                kernel_of("{ .param .b64 x; call g, (x); }")}});
}

TEST_F(Ptx, RefusesUnknownInstructionsNamingThemAndTheirLine)
{
  expect_failure(error_kind::refused,
                 "a.ptx:8: in k: the reference device does not execute 'wgmma.fence",
                 "wgmma.fence.sync.aligned;");
  expect_failure(error_kind::refused, "unknown modifier .v9", "add.v9.u32 %v, %t, 1;");
  expect_failure(error_kind::invalid, "%rd1 is of another width", "add.u32 %v, %rd1, 1;");
  expect_failure(error_kind::refused, "unknown special register %nonsense",
                 "mov.u32 %v, %nonsense;");
  expect_failure(error_kind::refused, "too few operands", "add.u32 %v, %t;");
  expect_failure(error_kind::invalid, "outside of out", "ld.param.u64 %rd4, [out+8];");
  expect_failure(error_kind::unresolved, "nothing is used by a.ptx", "mov.u64 %rd4, nothing;");
}

TEST_F(Ptx, MalformedTextIsReportedWithItsLine)
{
  expect_failure(error_kind::syntax,
                 "a.ptx:10: in k: the reference device does not understand 'add.u32 %v, %t, 1 ld': "
                 "expected ';', found 'ld'",
                 "add.u32 %v, %t, 1\n");
  expect_failure(error_kind::syntax, "a number is malformed or out of range",
                 "mov.u32 %v, 99999999999999999999999;");
  expect_failure(error_kind::syntax, "unknown directive '.nonsense'", ".nonsense 3;");
  expect_failure(error_kind::syntax, "label $a is defined twice", "$a: $a: mov.u32 %v, 1;");
  expect_failure(error_kind::syntax, "the body has no closing brace", "{");
  try {
    (void)interpreter::program(memory_, std::array{module_text{"hello", "x.ptx"}});
    ADD_FAILURE() << "no failure";
  } catch (code_error const& failed) {
    EXPECT_STREQ(failed.what(), "x.ptx:1: not PTX: it does not begin with .version");
  }
}

TEST_F(Ptx, LaunchesCheckCountAndSizeOfTheirArguments)
{
  auto const text = k_header + kernel_of("mov.u32 %v, 1;");
  program program(memory_, std::array{module_text{text, "a.ptx"}});
  auto const expect_refusal = [&](std::vector<std::size_t> const& sizes, char const* message) {
    std::vector<std::byte> const bytes(16);
    std::vector<std::span<std::byte const>> arguments;
    for (auto const size : sizes) arguments.emplace_back(bytes.data(), size);
    try {
      launch(program, program.find("k"), {}, arguments);
      ADD_FAILURE() << "no failure; expected " << message;
    } catch (code_error const& failed) {
      EXPECT_EQ(failed.kind(), error_kind::launch);
      EXPECT_THAT(failed.what(), testing::HasSubstr(message));
    }
  };
  expect_refusal({}, "kernel k: takes 1 arguments, given 0");
  expect_refusal({8, 8}, "takes 1 arguments, given 2");
  expect_refusal({1}, "argument 0 is of 8 bytes, given 1");
}

}  // namespace fatlink::interpreter
