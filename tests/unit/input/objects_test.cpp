// SPDX-License-Identifier: Apache-2.0
// Host objects: their fatbins, and what is refused.
#include <elf.h>

#include <cstring>
#include <random>

#include "fatlink/input.hpp"
#include "form_inputs.hpp"
#include "util/bytes/elf_reader.hpp"

using namespace fatlink;
using namespace fatlink::detail;
using fixtures::form_bytes;
using fixtures::with_value;

namespace {

/// Where the header of the section `name` is in `object`, and where its bytes are.
struct section_place {
  std::size_t header = 0;
  std::size_t bytes = 0;
};

section_place place_of(byte_buffer const& object, std::string const& name)
{
  elf_reader const elf(object);
  auto const table = byte_reader(object).read<std::uint64_t>(offsetof(Elf64_Ehdr, e_shoff));
  for (std::uint16_t index = 0; index < elf.section_count(); ++index)
    if (elf.name(elf.section(index)) == name)
      return {table + index * sizeof(Elf64_Shdr), elf.section(index).offset};
  return {};
}

constexpr char const* k_no_device_code = "t.o: holds no device code";
std::size_t const k_section_type = offsetof(Elf64_Shdr, sh_type);
std::size_t const k_section_size = offsetof(Elf64_Shdr, sh_size);

input read(byte_buffer const& bytes)
{
  return input::from_bytes(bytes, "t.o");
}

void expect_corrupt_object(byte_buffer const& bytes, std::string const& says)
{
  expect_refused([&] { (void)read(bytes); }, error_code::corrupt_object, says);
}

void expect_no_device_code(byte_buffer const& bytes, std::string const& says)
{
  expect_refused([&] { (void)read(bytes); }, error_code::no_device_code, says);
}

std::size_t units(byte_buffer const& bytes)
{
  return read(bytes).modules().size();
}

}  // namespace

TEST(Object, HoldsTheContainerOfItsTranslationUnit)
{
  auto const object = fixtures::form("object.o");
  ASSERT_EQ(object.modules().size(), 1U);
  auto const& entries = object.modules()[0].entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].kind, entry_kind::ptx);
  EXPECT_EQ(entries[1].kind, entry_kind::ltoir);
  EXPECT_EQ(fixtures::form("sass.o").modules().at(0).entries().front().kind, entry_kind::elf);
}

TEST(Object, HoldsAContainerForEachUnitThatWasLinkedIntoIt)
{
  EXPECT_EQ(units(form_bytes("two_units.o")), 2U);
}

TEST(Object, OfTheHostCompilersLinkTimeOptimizationIsNamed)
{
  std::string const name = "__nv_relfatbin";
  std::string const lto = ".gnu.lto_.decl";
  auto bytes = form_bytes("object.o");
  auto const text = std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    std::memcpy(bytes.data() + at, lto.data(), lto.size());
  expect_no_device_code(bytes, "link-time optimization of the host compiler (-flto) hides it");
}

TEST(Object, MayBeAProgramOrASharedLibrary)
{
  for (auto const type : std::vector<std::uint16_t>{ET_EXEC, ET_DYN})
    EXPECT_EQ(units(with_value(form_bytes("two_units.o"), offsetof(Elf64_Ehdr, e_type), type)), 2U);
}

TEST(Object, MayBeForAnotherHost)
{
  std::uint16_t const machine = EM_AARCH64;
  EXPECT_EQ(units(with_value(form_bytes("object.o"), offsetof(Elf64_Ehdr, e_machine), machine)),
            1U);
}

TEST(Object, WithWholeProgramsOnlySaysSo)
{
  expect_no_device_code(
      form_bytes("whole_program.o"),
      "t.o: its device code (section .nv_fatbin) is a whole program and cannot be linked");
}

TEST(Object, MayHoldNoDeviceCode)
{
  expect_no_device_code(form_bytes("host.o"), k_no_device_code);
}

TEST(Object, For32BitOrBigEndianHostsHoldsNoDeviceCode)
{
  expect_no_device_code(with_value(form_bytes("object.o"), EI_CLASS, std::uint8_t{ELFCLASS32}),
                        k_no_device_code);
  expect_no_device_code(with_value(form_bytes("object.o"), EI_DATA, std::uint8_t{ELFDATA2MSB}),
                        k_no_device_code);
}

TEST(Object, OfDebugInformationOnlyHoldsNoDeviceCode)
{
  auto const object = form_bytes("object.o");
  auto const header = place_of(object, "__nv_relfatbin").header;
  expect_no_device_code(with_value(object, header + k_section_type, std::uint32_t{SHT_NOBITS}),
                        k_no_device_code);
}

TEST(Object, WithoutSectionsHoldsNoDeviceCode)
{
  auto object = with_value(form_bytes("object.o"), offsetof(Elf64_Ehdr, e_shnum), std::uint16_t{0});
  expect_no_device_code(with_value(object, offsetof(Elf64_Ehdr, e_shoff), std::uint64_t{0}),
                        k_no_device_code);
}

