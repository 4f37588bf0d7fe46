// SPDX-License-Identifier: Apache-2.0
// The reader of conformance cases takes what their README describes, and names the line of what it
// does not take.
#include <gmock/gmock.h>

#include "conformance/buffers.hpp"
#include "conformance/reader.hpp"

namespace conformance {
namespace {

case_list read(std::string const& text)
{
  return reader("a", text).read();
}

void expect_bad(std::string const& text, std::string const& message)
{
  try {
    (void)read(text);
    ADD_FAILURE() << "is taken: " << text;
  } catch (bad_text const& why) {
    EXPECT_EQ(std::string(why.what()), "a.cases:" + message);
  }
}

/// The bits of `text` as a value of `type`.
std::uint64_t bits(char const* type, std::string const& text)
{
  return bits_of(find_type(type), parse_value(find_type(type), text))[0];
}

bool matches(std::string const& type, std::uint64_t actual, std::string const& expected)
{
  auto const cases = read("case a () -> (d:" + type + ")\n x;\n -> " + expected + "\n");
  auto const& output = cases[0].outputs[0];
  return is_as_expected(*output.type, {actual, 0}, cases[0].rows[0].results[0], output.allowed);
}

}  // namespace

TEST(ConformanceReader, ReadsAnInstructionWithItsRows)
{
  auto const cases = read(
      "# comment\ntarget sm_80\ncase add.s32 (a:s32, b:s32) -> (d:s32)\n  add.s32 d, a, b;\n"
      "  1 -2 -> -1\n  0xffffffff 1 -> 0\n");
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].name, "add.s32");
  EXPECT_EQ(cases[0].target, "sm_80");
  EXPECT_EQ(cases[0].code, "add.s32 d, a, b;\n");
  ASSERT_EQ(cases[0].rows.size(), 2U);
  EXPECT_EQ(cases[0].rows[1].line, 6U);
  EXPECT_EQ(cases[0].rows[0].operands[1][0].bits, 0xFFFF'FFFEU);
}

TEST(ConformanceReader, ReadsInstructionsOnTheFirstLine)
{
  auto const cases = read("case (a:u32) -> (d:u32): neg.s32 d, a;\n 1 -> -1\n");
  EXPECT_EQ(cases.at(0).name, "neg.s32");
  EXPECT_EQ(cases.at(0).code, "neg.s32 d, a;\n");
  EXPECT_EQ(read("case n () -> (d:u32): x;\n -> 1\n").at(0).name, "n");
}

TEST(ConformanceReader, ReadsATable)
{
  auto const cases = read(
      "table (a:u32, b:u32)\ntarget sm_80\nmodule .global .b32 m;\n w;\n <column>\n z;\n"
      "column A -> (d:u32): add.u32 d, a, b;\ncolumn B twice -> (d:u32, p:pred)\n x;\n y;\n"
      "rows a b -> A | B\n 1 2 -> 3 | 4 0\n 5 6 -> * 7 1\ncase c () -> (d:u32): x;\n -> 1\n");
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0].name, "add.u32");
  EXPECT_EQ(cases[0].code, "w;\nadd.u32 d, a, b;\nz;\n");
  EXPECT_EQ(cases[1].name, "twice");
  EXPECT_EQ(cases[1].code, "w;\nx;\ny;\nz;\n");
  for (auto const& column : {cases[0], cases[1]}) {
    EXPECT_EQ(column.target, "sm_80");
    EXPECT_EQ(column.declarations, ".global .b32 m;\n");
    ASSERT_EQ(column.rows.size(), 2U);
    EXPECT_EQ(column.rows[1].operands[1][0].bits, 6U);
    EXPECT_EQ(column.rows[1].line, 13U);
  }
  EXPECT_TRUE(cases[0].rows[1].results[0][0].is_any);
  EXPECT_EQ(cases[1].rows[0].results[0][0].bits, 4U);
  EXPECT_EQ(cases[1].rows[1].results[1][0].bits, 1U);
  EXPECT_EQ(cases[2].target, "sm_75");
}

TEST(ConformanceReader, ReadsTheObjectsOfATable)
{
  auto const cases = read(
      "table ()\n surface s 1d 1 u32: 1 -> 2\ncolumn A a -> (): x;\ncolumn B b -> (): y;\n"
      "rows -> A B\n ->\n");
  EXPECT_EQ(cases.at(1).objects.at(0).results.at(0)[0].bits, 2U);
}

