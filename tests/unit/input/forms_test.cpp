// SPDX-License-Identifier: Apache-2.0
// Inputs of every form, recognized by content: entries, digests, and what is refused.
#include <gmock/gmock.h>

#include <cstring>

#include "ar_archive.hpp"
#include "cubin_bytes.hpp"
#include "expect_error.hpp"
#include "fatlink/input.hpp"
#include "fatlink/preflight.hpp"
#include "fatlink/ptx_interface.hpp"
#include "form_inputs.hpp"
#include "util/bytes/sha256.hpp"

using namespace fatlink;
using fixtures::ar_archive;
using fixtures::expect_bad;
using fixtures::form;
using fixtures::text_of;
using fixtures::to_bytes;
using fixtures::to_text;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// "NAME: KIND TARGET VERSION" of each entry of each module.
std::vector<std::string> entries_of(input const& file)
{
  std::vector<std::string> list;
  for (auto const& module : file.modules())
    for (auto const& entry : module.entries())
      list.push_back(module.name() + ": " + to_string(entry.kind) + " " + entry.target.name() +
                     " " + std::to_string(entry.version_major) + "." +
                     std::to_string(entry.version_minor));
  return list;
}

}  // namespace

TEST(Input, HasANameForEachForm)
{
  EXPECT_STREQ(to_string(input_form::fatbin), "fatbin");
  EXPECT_STREQ(to_string(input_form::archive), "archive");
}

TEST(Input, OfAFatbinIsItself)
{
  auto const bytes = fixtures::bytes("transform.fatbin");
  auto const file = input::from_bytes(bytes, "transform.fatbin");
  EXPECT_EQ(file.form(), input_form::fatbin);
  EXPECT_TRUE(std::ranges::equal(file.bytes(), bytes));
  EXPECT_EQ(file.digest(), detail::sha256(bytes));
  EXPECT_THAT(entries_of(file),
              ElementsAre("transform.fatbin: ptx sm_75 9.0", "transform.fatbin: ltoir sm_75 1.65"));
}

TEST(Input, IsMadeOfAFatbinWithoutACast)
{
  auto const good = fixtures::verified("transform.fatbin");
  std::vector<input> const inputs{good};
  EXPECT_EQ(inputs[0].name(), "transform.fatbin");
  EXPECT_EQ(inputs[0].form(), input_form::fatbin);
  EXPECT_EQ(inputs[0].bytes().data(), good.bytes().data());
  EXPECT_TRUE(inputs[0].is_verified());
}

TEST(Input, OfAMovedFromFatbinOrInputHasNoValue)
{
  auto file = fixtures::fatbin("transform.fatbin");
  input moved{std::move(file)};
  EXPECT_FALSE(input(file).has_value());  // NOLINT(bugprone-use-after-move)
  auto const target = std::move(moved);
  EXPECT_FALSE(moved.has_value());  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(target.has_value());
}

TEST(Input, OfBarePtxIsOneModuleWithItsText)
{
  auto const file = form("nvrtc.ptx");
  EXPECT_EQ(file.form(), input_form::ptx);
  ASSERT_THAT(entries_of(file), ElementsAre("nvrtc.ptx: ptx sm_75 9.0"));
  auto const& module = file.modules()[0];
  EXPECT_EQ(read_ptx(module.entries()[0]) + '\0', text_of("nvrtc.ptx"));
  EXPECT_EQ(module.interface(module.entries()[0]).definitions.at(0).name, "user_transform");
  EXPECT_EQ(file.digest(), detail::sha256(fixtures::bytes("forms/nvrtc.ptx")));
}

TEST(Input, OfRawLtoirIsOneModuleWithoutFloatFlags)
{
  for (auto const* name : {"transform.ltoir", "nvrtc.ltoir", "libnvvm.ltoir"}) {
    auto const file = form(name);
    EXPECT_EQ(file.form(), input_form::ltoir);
    EXPECT_THAT(entries_of(file), ElementsAre(std::string(name) + ": ltoir sm_75 1.65"));
    EXPECT_EQ(file.modules()[0].entries()[0].options, "");
    EXPECT_TRUE(to_text(file.modules()[0].entries()[0].payload).starts_with(text_of(name)));
  }
  EXPECT_THAT(entries_of(form("specific.ltoir")), ElementsAre("specific.ltoir: ltoir sm_90a 1.65"));
}

TEST(Input, OfACubinIsOneModule)
{
  EXPECT_EQ(form("relocatable.cubin").form(), input_form::cubin);
  EXPECT_THAT(entries_of(form("relocatable.cubin")),
              ElementsAre(HasSubstr("relocatable.cubin: elf sm_90")));
  EXPECT_THAT(entries_of(form("whole_program.cubin")),
              ElementsAre(HasSubstr("whole_program.cubin: elf sm_90")));
}