TEST(Object, LeavesOutContainersWithoutEntries)
{
  auto const object = form_bytes("object.o");
  auto const place = place_of(object, "__nv_relfatbin");
  auto const empty = with_value(object, place.bytes + 8, std::uint64_t{0});
  expect_no_device_code(with_value(empty, place.header + k_section_size, std::uint64_t{16}),
                        k_no_device_code);
}

TEST(Object, RefusesTooManySections)
{
  auto const object =
      with_value(form_bytes("object.o"), offsetof(Elf64_Ehdr, e_shnum), std::uint16_t{0});
  expect_refused([&] { (void)read(object); }, error_code::above_limit,
                 "t.o: has 65280 sections or more, above the limit");
}

TEST(Object, RefusesWhatIsNotElf)
{
  expect_refused([] { (void)read(with_value(form_bytes("object.o"), 0, 'x')); },
                 error_code::unknown_form, "t.o: is unknown data");
  expect_corrupt_object(with_value(form_bytes("object.o"), EI_CLASS, std::uint8_t{9}),
                        "is not a 64-bit ELF file");
  expect_corrupt_object(with_value(form_bytes("object.o"), EI_DATA, std::uint8_t{9}),
                        "is not a little-endian ELF file");
}

TEST(Object, RefusesDamagedSectionHeaders)
{
  auto const good = form_bytes("object.o");
  auto const names = offsetof(Elf64_Ehdr, e_shstrndx);
  expect_corrupt_object(with_value(good, names, std::uint16_t{999}),
                        "names a section that is not there");
  auto const size = offsetof(Elf64_Ehdr, e_shentsize);
  expect_corrupt_object(with_value(good, size, std::uint16_t{63}),
                        "section headers of unknown size");
  auto const header = place_of(good, ".strtab").header;
  expect_corrupt_object(with_value(good, header + k_section_size, std::uint64_t{1} << 40U),
                        "truncated: ");
}

TEST(Object, RefusesOverlappingSections)
{
  auto object = form_bytes("two_units.o");
  auto const code = place_of(object, "__nv_relfatbin");
  elf_reader const elf(object);
  auto const table = byte_reader(object).read<std::uint64_t>(offsetof(Elf64_Ehdr, e_shoff));
  for (std::uint16_t index = 1; index < elf.section_count(); ++index)
    if (index != byte_reader(object).read<std::uint16_t>(offsetof(Elf64_Ehdr, e_shstrndx)))
      std::memcpy(object.data() + table + index * sizeof(Elf64_Shdr), object.data() + code.header,
                  sizeof(Elf64_Shdr));
  expect_corrupt_object(object, "sections __nv_relfatbin overlap");
}

TEST(Object, RefusesDamagedContainers)
{
  auto const good = form_bytes("object.o");
  auto const [header, code] = place_of(good, "__nv_relfatbin");
  auto const at = ", at byte " + std::to_string(code);
  expect_corrupt_object(with_value(good, code, 'x'),
                        "no fatbin container is here, in section __nv_relfatbin" + at);
  expect_corrupt_object(with_value(good, header + k_section_size, std::uint64_t{15}),
                        "no fatbin container is here");
  expect_corrupt_object(with_value(good, code + 8, std::uint64_t{1} << 40U),
                        "a fatbin container is longer than section __nv_relfatbin");
  expect_corrupt_object(
      with_value(good, code + 20, std::uint32_t{65}),
      "container at byte " + std::to_string(code) + ": entry header of 65 bytes, at byte 20");
}

TEST(Object, StatesTheOffsetOfADamagedEntryInTheFile)
{
  auto const good = form_bytes("object.o");
  auto const code = place_of(good, "__nv_relfatbin").bytes;
  try {
    (void)read(with_value(good, code + 20, std::uint32_t{65}));
    ADD_FAILURE() << "no error";
  } catch (format_error const& failed) {
    EXPECT_EQ(failed.offset(), code + 20);
    EXPECT_EQ(failed.details().input, "t.o");
  }
}

TEST(Object, RefusesEveryTruncation)
{
  for (auto const* name : {"object.o", "two_units.o", "host.o"}) {
    auto const good = form_bytes(name);
    for (std::size_t size = 0; size < good.size(); ++size)
      EXPECT_THROW((void)read({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}),
                   format_error)
          << name << " kept " << size;
  }
}

TEST(Object, SurvivesMutations)
{
  std::mt19937 random(7);
  auto const good = form_bytes("two_units.o");
  auto const table = byte_reader(good).read<std::uint64_t>(offsetof(Elf64_Ehdr, e_shoff));
  for (int i = 0; i < 5000; ++i) {
    auto bytes = good;
    for (auto k = random() % 4 + 1; k > 0; --k)
      bytes[i % 2 != 0 ? table + random() % (bytes.size() - table) : random() % bytes.size()] =
          static_cast<std::byte>(random());
    try {
      auto const object = read(bytes);
      for (auto const& module : object.modules()) EXPECT_FALSE(module.entries().empty());
    } catch (format_error const&) {
      continue;
    }
  }
}
