// SPDX-License-Identifier: Apache-2.0
#include "cubin/check_sections.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string_view>
#include <vector>

namespace fatlink::detail {
namespace {

using namespace cuda_elf;

/// The largest alignment that is plausible. nvJitLink does not end, or uses gigabytes, above 8 MiB.
constexpr std::uint64_t k_most_aligned = std::uint64_t{1} << 20;

/// The types of sections that nvJitLink finds by name.
struct named_type {
  char const* name;  ///< or the beginning of it
  std::uint32_t type;
};
constexpr std::array k_named_types{
    named_type{".debug_", SHT_PROGBITS},
    named_type{".note.nv.", SHT_NOTE},
    named_type{".nv.capmerc.", k_mercury_code},
    named_type{".nv.merc.nv.info", k_mercury_info},
    named_type{".nv.merc.nv.constant.optimizer", k_mercury_optimizer},
    named_type{".nv.merc.rela.", k_mercury_relocations},
    named_type{".nv.merc.symtab", k_mercury_symbols},
    named_type{".nv.callgraph", k_callgraph},
    named_type{".nv.info", k_info},
    named_type{".nv.prototype", k_prototype},
    named_type{".nv_debug_", SHT_PROGBITS},
    named_type{".rel.", SHT_REL},
    named_type{".rela.", SHT_RELA},
    named_type{".shstrtab", SHT_STRTAB},
    named_type{".strtab", SHT_STRTAB},
    named_type{".text.", SHT_PROGBITS}};

bool is_zero(elf_section const& section)
{
  return section.name == 0 && section.type == 0 && section.flags == 0 && section.offset == 0 &&
         section.size == 0 && section.link == 0 && section.info == 0 && section.alignment == 0 &&
         section.entry_size == 0;
}

constexpr std::array k_mercury_prefixes{std::string_view(".nv.merc"),
                                        std::string_view(".nv.capmerc")};

/// Whether the name at `offset` of `names` is the end of that of a section of Mercury code:
/// .debug_frame of .nv.merc.debug_frame (whole programs for sm_100 and newer, CUDA 13.0).
bool is_name_of_mercury(bytes_view names, std::uint32_t offset)
{
  std::string_view const before(reinterpret_cast<char const*>(names.data()), offset);
  auto const prefix = before.substr(before.rfind('\0') + 1);
  return std::ranges::find(k_mercury_prefixes, prefix) != k_mercury_prefixes.end();
}

class section_check {
 public:
  explicit section_check(cubin_file const& file)
      : file_(file), elf_(file.elf()), sections_(file.sections())
  {
  }

  void check_sections() const
  {
    auto const names = elf_.section(elf_.section_of_names());
    check_names(file_.content(names), names.offset);
    auto place = elf_.section_table().offset;
    if (!is_zero(sections_.front())) throw elf_error{place, "the first section is not empty"};
    for (auto const& section : sections_) {
      if (section.name >= names.size)
        throw elf_error{place, "a section's name is outside the table of names"};
      if (!is_whole_name(file_.content(names), section.name) &&
          !is_name_of_mercury(file_.content(names), section.name))
        throw elf_error{place, "a section's name begins inside another name"};
      if (&section != &sections_.front()) check_section(section, place);
      place += sizeof(Elf64_Shdr);
    }
    // Private functions of several translation units may have one name in a whole program.
    if (elf_.type() == ET_REL) check_distinct_names();
    check_overlap();
  }

  // With k_abi the upper 8 bits of e_flags are the section of the note .note.nv.cuinfo, 0xFF where
  // 8 bits are too few, bit 0 is never set, and bit 1 with Mercury code; before, the upper 8 bits
  // are 0.
  void check_flags() const
  {
    constexpr auto k_offset = offsetof(Elf64_Ehdr, e_flags);
    auto const note = elf_.flags() >> 24U;
    if (elf_.os_abi() == k_abi_of_cuda_12 && note != 0)
      throw elf_error{k_offset, "flags that are not known"};
    if (elf_.os_abi() != k_abi) return;
    auto const has_mercury =
        std::any_of(sections_.begin(), sections_.end(),
                    [](elf_section const& section) { return (section.flags & k_is_mercury) != 0; });
    if ((elf_.flags() & 1U) != 0 || ((elf_.flags() & 2U) != 0) != has_mercury)
      throw elf_error{k_offset, "flags that are not known"};
    if (note == 0xFF && sections_.size() > 0xFF) return;
    if (note >= sections_.size() || sections_[note].type != SHT_NOTE ||
        !elf_.name_starts_with(sections_[note], ".note.nv.cu"))
      throw elf_error{k_offset, "flags that do not name the section .note.nv.cuinfo"};
  }

