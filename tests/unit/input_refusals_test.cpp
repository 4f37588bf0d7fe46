// SPDX-License-Identifier: Apache-2.0
// Files that are no usable input.
#include <gmock/gmock.h>

#include <cstring>

#include "ar_archive.hpp"
#include "cubin_bytes.hpp"
#include "fatbin/write_fatbin.hpp"
#include "form_inputs.hpp"

using namespace fatlink;
using fixtures::ar_archive;
using fixtures::expect_bad;
using fixtures::form;
using fixtures::text_of;
using fixtures::to_bytes;
using fixtures::to_text;
using testing::HasSubstr;

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
  fatbin_entry entry;
  entry.kind = entry_kind::ltoir;
  entry.target = target(75);
  auto const payload = to_bytes("12345678");
  entry.payload = payload;
  auto const module = to_text(detail::write_fatbin(entry));
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