TEST(Input, OfAnObjectHasAModuleForEachUnit)
{
  EXPECT_EQ(form("object.o").form(), input_form::object);
  EXPECT_THAT(entries_of(form("object.o")),
              ElementsAre("object.o: ptx sm_75 9.0", "object.o: ltoir sm_75 1.65"));
  EXPECT_THAT(entries_of(form("two_units.o")),
              ElementsAre("two_units.o[1]: ptx sm_75 9.0", "two_units.o[1]: ltoir sm_75 1.65",
                          "two_units.o[2]: ptx sm_75 9.0", "two_units.o[2]: ltoir sm_75 1.65"));
}

TEST(Input, OfAnArchiveHasTheModulesOfItsMembers)
{
  EXPECT_EQ(form("transform.a").form(), input_form::archive);
  EXPECT_THAT(entries_of(form("transform.a")),
              ElementsAre("transform.a(object.o): ptx sm_75 9.0",
                          "transform.a(object.o): ltoir sm_75 1.65"));
}

TEST(Input, OfAnArchiveMayHaveMembersOfEveryOtherForm)
{
  ar_archive archive;
  archive.member("a.txt/", "hello").member("empty.o/", "").member("cut/", "\x50\xED");
  archive.member("w.o/", text_of("whole_program.o")).member("t.ptx/", text_of("transform.ptx"));
  archive.member("t.ltoir/", text_of("transform.ltoir")).member("t.cu/", "__global__ void k();");
  archive.member("t.cubin/", text_of("relocatable.cubin")).member("two.o/", text_of("two_units.o"));
  archive.member("t.fatbin/", to_text(fixtures::bytes("library_ltoir.fatbin")));
  auto const file = input::from_bytes(archive.bytes(), "l.a");
  std::vector<std::string> names;
  for (auto const& module : file.modules()) names.push_back(module.name());
  EXPECT_THAT(names, ElementsAre("l.a(t.ptx)", "l.a(t.ltoir)", "l.a(t.cubin)", "l.a(two.o)[1]",
                                 "l.a(two.o)[2]", "l.a(t.fatbin)"));
}

TEST(Input, RefusesAnArchiveWithADamagedMemberAndNamesIt)
{
  auto const archive = [](std::string const& content) {
    return ar_archive().member("good.o/", text_of("object.o")).member("b.o/", content).bytes();
  };
  expect_bad(archive(text_of("object.o").substr(0, 3000)), error_code::corrupt_object,
             "f(b.o): truncated");
  expect_bad(archive(text_of("relocatable.cubin").substr(0, 1000)), error_code::corrupt_cubin,
             "f(b.o): damaged cubin: truncated");
  expect_bad(archive(text_of("transform.ltoir").substr(0, 21)), error_code::corrupt_ltoir,
             "f(b.o): truncated");
  expect_bad(archive(".version 9.0\n"), error_code::corrupt_ptx, "f(b.o): its PTX has its end");
  try {
    (void)input::from_bytes(archive("\x50\xED\x55\xBA"), "f");
    ADD_FAILURE() << "no error";
  } catch (format_error const& failed) {
    EXPECT_EQ(failed.details().code, error_code::corrupt_fatbin);
    EXPECT_THAT(failed.what(), HasSubstr("f(b.o): truncated"));
  }
}

TEST(Input, RefusesMembersThatAreNamedAsCodeAndAreOfNoForm)
{
  auto object = text_of("object.o");
  object[0] ^= 1;
  for (auto const* name : {"b.o", "b.cubin", "b.fatbin", "b.ptx", "b.ltoir"}) {
    auto const archive =
        ar_archive().member("a.o/", text_of("object.o")).member(name + std::string("/"), object);
    expect_bad(archive.bytes(), error_code::unknown_form,
               "f(" + std::string(name) + "): is unknown data that begins with 7e 45 4c 46");
  }
}

TEST(Input, LeavesOutOtherMembersOfAnArchive)
{
  auto const file = input::from_bytes(ar_archive()
                                          .member("a.o/", text_of("object.o"))
                                          .member("empty.o/", "")
                                          .member("host.o/", text_of("host.o"))
                                          .member("bitcode.o/", "BC\xC0\xDE-and-more")
                                          .member("read.me/", "\x7E text of no form")
                                          .bytes(),
                                      "l.a");
  ASSERT_EQ(file.modules().size(), 1U);
  EXPECT_EQ(file.modules()[0].name(), "l.a(a.o)");
}