TEST(ConformanceReader, ReadsLinesThatContinue)
{
  auto const cases = read("case a (a:u32) \\\n  -> (d:u32)\n x;\n 1 \\\n   -> \\\n   2\n");
  EXPECT_EQ(cases.at(0).rows.at(0).results.at(0)[0].bits, 2U);
  EXPECT_EQ(cases.at(0).rows.at(0).line, 4U);
  expect_bad("case a (a:u32) \\\n -> (d:u32)\n x;\n 1 \\\n  2 -> 3\n",
             "4: the row has 2 values where the case has 1");
}

TEST(ConformanceReader, NamesTheLineOfATableThatItDoesNotTake)
{
  std::string const head = "table (a:u32)\n";
  auto const column = head + "column A x -> (d:u32): x;\n";
  auto const rows = column + "rows a -> A\n";
  expect_bad("table a\n", "1: a table is written: table (a:u32, …)");
  expect_bad(head + "column A x (d:u32)\n",
             "2: a column is written: column LABEL [NAME] -> (d:u32, …)");
  expect_bad(head + "column A -> (d:u32)\n",
             "2: the case has no name, and no instruction that names it");
  expect_bad(column + "column A y -> (d:u32): x;\n", "3: there are two columns 'A'");
  expect_bad(column + "column B x -> (d:u32): x;\n", "3: there are two cases 'x'");
  expect_bad(column + "1 -> 1\n", "3: the rows of a table stand after its line 'rows'");
  expect_bad(column + "rows -> A\n", "3: the rows of this table are written: rows a -> A");
  expect_bad(column + "rows a -> B\n", "3: the rows of this table are written: rows a -> A");
  expect_bad(column + "message no\n", "3: a table has results, not the message of a failure");
  expect_bad(rows + "1 1\n", "4: a row has a ->");
  expect_bad(rows + "1 -> 1 1\n", "4: the row has 2 values where the case has 1");
  expect_bad(rows + "1 -> | 1\n", "4: the row has 2 values where the case has 1");
  expect_bad(rows + "1 -> 1 |\n", "4: the row has 2 values where the case has 1");
  expect_bad(rows + "y;\n", "4: a row has a ->");
  expect_bad("column A x -> (d:u32): x;\n", "1: there is no case before this line");
  expect_bad("case a () -> (d:u32): x;\ncolumn A x -> (d:u32): x;\n",
             "2: there is no table before this line");
}

TEST(ConformanceReader, NamesTheTableThatIsNotComplete)
{
  std::string const head = "table (a:u32)\n";
  expect_bad(head, "1: the table has no rows");
  expect_bad(head + "rows a ->\n", "2: the table has no column");
  expect_bad(head + "column A x -> (d:u32): x;\ncase a () -> ()\n", "3: the table has no rows");
  expect_bad(head + "column A x -> (d:u32)\nrows a -> A\n", "3: the case 'x' has no instructions");
  expect_bad(head + "w;\ncolumn A x -> (d:u32): x;\nrows a -> A\n",
             "4: the instructions of a table have a line <column>");
  expect_bad(head + "<column>\n<column>\n", "3: the table has two lines <column>");
  expect_bad(head + "column A x -> (d:u32): x;\nrows a -> A\n",
             "3: the case 'x' needs results or the message of a failure, and not both");
  std::string const object = "surface s 1d 1 u32: 1\n";
  expect_bad(head + "column A x -> (d:u32): x;\n" + object,
             "3: the objects of a table stand before its columns");
  expect_bad(head + object + "column A x -> (s:u32): x;\n",
             "3: the case has two operands or objects 's'");
}

TEST(ConformanceReader, ReadsATexture)
{
  auto const cases = read(
      "case a () -> (d:u32)\n texture t 2d 3x2 x2 wrap,border linear normalized as-floats gather "
      "border=1,2 u8: 1 2 3 4 5 6 7 8 9 10 11 12\n x;\n -> 1\n");
  auto const& object = cases[0].objects[0];
  EXPECT_EQ(object.name, "t");
  EXPECT_EQ(object.format, (fatlink::texel_format{fatlink::channel_type::u8, 2}));
  EXPECT_EQ(object.shape, (fatlink::array_shape{.width = 3, .height = 2, .allows_gather = true}));
  EXPECT_EQ(object.options.address[0], fatlink::address_mode::wrap);
  EXPECT_EQ(object.options.address[2], fatlink::address_mode::border);
  EXPECT_EQ(object.options.filter, fatlink::filter_mode::linear);
  EXPECT_TRUE(object.options.has_normalized_coordinates && object.options.reads_normalized);
  EXPECT_EQ(object.options.border, (std::array{1.0F, 2.0F, 0.0F, 0.0F}));
  EXPECT_EQ(object.channels.size(), 12U);
}