 private:
  void check_section(elf_section const& section, std::uint64_t place) const
  {
    (void)file_.content(section);
    check_type(section, place);
    if (section.link >= sections_.size())
      throw elf_error{place, "a section refers to one that is not there"};
    // Other assemblers than ptxas write 0 for tables of names (measured: cubins in cuDNN 9).
    if (!is_alignment(section.alignment) && !(section.type == SHT_STRTAB && section.alignment == 0))
      throw elf_error{place, "a section has no alignment that is a power of two up to 1 MiB"};
    auto const has_other_info = is_code(section) || section.type == SHT_SYMTAB ||
                                section.type == SHT_NOTE || section.type == k_mercury_code ||
                                section.type == k_mercury_symbols;
    // Toolkits before CUDA 12 and other assemblers than ptxas do not set the flag (measured: cubins
    // in cuBLAS 13 and cuDNN 9).
    auto const is_owned =
        (section.flags & SHF_INFO_LINK) != 0 || (section.info != 0 && !has_other_info);
    if (!is_owned) return;
    if (section.info >= sections_.size())
      throw elf_error{place, "a section belongs to one that is not there"};
    check_owner(section, place);
  }

  void check_type(elf_section const& section, std::uint64_t place) const
  {
    constexpr char const* k_cause = "a section whose name and type do not belong together";
    auto const has_name = [&](char const* name) { return elf_.name_starts_with(section, name); };
    if (section.type == SHT_NULL) throw elf_error{place, "a section without type"};
    for (auto const& known : k_named_types)
      if (section.type != known.type && has_name(known.name)) throw elf_error{place, k_cause};
    auto const is_initialized = section.type == k_initialized || section.type == SHT_PROGBITS;
    if (has_name(".nv.global.init") && !is_initialized) throw elf_error{place, k_cause};
    auto const is_mercury = has_name(".nv.merc") || has_name(".nv.capmerc");
    if (is_mercury != ((section.flags & k_is_mercury) != 0))
      throw elf_error{place, "a section whose name and flags do not belong together"};
  }

  /// The name of a section that belongs to another ends with the name of that one: .nv.info.f
  /// belongs to .text.f, .rela.debug_frame to .debug_frame.
  void check_owner(elf_section const& section, std::uint64_t place) const
  {
    if (section.type == SHT_NOTE) return;
    auto const name = elf_.name(sections_[section.info]);
    std::string_view end = name;
    for (auto const* beginning : {".nv.capmerc", ".nv.merc", ".text"})
      if (end.starts_with(beginning)) end.remove_prefix(std::string_view(beginning).size());
    if (!elf_.name(section).ends_with(end))
      throw elf_error{place, "a section belongs to one of another name"};
  }

  void check_distinct_names() const
  {
    std::vector<std::uint32_t> names;
    for (auto const& section : sections_) names.push_back(section.name);
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end())
      throw elf_error{elf_.section_table().offset, "two sections have one name"};
  }

  /// A section of Mercury code may have the bytes of one other.
  void check_overlap() const
  {
    struct place {
      elf_table bytes;
      bool is_mercury = false;
    };
    std::vector<place> places{{{.offset = 0, .size = sizeof(Elf64_Ehdr)}}, {elf_.section_table()}};
    for (auto const& section : sections_)
      if (has_bytes(section) && section.size != 0)
        places.push_back({{section.offset, section.size}, (section.flags & k_is_mercury) != 0});
    std::sort(places.begin(), places.end(),
              [](place const& a, place const& b) { return a.bytes.offset < b.bytes.offset; });
    for (std::size_t i = 1; i < places.size(); ++i) {
      auto const& [bytes, is_mercury] = places[i];
      auto const& before = places[i - 1];
      auto const is_shared = before.bytes.offset == bytes.offset &&
                             before.bytes.size == bytes.size && before.is_mercury != is_mercury;
      if (!is_shared && bytes.offset - before.bytes.offset < before.bytes.size)
        throw elf_error{bytes.offset, "two sections have the same bytes"};
    }
  }

  cubin_file const& file_;
  elf_reader const& elf_;
  std::vector<elf_section> const& sections_;
};

}  // namespace

bool is_alignment(std::uint64_t value)
{
  return std::has_single_bit(value) && value <= k_most_aligned;
}

bool is_whole_name(bytes_view names, std::uint64_t offset)
{
  return offset == 0 || names[static_cast<std::size_t>(offset) - 1] == std::byte{0};
}

void check_names(bytes_view names, std::uint64_t offset)
{
  if (names.empty() || names.back() != std::byte{0})
    throw elf_error{offset, "a table of names does not end with a NUL"};
}

void check_sections(cubin_file const& file)
{
  section_check const sections(file);
  sections.check_sections();
  sections.check_flags();
}

}  // namespace fatlink::detail