TEST(Input, RefusesAnArchiveInsideAnArchive)
{
  expect_bad(ar_archive().member("inner.a/", text_of("transform.a")).bytes(),
             error_code::unknown_form, "f(inner.a): is an archive inside an archive");
}

TEST(Input, OfConcatenatedFatbinsHasAModuleForEach)
{
  auto both = fixtures::bytes("library.fatbin");
  auto const second = fixtures::bytes("transform.fatbin");
  both.insert(both.end(), second.begin(), second.end());
  auto const file = input::from_bytes(both, "both.fatbin");
  EXPECT_EQ(file.form(), input_form::fatbin);
  ASSERT_EQ(file.modules().size(), 2U);
  EXPECT_EQ(file.modules()[0].name(), "both.fatbin[1]");
  EXPECT_EQ(file.modules()[1].name(), "both.fatbin[2]");
  EXPECT_EQ(file.bytes().size(), both.size());
  for (auto const mode : {link_mode::ptx, link_mode::lto})
    for (auto const& found : preflight(std::vector{file}, {.target = "sm_90", .mode = mode}))
      EXPECT_NE(found.severity, severity::error) << found.message;
}

TEST(Input, OfConcatenatedFatbinsIsNotLinkedAsOneFatbin)
{
  auto both = fixtures::bytes("library.fatbin");
  auto const second = fixtures::bytes("transform.fatbin");
  both.insert(both.end(), second.begin(), second.end());
  std::vector const files{fatbin::from_bytes(both, "both.fatbin")};
  auto const findings = preflight(files, {.target = "sm_90", .mode = link_mode::ptx});
  ASSERT_THAT(fixtures::finding_ids(findings), testing::Contains("duplicate-entry"));
  EXPECT_EQ(findings[0].message,
            "both.fatbin holds 2 entries of PTX for sm_75, and a link uses only one");
  EXPECT_EQ(findings[0].hint,
            "read concatenated fatbins as fatlink::input, or pass each as a separate input");
}

namespace {

void expect_unknown(std::string const& text, std::string const& says, std::string const& hint)
{
  expect_bad(to_bytes(text), error_code::unknown_form, "f: is " + says);
  try {
    (void)input::from_bytes(to_bytes(text), "f");
  } catch (format_error const& failed) {
    EXPECT_THAT(failed.details().hint, HasSubstr(hint));
  }
}

/// An archive of `count` copies of a fatbin whose entries state 256 MiB once decompressed.
byte_buffer large_archive(std::string const& fatbin_name, int count)
{
  auto bytes = fixtures::bytes(fatbin_name);
  for (auto const& entry : read_fatbin(bytes)) {
    auto const size = std::uint64_t{256} << 20U;
    std::memcpy(bytes.data() + entry.offset + 0x38, &size, sizeof size);
  }
  ar_archive archive;
  for (int i = 0; i < count; ++i) archive.member("m/", to_text(bytes));
  return archive.bytes();
}

}  // namespace

TEST(InputRefusals, RefusesFilesWithoutDeviceCodeThatCanBeLinked)
{
  expect_bad(to_bytes(text_of("host.o")), error_code::no_device_code, "f: holds no device code");
  expect_bad(to_bytes(text_of("whole_program.o")), error_code::no_device_code,
             "f: its device code (section .nv_fatbin) is a whole program and cannot be linked");
  expect_bad(ar_archive().bytes(), error_code::no_device_code,
             "f: no member holds device code that can be linked");
  expect_bad(ar_archive().member("w.o/", text_of("whole_program.o")).bytes(),
             error_code::no_device_code, "is a whole program");
}

TEST(InputRefusals, SaysHowToCompileForLinking)
{
  try {
    (void)form("whole_program.o");
    ADD_FAILURE() << "no error";
  } catch (format_error const& failed) {
    EXPECT_THAT(failed.details().hint, HasSubstr("compile with nvcc -dc"));
    EXPECT_THAT(failed.details().hint, HasSubstr("CUDA_SEPARABLE_COMPILATION"));
  }
}

TEST(InputRefusals, RefusesEmptyAndUnknownBytes)
{
  expect_bad({}, error_code::empty_input, "f: the file is empty");
  expect_unknown("\x01\x02\x03\x04", "unknown data that begins with 01 02 03 04, none of the forms",
                 "pass a fatbin, PTX, raw LTO-IR, a cubin, an object or an archive");
  expect_unknown(std::string(8, '\0'), "8 zero bytes", "incomplete");
  expect_unknown("\x50\xED", "the first 2 bytes of a fatbin", "copy or build it again in full");
  expect_unknown("hello",
                 "text, none of the forms fatbin, ptx, ltoir, cubin, object, archive, source "
                 "or nvvm-ir",
                 "nvcc -dlto -fatbin");
  expect_unknown("PK\x03\x04", "a zip archive", "unpack it");
}