TEST(ConformanceReader, ReadsASurfaceAndItsTexelsAfterTheKernel)
{
  auto const cases =
      read("case a () -> ()\n surface s cube 1 s32: 1 2 3 4 5 6 -> 6 5 4 3 2 1\n x;\n ->\n");
  auto const& object = cases[0].objects[0];
  EXPECT_TRUE(object.is_surface && object.shape.is_cubemap && object.shape.allows_surface);
  EXPECT_EQ(object.results[0][0].bits, 6U);
}

TEST(ConformanceReader, NamesALineOfAnObjectThatItDoesNotUnderstand)
{
  std::string const head = "case a () -> ()\n texture ";
  expect_bad(head + "t 1d 4", "2: an object is written: NAME … TYPE: VALUE…");
  expect_bad(head + "t 1d: 1", "2: an object has a name, a geometry, a size and a type");
  expect_bad(head + "t 4d 1 u8: 1", "2: '4d' is no geometry");
  expect_bad(head + "t 2d 4 u8: 1", "2: '4' is no size of '2d'");
  expect_bad(head + "t 1d 4 round u8: 1", "2: 'round' is no option of an object");
  expect_bad(head + "t 1d 4 b32: 1", "2: 'b32' is no type of a channel");
  expect_bad(head + "t 1d 4 u8: 1", "2: the object has 4 channels, and 1 values");
  expect_bad(head + "1t 1d 1 u8: 1", "2: '1t' is no name");
}

TEST(ConformanceReader, NamesAGeometryOrASizeOfAnObjectThatDoesNotExist)
{
  std::string const head = "case a () -> ()\n texture t ";
  for (auto const* const geometry : {"a3d", "amemory", "acubes", "a"})
    expect_bad(head + geometry + " 1x1x1x1 u8: 1",
               "2: '" + std::string(geometry) + "' is no geometry");
  for (auto const* const size : {"x4", "4x", "2xx2", "2x2x1", "0x2", "-1x2", "2x0x2", "02x2",
                                 "2.x2", "2x9999999999999999999"})
    expect_bad(head + "2d " + size + " u8: 1", "2: '" + std::string(size) + "' is no size of '2d'");
  expect_bad(
      head + "1d 131073 u8: 1",
      "2: an array's width of 131073 is more than the 131072 that CUDA allows for its shape");
}

TEST(ConformanceReader, NamesAnOptionOfAnObjectThatIsWrong)
{
  std::string const head = "case a () -> ()\n texture t 2d 1x1 ";
  for (auto const* const options :
       {"x2 x4", "x2 x2", "linear linear", "normalized normalized", "as-floats as-floats",
        "gather gather", "wrap clamp", "border border=1 border=2"}) {
    std::string const text = options;
    expect_bad(head + text + " u8: 1",
               "2: '" + text.substr(text.rfind(' ') + 1) + "': the option is stated twice");
  }
  for (auto const* const modes : {"wrap,clamp,wrap", "wrap,wrap,wrap,wrap"})
    expect_bad(head + modes + " u8: 1",
               "2: '" + std::string(modes) + "' is not one mode, or one for each axis of '2d'");
  expect_bad(head + ", u8: 1", "2: '' is no option of an object");
  expect_bad(head + "wrap, u8: 1", "2: '' is no option of an object");
  expect_bad(head + "border border= f32: 1", "2: '' is no number of type f32");
  expect_bad(head + "border border=1,x f32: 1", "2: 'x' is no number of type f32");
  expect_bad(head + "border border=1,,2 f32: 1", "2: '' is no number of type f32");
  expect_bad(head + "border border=* f32: 1", "2: a channel cannot be *");
  expect_bad(head + "border border=1,2,3,4,5 f32: 1",
             "2: '1,2,3,4,5' is no color of 1 to 4 numbers");
  expect_bad(head + "wrap border=1 f32: 1", "2: a border color needs the address mode border");
}

TEST(ConformanceReader, NamesASurfaceThatIsNone)
{
  std::string const head = "case a () -> ()\n surface s ";
  for (auto const* const option : {"linear", "normalized", "as-floats", "gather", "wrap"})
    expect_bad(head + "1d 1 " + option + " u8: 1",
               "2: '" + std::string(option) + "' is no option of a surface");
  expect_bad(head + "memory 1 u8: 1", "2: a surface needs an array");
}

