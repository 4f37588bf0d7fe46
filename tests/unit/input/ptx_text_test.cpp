// SPDX-License-Identifier: Apache-2.0
// PTX as text: how it is recognized and closed, and what is refused.
#include <gmock/gmock.h>

#include "form_inputs.hpp"

using namespace fatlink;

namespace {

std::string const k_head = ".version 9.0\n.target sm_75\n.address_size 64\n";

fatbin read(std::string const& text)
{
  return input::from_bytes(fixtures::to_bytes(text), "t.ptx").modules().at(0);
}

void expect_corrupt_ptx(std::string const& text, std::string const& says)
{
  expect_refused([&] { (void)read(text); }, error_code::corrupt_ptx, says);
}

std::string target_of(std::string const& statement)
{
  auto const module = read(".version 9.0\n.target " + statement + "\n.address_size 64");
  return module.entries().at(0).target.name();
}

}  // namespace

TEST(PtxText, StatesVersionAndTargetOfEveryCompiler)
{
  for (auto const* name : {"transform.ptx", "nvrtc.ptx"}) {
    auto const module = read(fixtures::text_of(name));
    auto const& ptx = module.entries().at(0);
    EXPECT_EQ(ptx.version_major, 9) << name;
    EXPECT_EQ(ptx.version_minor, 0) << name;
    EXPECT_EQ(ptx.target, target("sm_75")) << name;
  }
}

TEST(PtxText, DropsNulsAtTheEndOnly)
{
  auto const module = read(k_head + std::string(3, '\0'));
  EXPECT_EQ(read_ptx(module.entries().at(0)), k_head);
}

TEST(PtxText, MayHaveCommentsAnywhereInItsHead)
{
  auto const module = read(
      "// Generated\n/* .version 1.0\n */ .version /* */ 8.7 // \xC3\xBC \xE2\x82\xAC "
      "\xF0\x9F\x98\x80\n"
      "\t.target sm_90\r\n\v\f.address_size 64");
  EXPECT_EQ(module.entries().at(0).version_minor, 7);
}

TEST(PtxText, ReadsTheSuffixAndIgnoresTheOptionsOfItsTarget)
{
  EXPECT_EQ(target_of("sm_90a"), "sm_90a");
  EXPECT_EQ(target_of("sm_100f"), "sm_100f");
  EXPECT_EQ(target_of("sm_120, debug, texmode_independent"), "sm_120");
  EXPECT_EQ(target_of("sm_35"), "sm_35");
}

TEST(PtxText, RefusesAMissingOrMisspelledVersion)
{
  expect_refused([] { (void)read(""); }, error_code::empty_input, "t.ptx: the file is empty");
  expect_refused([] { (void)read("// nothing\n"); }, error_code::unknown_form, "t.ptx: is ");
  expect_corrupt_ptx("\n.target sm_75\n", "has '.target' where .version must be (line 2)");
  for (auto const* version : {"9", "nine", "9.x", "9.99999", ""})
    expect_corrupt_ptx(std::string(".version ") + version + "\n.target sm_75",
                       "has '" + std::string(*version == '\0' ? ".target" : version) +
                           "' where a version must be");
}

TEST(PtxText, RefusesAMissingOrMisspelledTarget)
{
  expect_corrupt_ptx(".version 9.0\n.address_size 64", "has '.address_size' where .target must be");
  for (auto const* target : {"compute_75", "sm_", "sm_a", "sm_9x", "sm_9", "sm_1000", "90"})
    expect_corrupt_ptx(std::string(".version 9.0 .target ") + target,
                       "where a target must be (line 1)");
  expect_corrupt_ptx(".version 9.0 .target sm_75, .address_size 64",
                     "has '.address_size' where a target must be");
}