TEST(InputRefusals, SaysThatSourcesAreCompiledFirst)
{
  expect_unknown("__device__ float f();",
                 "CUDA C++ source (form source), which is not linked before it is compiled",
                 "compile it first with fatlink::compiler, or: nvcc -dlto -fatbin");
  expect_unknown("; ModuleID = 'x'\n", "LLVM IR text (form nvvm-ir)", "fatlink::compiler");
  expect_unknown("BC\xC0\xDE....", "LLVM bitcode (form nvvm-ir)", "fatlink::compiler");
}

TEST(InputRefusals, TakesPtxWithoutAVersionOrWithANulForDamagedPtx)
{
  expect_bad(to_bytes("// c\n.target sm_75\n"), error_code::corrupt_ptx, "where .version must be");
  expect_bad(to_bytes(std::string(".version 9.0\n\0.target sm_75\n", 28)), error_code::corrupt_ptx,
             "has a NUL");
}

TEST(InputRefusals, RefusesDamagedFilesOfEachForm)
{
  for (auto const& [name, code] : {std::pair("transform.a", error_code::corrupt_archive),
                                   std::pair("object.o", error_code::corrupt_object),
                                   std::pair("relocatable.cubin", error_code::corrupt_cubin),
                                   std::pair("transform.ltoir", error_code::corrupt_ltoir)})
    expect_bad(to_bytes(text_of(name).substr(0, 43)), code, "f: ");
  expect_bad(to_bytes("!<thin>\n"), error_code::thin_archive, "thin archive");
  expect_bad(to_bytes("\x7F"
                      "ELF"),
             error_code::corrupt_object, "f: truncated");
}

TEST(InputRefusals, OfACubinThatDoesNotStateItsExactTargetIsRefused)
{
  auto const without_target = [](byte_buffer bytes) {
    auto const place = cubin_bytes::find(bytes, ".note.nv.tkinfo", "-arch sm_");
    cubin_bytes::put(bytes, place, 'x');
    return bytes;
  };
  try {
    (void)input::from_bytes(without_target(cubin_bytes::types()), "f.cubin");
    ADD_FAILURE() << "no error";
  } catch (format_error const& failed) {
    EXPECT_STREQ(failed.what(),
                 "f.cubin: no note (.note.nv.tkinfo) states its exact target, which "
                 "is sm_90, or sm_90 with a suffix");
    EXPECT_TRUE(failed.details().code == error_code::corrupt_cubin);
    EXPECT_EQ(failed.details().hint,
              "compile it again, or pack it with its target: fatbinary --create=FILE.fatbin "
              "--image3=kind=elf,sm=90,file=FILE.cubin");
  }
  EXPECT_NO_THROW((void)input::from_bytes(
      without_target(cubin_bytes::cubin_of("types_sass.fatbin", "sm_80")), "f.cubin"));
}

TEST(InputRefusals, RefusesACubinWithoutAnArchitecture)
{
  auto bytes = fixtures::bytes("forms/relocatable.cubin");
  bytes[0x31] = std::byte{0};
  expect_bad(bytes, error_code::corrupt_cubin,
             "f: damaged cubin: an architecture that is not known, at byte 48");
}

TEST(InputRefusals, RefusesACubinWithDamagedSections)
{
  auto bytes = fixtures::bytes("forms/relocatable.cubin");
  bytes[0x3A] = std::byte{63};  // e_shentsize
  expect_bad(bytes, error_code::corrupt_cubin, "f: damaged cubin: section headers of unknown size");
}

TEST(InputRefusals, RefusesMoreModulesThanTheLimit)
{
  auto const module = fixtures::with_ptx_head("");
  ar_archive archive;
  for (int i = 0; i < 65535; ++i) archive.member("m/", module);
  expect_bad(archive.member("two.o/", text_of("two_units.o")).bytes(), error_code::above_limit,
             "f: holds more than 65536 modules, the limit");
}

TEST(InputRefusals, RefusesMoreThan4GiBOnceDecompressed)
{
  expect_bad(large_archive("library.fatbin", 9), error_code::above_limit,
             "f: its entries are above 4 GiB");
}

TEST(InputRefusals, RefusesMoreThan4GiBOfSassOnceDecompressed)
{
  expect_bad(large_archive("types_sass.fatbin", 5), error_code::above_limit,
             "f: its entries are above 4 GiB");
}