TEST(ConformanceReader, NamesAChannelOfAnObjectThatIsWrong)
{
  std::string const head = "case a () -> ()\n ";
  expect_bad(head + "texture t 1d 1 u8: *", "2: a channel cannot be *");
  expect_bad(head + "texture t 1d 1 u8: 256", "2: '256' is no number of type u8");
  expect_bad(head + "texture t 1d 1 u8: 1 -> 1",
             "2: kernels do not write textures: there is no -> VALUE…");
  expect_bad(head + "surface t 1d 1 u8: 1 -> *", "2: a channel cannot be *");
  expect_bad(head + "surface t 1d 1 u8: 1 ->", "2: the object has 1 channels, and 0 values");
  expect_bad(head + "surface t 1d 1 u8: 1 -> 1 -> 1", "2: '->' is no number of type u8");
  expect_bad(head + "surface t 1d 1 f32: 1 -> nan",
             "2: a channel after the kernel is not nan, but its bits");
}

TEST(ConformanceReader, NamesAnObjectThatHasTheNameOfAnother)
{
  std::string const object = " texture t 1d 1 u8: 1\n";
  auto const message = "the case has two operands or objects 't'";
  expect_bad("case a () -> ()\n" + object + object, "3: " + std::string(message));
  expect_bad("case a (t:u32) -> ()\n" + object, "2: " + std::string(message));
  expect_bad("case a () -> (t:u32)\n" + object, "2: " + std::string(message));
  expect_bad("case a () -> (d:u32)\n x;\n -> 1\n" + object, "4: objects stand before the rows");
}

TEST(ConformanceReader, KeepsTheBitsOfABorderColor)
{
  auto const cases = read(
      "case a () -> (d:u32)\n texture t 1d 1 border border=-0.0,0x7fc00123,nan f32: 1\n x;\n -> "
      "1\n");
  auto const& border = cases[0].objects[0].options.border;
  EXPECT_EQ(std::bit_cast<std::uint32_t>(border[0]), 0x8000'0000U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(border[1]), 0x7FC0'0123U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(border[2]), 0x7FFF'FFFFU);
}

TEST(ConformanceReader, ReadsAProgram)
{
  auto const cases = read(
      "program sum\ngrid 2\nblock 32 2\nshared 64\nin u32: 1 2*3 5..7\nout f32: "
      "1.5\nptx\nx\nend\n");
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].block[1], 2U);
  EXPECT_EQ(cases[0].input[0].values.size(), 7U);
  EXPECT_EQ(output_bytes(cases[0]), 4U);
  EXPECT_EQ(cases[0].code, "x\n");
}

TEST(ConformanceReader, ReadsARefusalAndAFault)
{
  auto const cases = read("case a () -> ()\nx;\nmessage does not execute\n");
  EXPECT_TRUE(cases.at(0).fails());
  EXPECT_FALSE(cases.at(0).is_fault);
  EXPECT_TRUE(read("case a () -> ()\nx;\nfault trap\n").at(0).is_fault);
}

