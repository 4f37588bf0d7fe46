// SPDX-License-Identifier: Apache-2.0
// What exceeds a limit is refused by an error that names the limit.
#include <gmock/gmock.h>

#include "ar_archive.hpp"
#include "expect_error.hpp"
#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/ptx_interface.hpp"
#include "fixtures.hpp"
#include "interpreter/machine.hpp"
#include "test_scale.hpp"
#include "util/limits.hpp"

using namespace fatlink;

namespace {

constexpr char k_long[] = "takes seconds; part 5 of the long tests runs it";

std::string const k_version = ".version 9.0\n.target sm_75\n.address_size 64\n";

/// A fatbin of one PTX entry.
fatbin ptx_fatbin(std::string const& text, std::string const& name)
{
  return input::from_bytes(fixtures::to_bytes(k_version + text), name).modules().front();
}

void expect_above_limit(std::string const& ptx, std::string const& text)
{
  try {
    (void)read_ptx_interface(k_version + ptx, "f");
    ADD_FAILURE() << "no error; expected " << text;
  } catch (file_error const& failed) {
    EXPECT_EQ(failed.details().code, "above-limit");
    EXPECT_THAT(failed.what(), testing::HasSubstr(text));
    EXPECT_THAT(failed.details().hint, testing::HasSubstr("split the source"));
  }
}

std::string repeated(std::string const& text, std::size_t count)
{
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

/// Loads `ptx` on the reference device.
void load_on_device(std::string const& ptx)
{
  auto const text = k_version + ptx;
  interpreter::module_text const module{text, "f"};
  interpreter::program const loaded(std::make_shared<interpreter::memory>(), {&module, 1});
}

/// What the reference device says where it loads `ptx`.
void expect_refused_by_device(std::string const& ptx, std::string const& feature)
{
  try {
    load_on_device(ptx);
    ADD_FAILURE() << "no error; expected " << feature;
  } catch (interpreter::code_error const& failed) {
    EXPECT_EQ(failed.kind(), interpreter::error_kind::refused);
    EXPECT_THAT(failed.what(),
                testing::HasSubstr("the reference device does not support " + feature));
  }
}

void put_bytes(byte_buffer& bytes, std::size_t offset, std::uint64_t value, unsigned count)
{
  for (unsigned i = 0; i < count; ++i)
    bytes[offset + i] = static_cast<std::byte>(value >> 8U * i & 0xFFU);
}

/// A container of `count` PTX entries, each with a header of `header` bytes that state
/// `uncompressed` bytes, an ident of all bytes after the first 64, and a payload of 8 bytes.
byte_buffer fatbin_of(std::size_t count, std::size_t header, std::uint64_t uncompressed)
{
  byte_buffer bytes(16 + count * (header + 8));
  put_bytes(bytes, 0, 0x0010'0001'BA55'ED50, 8);
  put_bytes(bytes, 8, count * (header + 8), 8);
  for (std::size_t i = 0; i < count; ++i) {
    auto const at = 16 + i * (header + 8);
    put_bytes(bytes, at, 0x0101'0001 | std::uint64_t{header} << 32U, 8);
    put_bytes(bytes, at + 0x08, 8, 8);
    put_bytes(bytes, at + 0x10, 8, 4);
    put_bytes(bytes, at + 0x1C, 75, 4);
    put_bytes(bytes, at + 0x20, 64 | std::uint64_t{header - 64} << 32U, 8);
    put_bytes(bytes, at + 0x28, 0x8011, 8);
    put_bytes(bytes, at + 0x38, uncompressed, 8);
  }
  return bytes;
}

void expect_fatbin_above_limit(byte_buffer const& bytes, std::string const& text)
{
  try {
    (void)read_fatbin(bytes, "f");
    ADD_FAILURE() << "no error; expected " << text;
  } catch (format_error const& failed) {
    EXPECT_EQ(failed.details().code, "above-limit");
    EXPECT_THAT(failed.what(), testing::StartsWith("f: " + text));
    EXPECT_FALSE(failed.details().hint.empty());
  }
}

}  // namespace

TEST(Limits, OfAFatbin)
{
  EXPECT_EQ(read_fatbin(fatbin_of(4096, 64, 8)).size(), 4096U);
  expect_fatbin_above_limit(fatbin_of(4097, 64, 8), "holds more than 4096 entries, the limit");
  EXPECT_EQ(read_fatbin(fatbin_of(1, 64 + 65536, 8)).size(), 1U);
  expect_fatbin_above_limit(fatbin_of(1, 64 + 65544, 8),
                            "ident of 65544 bytes, above 64 KiB, the limit");
  EXPECT_EQ(read_fatbin(fatbin_of(4, 64, 256 << 20U)).size(), 4U);
  expect_fatbin_above_limit(
      fatbin_of(1, 64, (256 << 20U) + 1),
      "an entry of 256 MiB once decompressed, above 256 MiB, the limit for one entry");
  expect_fatbin_above_limit(fatbin_of(5, 64, 256 << 20U),
                            "its entries are above 1 GiB once decompressed, the limit");
}

TEST(Limits, OfThePtxThatIsRead)
{
  expect_above_limit(".extern .func " + std::string(16385, 'a') + ";\n",
                     "has a name of 16385 bytes, above 16384, the limit (line 4)");
  EXPECT_NO_THROW((void)read_ptx_interface(
      k_version + ".extern .func " + std::string(16384, 'a') + ";\n", "f"));
  expect_above_limit(".extern .func f (.param ." + std::string(33, 'b') + " p);\n",
                     "has a type whose name has 33 bytes, above 32, the limit");
  expect_above_limit(".visible .global " + repeated(".v4", 20) + " v;\n",
                     "has a type whose name has 35 bytes, above 32, the limit");
  expect_above_limit(".extern .func f (" + repeated(".param .b32 p,", 4096) + ".param .b32 p);\n",
                     "has a function of more than 4096 parameters, the limit");
  expect_above_limit(repeated(".visible .func f{}\n", 1 + (1 << 20)),
                     "declares and calls more than 1048576 functions, parameters and variables");
  expect_above_limit(".visible .func f{ " + repeated(",", 1 + (1 << 20)) + ";}\n",
                     "has a statement of more than 1048576 words, the limit");
  std::string calls = ".visible .func f{";
  for (int i = 0; i <= 1 << 20; ++i) calls += "call g" + std::to_string(i) + ";";
  expect_above_limit(calls + "}\n", "declares and calls more than 1048576 functions");
}

/// Alike: of the modules of an input, in the long tests.
TEST(Limits, OfAllPtxEntriesOfAFatbinTogether)
{
  auto const text = k_version + repeated(".visible .func f{}\n", 900'000);
  byte_buffer bytes(16);
  auto const part = input::from_bytes(fixtures::to_bytes(text), "f").modules().front();
  for (int i = 0; i < 5; ++i)
    bytes.insert(bytes.end(), part.bytes().begin() + 16, part.bytes().end());
  put_bytes(bytes, 0, 0x0010'0001'BA55'ED50, 8);
  put_bytes(bytes, 8, bytes.size() - 16, 8);
  auto const file = fatbin::from_bytes(std::move(bytes), "f");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(file.interface(file.entries()[static_cast<std::size_t>(i)]).definitions.size(),
              900'000U);
  expect_error<format_error>([&] { (void)file.interface(file.entries()[4]); },
                             "declare more than 4194304 functions, parameters and variables");
}

TEST(Limits, OfAllModulesOfAnInputTogether)
{
  if (fixtures::scaled(1) == 1) GTEST_SKIP() << k_long;
  auto const text = k_version + repeated(".visible .func f{}\n", 900'000);
  fixtures::ar_archive archive;
  for (int i = 0; i < 5; ++i) archive.member("m" + std::to_string(i) + "/", text);
  auto const file = input::from_bytes(archive.bytes(), "l.a");
  auto const declarations = [&](std::size_t index) {
    auto const& module = file.modules()[index];
    return module.interface(module.entries()[0]).definitions.size();
  };
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(declarations(i), 900'000U);
  expect_error<format_error>([&] { (void)declarations(4); },
                             "l.a(m4): the modules of its input declare more than 4194304 "
                             "functions, parameters and variables together, the limit");
}

TEST(Limits, OfFindingsOfOneId)
{
  std::string hooks;
  std::string calls;
  std::string definitions;
  for (int i = 0; i < 3000; ++i) {
    hooks += ".extern .func hook_" + std::to_string(i) + ";\n";
    calls += "call hook_" + std::to_string(i) + ";\n";
    definitions += ".visible .func other_" + std::to_string(i) + "\n{\nret;\n}\n";
  }
  std::vector const inputs{
      ptx_fatbin(hooks + ".visible .entry k()\n{\n" + calls + "ret;\n}\n", "library"),
      ptx_fatbin(definitions, "transform")};
  auto findings = preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx});
  std::erase_if(findings,
                [](finding const& known) { return known.id != finding_id::missing_hook; });
  ASSERT_EQ(findings.size(), 1001U);
  EXPECT_EQ(findings[999].symbol, "hook_999");
  EXPECT_EQ(findings[1000].symbol, "");
  EXPECT_EQ(findings[1000].severity, severity::error);
  EXPECT_EQ(findings[1000].files, std::vector<std::string>{"library"});
  EXPECT_EQ(findings[1000].message,
            "library: 2000 more findings of this kind; the first 1000 are listed");
}

TEST(Limits, OfNamesThatAMessageLists)
{
  std::string kernels;
  for (int i = 0; i < 30; ++i)
    kernels += ".visible .entry k" + std::to_string(i) + "()\n{\nret;\n}\n";
  std::vector const inputs{ptx_fatbin(kernels, "library")};
  auto const findings =
      preflight(inputs, {.target = "sm_90", .mode = link_mode::ptx, .kernels = {"none"}});
  ASSERT_EQ(findings.at(0).id, finding_id::unknown_kernel);
  EXPECT_THAT(findings[0].hint, testing::EndsWith("k18, k19 and 10 more"));
}

TEST(Limits, OfJsonNesting)
{
  auto const nested = [](std::size_t depth) {
    return R"({"a [\" {[": )" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  fixtures::folder const folder;
  auto const file =
      folder.write("f.fatbin", fixtures::to_text(fixtures::bytes("transform.fatbin")));
  auto const read_with = [&](std::string const& sidecar) {
    folder.write("f.json", sidecar);
    return fatbin::read(file);
  };
  EXPECT_NO_THROW((void)read_with(nested(64)));
  expect_error<file_error>([&] { (void)read_with(nested(65)); },
                           "f.json: nests arrays and objects deeper than 64, the limit");
}

TEST(Limits, OfIdentNesting)
{
  std::string const ident = "eyJmYXRsaW5rIjoxLCJhIjpbXX0=";  // {"fatlink":1,"a":[]}
  EXPECT_TRUE(parse_ident(ident));
  std::string deep = "W1tb";  // [[[
  for (int i = 0; i < 5; ++i) deep += deep;
  // {"fatlink":1,"a":[[[…]]]}
  EXPECT_TRUE(parse_ident("eyJmYXRsaW5rIjoxLCJhIjpb" + std::string("W1tb") + "XV1d" + "XSB9"));
  EXPECT_FALSE(parse_ident("eyJmYXRsaW5rIjoxLCJhIjpb" + deep + repeated("XV1d", 32) + "XSB9"));
}

TEST(Limits, OfDemangledTypes)
{
  EXPECT_EQ(hook_declaration("h", "FvPKfS0_S0_S0_S0_S0_S0_S0_S0_S0_E").substr(0, 24),
            "void h(float const*, flo");
  auto const nested = [](std::string const& indices) {
    std::string type = "FvvE";
    for (char const index : indices) {
      auto const earlier = std::string("S") + index + '_';
      type = "FvP" + type + earlier + earlier + earlier + 'E';
    }
    return type;
  };
  EXPECT_EQ(hook_declaration("h", nested("024")).substr(0, 24), "void h(void (*)(void (*)");
  EXPECT_EQ(hook_declaration("h", nested("02468A")), "h: " + nested("02468A"));
  auto const doubled =
      std::string("FvPFvPFvPFvPFvPFvPFvPFvPFvvES0_S0_ES2_S2_ES4_S4_ES6_S6_ES8_S8_E") +
      "SA_SA_ESC_SC_ESE_SE_E";  // 16 references, 98 KB of text
  EXPECT_EQ(hook_declaration("h", doubled), "h: " + doubled);
}

TEST(Limits, OfPtxOnTheReferenceDevice)
{
  auto const initialiser = [](std::size_t depth) {
    return ".global .b8 a[4] = " + std::string(depth, '{') + "1" + std::string(depth, '}') + ";\n";
  };
  EXPECT_NO_THROW(load_on_device(initialiser(32)));
  expect_refused_by_device(initialiser(33), "initialisers with braces nested deeper than 32");
  expect_refused_by_device(initialiser(200'000), "initialisers with braces nested deeper than 32");
  auto const body = [](std::size_t depth) {
    return ".entry k()\n{" + std::string(depth, '{') + std::string(depth, '}') + "ret;}\n";
  };
  EXPECT_NO_THROW(load_on_device(body(63)));
  expect_refused_by_device(body(64), "bodies with braces nested deeper than 64");
  expect_refused_by_device(".global .b8 a[1073741824];\n.const .b8 b[1];\n",
                           "more than 1 GiB of .global and .const variables in a module");
}

TEST(Limits, OfTheTokensOfPtxOnTheReferenceDevice)
{
  if (fixtures::scaled(1) == 1) GTEST_SKIP() << k_long;
  expect_refused_by_device(".global .b8 a[3] = {" + repeated("0,", (1 << 23) + 10) + "};\n",
                           "PTX of more than 16777216 tokens");
}

TEST(Limits, OfLocalMemoryOfAThread)
{
  auto const text = k_version + ".entry k()\n{\n.local .b8 a[524289];\nret;\n}\n";
  interpreter::module_text const module{text, "f"};
  interpreter::program loaded(std::make_shared<interpreter::memory>(), {&module, 1});
  try {
    (void)loaded.find("k");
    ADD_FAILURE() << "no error";
  } catch (interpreter::code_error const& failed) {
    EXPECT_THAT(failed.what(), testing::HasSubstr("more than 512 KiB of local memory"));
    EXPECT_EQ(failed.hint(), "make the arrays of its functions smaller; no GPU has more");
  }
}

TEST(Limits, OfTheRegistersOfAThread)
{
  auto const kernel = [](int count) {
    auto text = k_version + ".entry k()\n{\n.reg .b64 %d<" + std::to_string(count) + ">;\n";
    for (int i = 0; i < count; ++i) text += "mov.u64 %d" + std::to_string(i) + ", 0;\n";
    return text + "ret;\n}\n";
  };
  auto const load = [](std::string const& text) {
    interpreter::module_text const module{text, "f"};
    interpreter::program loaded(std::make_shared<interpreter::memory>(), {&module, 1});
    (void)loaded.find("k");
  };
  EXPECT_NO_THROW(load(kernel(131'000)));
  try {
    load(kernel(131'100));
    ADD_FAILURE() << "no error";
  } catch (interpreter::code_error const& failed) {
    EXPECT_THAT(failed.what(), testing::HasSubstr("more than 1 MiB of registers, the limit of a"));
    EXPECT_THAT(failed.hint(), testing::HasSubstr("split the function"));
  }
}