TEST(PtxText, RefusesAddressesThatHaveNot64Bits)
{
  expect_corrupt_ptx(".version 9.0\n.target sm_75\n", "has no .address_size 64 after .target");
  expect_corrupt_ptx(".version 9.0\n.target sm_75\n.visible", "has no .address_size 64");
  expect_corrupt_ptx(".version 9.0\n.target sm_75\n.address_size 32\n",
                     "has .address_size '32', not 64 (line 3)");
}

TEST(PtxText, RefusesControlCharacters)
{
  expect_corrupt_ptx(k_head + std::string("a\0b", 3), "has a NUL before its end (line 4)");
  expect_corrupt_ptx(k_head + "\x01", "has the control character 0x01 (line 4)");
  expect_corrupt_ptx(k_head + "\x7F", "has the control character 0x7f");
}

TEST(PtxText, RefusesWhatIsNotUtf8)
{
  for (auto const* bytes : {"\xFF", "\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                            "\xF4\x90\x80\x80", "\xE2\x82", "\xE2x"})
    expect_corrupt_ptx(k_head + "// " + bytes, "has bytes that are not UTF-8 (line 4)");
}

TEST(PtxText, RefusesEveryTruncationOfItsHead)
{
  auto const text = fixtures::text_of("transform.ptx");
  auto const end = text.find("64", text.find(".address_size")) + 2;
  for (std::size_t size = 0; size < end; ++size)
    EXPECT_THROW((void)read(text.substr(0, size)), format_error) << size;
}

namespace {

/// `text` after a head of three lines is PTX text.
void expect_ptx(std::string const& text)
{
  EXPECT_NO_THROW((void)read(k_head + text)) << text;
}

void expect_corrupt_body(std::string const& text, std::string const& says)
{
  expect_corrupt_ptx(k_head + text, says);
}

}  // namespace

TEST(PtxBody, AcceptsEveryDirectiveOfAModule)
{
  expect_ptx("");
  expect_ptx(";\n");
  expect_ptx(".file 1 \"a b.cu\", 12, 13\n.file 2 \"b.cu\"");
  expect_ptx(".extern .shared .align 16 .b8 memory[];\n.global .texref t;");
  expect_ptx(
      ".visible .const .align 4 .f32 x[2] = {0f3F800000, -1.5};\n.global .u64 p = generic(x);");
  expect_ptx(".global .align 8 .u64 table[2][1] = {{f}, {0xFF(g)}};");
  expect_ptx(".pragma \"nounroll\";\n.alias f, g;");
  expect_ptx(".extern .func (.param .b32 r) vprintf\n(\n.param .b64 a,\n.param .b64 b\n)\n;");
  expect_ptx(".weak .func f () .noreturn { trap; }");
  expect_ptx(".func .attribute(.unified(0x1, 0x2)) f () { ret; }");
  expect_ptx(".entry k () .pragma \"nounroll\"; { ret; }");
  expect_ptx(".section .debug_abbrev\n{\n.b8 1\n$L: .b32 .debug_str+1\n}\n");
  expect_ptx(".directive_of_a_later_version 1, x;");
  expect_ptx(
      "@@DWARF .section .debug_info, \"\", @progbits\n@@DWARF .byte 0x01 }\n.func f () { ret; }");
}

TEST(PtxBody, AcceptsEveryStatementOfAFunction)
{
  auto const body = [](std::string const& statements) {
    expect_ptx(".visible .entry k ()\n.maxntid 128, 1, 1\n.minnctapersm 2\n{\n" + statements +
               "\n}\n");
  };
  body("");
  body(";;");
  body(".reg .b32 %r<4>; .local .align 8 .b8 depot[16];");
  body(".loc 1 2 3, function_name $L__info_string0+4, inlined_at 1 4 5\nret;");
  body(".loc 1 2 3\n{ // callseq 0, 0\n.param .b32 p;\n}");
  body(".loc 1 2 3\n}\n.func f () {");
  body("$L__BB0_1:\n@!%p1 bra.uni $L__BB0_1;\n.pragma \"nounroll\";");
  body("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+-16];\nst.v2.u32 [a], {1, _};");
  body(
      "p_0 : .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;\ncall (r), %rd1, (a), "
      "p_0;");
  body("$L_2: .branchtargets $L_3, $L_4;\nbrx.idx %r1, $L_2;");
  body("mov.u32 %r1, (1 < 2) ? ~3 : (4 & 5 | 6 ^ 7) % 8 / 9 << 1;");
  body("{ { ret; } }");
  body("setp.eq.s32 %p1|%p2, %r1, !%p3;\n#line 3 \"a.cu\"\nret;");
}

TEST(PtxBody, IsTheBodyOfPtxThatNvccAndOthersMake)
{
  for (auto const* name : {"transform.ptx", "nvrtc.ptx"})
    EXPECT_NO_THROW((void)read(fixtures::text_of(name))) << name;
  for (auto const* name : {"library.fatbin", "transform.fatbin", "several.fatbin", "fast.fatbin",
                           "uncontracted.fatbin", "toolkits/cuda_12.9.fatbin",
                           "toolkits/cuda_13.0.fatbin", "toolkits/cuda_13.5.fatbin"}) {
    auto const module = fixtures::fatbin(name);
    for (auto const& entry : module.entries())
      if (entry.kind == entry_kind::ptx) {
        EXPECT_NO_THROW((void)read(read_ptx(entry, name))) << name;
      }
  }
}

TEST(PtxBody, RefusesBytesThatAreNoToken)
{
  expect_corrupt_body("\\", "has '\\', which is not a token (line 4)");
  expect_corrupt_body(".func f ()\n{\nret; `}", "has '`', which is not a token (line 6)");
  expect_corrupt_body(".file 1 \"a.cu\n", "has '\"a.cu ', which is not a token (line 4)");
  expect_corrupt_body("\n.", "has '.', which is not a token (line 5)");
  expect_corrupt_body("\n\xC3\xBC", "which is not a token (line 5)");
}

TEST(PtxBody, RefusesTextThatIsNoDirectiveAtModuleLevel)
{
  expect_corrupt_body("garbage", "has 'garbage' where a directive must be (line 4)");
  expect_corrupt_body(".func f () { ret; }\n12", "has '12' where a directive must be (line 5)");
  expect_corrupt_body("ret;", "has 'ret' where a directive must be (line 4)");
}

TEST(PtxBody, RefusesTextInABlockThatIsNoStatement)
{
  expect_corrupt_body(".func f () {\n12 ret; }", "has '12' where a statement must be (line 5)");
  expect_corrupt_body(".func f () {\nthese are words\n}", "has '}' inside a statement (line 6)");
  expect_corrupt_body(".func f () { mov {a; b}; }", "has ';' between the braces of an operand");
}

TEST(PtxBody, RefusesBracesWithoutCounterpart)
{
  expect_corrupt_body("}", "has '}' without '{' (line 4)");
  expect_corrupt_body(".func f () { ret; }\n}", "has '}' without '{' (line 5)");
  expect_corrupt_body(".func f }", "has '}' without '{' (line 4)");
  expect_corrupt_body(".func f ()\n{", "ends inside a block (line 5)");
  expect_corrupt_body(".func f () { { ret; }", "ends inside a block");
  expect_corrupt_body(".section .debug_info { .b8 1", "ends inside a block");
  expect_corrupt_body(".global .b8 a[1] = {1 };}", "has '}' without '{'");
}

TEST(PtxBody, RefusesAnEndInsideADirectiveOrStatement)
{
  expect_corrupt_body(".func f ()", "ends inside a directive (line 4)");
  expect_corrupt_body(".section .debug_info", "ends inside a directive");
  expect_corrupt_body(".global .b8 a = 1", "ends inside a statement");
  expect_corrupt_body(".func f () { ret", "ends inside a statement");
}

TEST(PtxBody, NeedsNoStackForDeepBlocks)
{
  auto const deep = std::string(1 << 20, '{');
  expect_corrupt_body(".func f () " + deep, "ends inside a block");
}