TEST(ConformanceReader, ReadsNumbersOfEveryKind)
{
  EXPECT_EQ(bits("f32", "1.5"), 0x3FC0'0000U);
  EXPECT_EQ(bits("f32", "-0.0"), 0x8000'0000U);
  EXPECT_EQ(bits("f32", "0x7f800001"), 0x7F80'0001U);
  EXPECT_EQ(bits("f32", "0x1p-149"), 1U);
  EXPECT_EQ(bits("f64", "-inf"), 0xFFF0'0000'0000'0000U);
  EXPECT_EQ(bits("f16", "65504"), 0x7BFFU);
  EXPECT_EQ(bits("f16", "0x1p-24"), 1U);
  EXPECT_EQ(bits("f16", "0x1p-14"), 0x0400U);
  EXPECT_EQ(bits("bf16", "-2.0"), 0xC000U);
  EXPECT_EQ(bits("f16x2", "1.0|inf"), 0x7C00'3C00U);
  EXPECT_EQ(bits("s16x2", "-1|2"), 0x0002'FFFFU);
  EXPECT_EQ(bits("u8x4", "1|2|3|4"), 0x0403'0201U);
  EXPECT_EQ(bits("b128", "0x10000000000000002"), 2U);
}

TEST(ConformanceReader, ComparesAsTheCaseAllows)
{
  EXPECT_TRUE(matches("f32", 0x7FC0'0000, "nan"));
  EXPECT_FALSE(matches("f32", 0x7F80'0000, "nan"));
  EXPECT_TRUE(matches("f32~2ulp", 0x3F80'0002, "1.0"));
  EXPECT_FALSE(matches("f32~2ulp", 0x3F80'0003, "1.0"));
  EXPECT_TRUE(matches("f32~1ulp", 0x8000'0000, "0x1p-149"));
  EXPECT_TRUE(matches("f16~0.25", 0x3D00, "1.0"));
  EXPECT_FALSE(matches("f16~0.2", 0x3D00, "1.0"));
  EXPECT_TRUE(matches("f16x2", 0x7E00'3C00, "1.0|nan"));
  EXPECT_TRUE(matches("u16x2", 0x1234'0001, "1|*"));
}

TEST(ConformanceReader, NamesTheLineThatItDoesNotTake)
{
  expect_bad("\nx\n", "2: there is no case before this line");
  expect_bad("target 90\n", "1: '90' is no target");
  expect_bad("case a b\n", "1: a case is written: case NAME (a:u32, …) -> (d:u32, …)");
  expect_bad("program a () -> ()\n", "1: a program is written: program NAME");
  expect_bad("case a (b) -> ()\n", "1: 'b' has no type");
  expect_bad("case a (b:u33) -> ()\n", "1: there is no type 'u33'");
  expect_bad("case a () -> (d:u32~2ulp)\n", "1: '2ulp' is no tolerance");
  expect_bad("case a () -> (d:f32~x)\n", "1: 'x' is no tolerance");
  expect_bad("case a () -> (d:u32)\n x\n",
             "2: an instruction ends in a semicolon, and a row has a ->");
  expect_bad("case a () -> (d:u32)\n x;\n -> 1\n y;\n", "4: instructions stand before the rows");
}

TEST(ConformanceReader, NamesTheValueThatItDoesNotTake)
{
  std::string const header = "case a (a:u8) -> (d:f16)\nx;\n";
  expect_bad(header + "1 2 -> 1\n", "3: the row has 2 values where the case has 1");
  expect_bad(header + "256 -> 1\n", "3: '256' is no number of type u8");
  expect_bad(header + "-129 -> 1\n", "3: '-129' is no number of type u8");
  expect_bad(header + "* -> 1\n", "3: an operand cannot be *");
  expect_bad(header + "1 -> 0.1\n", "3: '0.1' is no number of type f16");
  expect_bad(header + "1 -> 1e9\n", "3: '1e9' is no number of type f16");
  expect_bad(header + "1 -> 1x\n", "3: '1x' is no number of type f16");
  std::string const packed = "case a () -> (d:f16x2)\nx;\n";
  expect_bad(packed + "-> 1|2|3\n", "3: '1|2|3' has not 2 elements");
  expect_bad(packed + "-> 0x3c00\n", "3: '0x3c00' needs 2 elements: a|b");
  expect_bad("case a (a:b128) -> ()\nx;\n0x1111111111111111111111111111111111 ->\n",
             "3: '0x1111111111111111111111111111111111' is no number of type b128");
}

TEST(ConformanceReader, NamesTheCaseThatIsNotComplete)
{
  expect_bad("case a () -> ()\n", "1: the case 'a' has no instructions");
  expect_bad("case a () -> ()\nsurface s 1d 1 u32: 1\nx;\n->\n",
             "4: the case 'a' has neither outputs nor texels to compare");
  expect_bad("case a () -> ()\nx;\ncase b () -> ()\n",
             "3: the case 'a' needs results or the message of a failure, and not both");
  expect_bad("case a () -> ()\nx;\n->\ncase a () -> ()\n", "4: there are two cases 'a'");
  expect_bad("program a\nptx\nx\n", "3: the program has no line 'end'");
  expect_bad("program a\nx 3\n", "2: 'x' is no line of a program");
  expect_bad("program a\ngrid 1 2 3 4\n", "2: an extent has one to three numbers");
  expect_bad("program a\nin u32 1\n", "2: values are written: TYPE: VALUE…");
  expect_bad("program a\nin u32: 3..1\n", "2: '3..1' is no range");
  expect_bad("program a\nin u32: 3*0\n", "2: '3*0' has no valid count");
}

}  // namespace conformance
