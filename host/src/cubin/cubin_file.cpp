// SPDX-License-Identifier: Apache-2.0
#include "cubin/cubin_file.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string_view>
#include <vector>

#include "cubin/functions.hpp"
#include "fatlink/format_error.hpp"

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

/// Whether `value` is a power of two, and not so large that nvJitLink does not end.
bool is_alignment(std::uint64_t value)
{
  return std::has_single_bit(value) && value <= k_most_aligned;
}

/// Whether a name in `names` begins at `offset`, which is inside. Compilers do not share the ends
/// of names.
bool is_whole_name(bytes_view names, std::uint64_t offset)
{
  return offset == 0 || names[static_cast<std::size_t>(offset) - 1] == std::byte{0};
}

/// Requires names that are each terminated by a NUL. @throws elf_error `offset`: of the table.
void check_names(bytes_view names, std::uint64_t offset)
{
  if (names.empty() || names.back() != std::byte{0})
    throw elf_error{offset, "a table of names does not end with a NUL"};
}

/// Whether the section is the code of a function.
bool is_code(elf_section const& section)
{
  return section.type == SHT_PROGBITS && (section.flags & SHF_EXECINSTR) != 0;
}

/// The symbol of the function whose code the section is: in the lower 24 bits of sh_info; the upper
/// ones are its registers.
std::uint32_t function_of(elf_section const& section)
{
  return section.info & 0xFFFFFFU;
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

/// @throws elf_error, out_of_bytes malformed sections.
void check_sections(cubin_file const& file)
{
  section_check const sections(file);
  sections.check_sections();
  sections.check_flags();
}

/// The value of undefined symbols and of those in shared memory is an alignment.
void check_alignment(elf_symbol const& symbol, std::uint64_t place)
{
  if (!is_alignment(symbol.value))
    throw elf_error{place, "a symbol has no alignment that is a power of two up to 1 MiB"};
}

/// Whether `section` is of the memory that the variable states. In whole programs, sections of
/// constants and of initialized variables have the type of code.
bool is_in_memory(elf_symbol const& variable, elf_section const& section)
{
  auto const type = section.type;
  switch (variable.other & k_memories) {
    case k_in_global:
      return type == k_global || type == k_initialized || type == SHT_NOBITS ||
             type == SHT_PROGBITS;
    case k_in_shared:
      return type == k_shared || type == SHT_NOBITS;
    case k_in_constant:
      return (type >= k_constant && type < k_constant + 64) || type == SHT_PROGBITS;
    case k_in_reserved:
      return type == k_reserved;
    default:
      return true;  // read_interface() refuses what it shows
  }
}

class symbol_check {
 public:
  explicit symbol_check(cubin_file const& file)
      : file_(file), elf_(file.elf()), sections_(file.sections()), symbols_(file.symbols())
  {
  }

  void check_symbols() const
  {
    check_names(symbols_.names(), sections_[file_.symbol_section()].offset);
    for (std::uint64_t index = 0; index < symbols_.count(); ++index) {
      auto const symbol = symbols_[index];
      auto const place = symbols_.offset_of(index);
      (void)file_.names_from(symbol.name, place);
      if (!is_whole_name(symbols_.names(), symbol.name))
        throw elf_error{place, "a symbol's name begins inside another name"};
      check_symbol(symbol, place);
    }
  }

  /// Code and functions name each other. Whole programs have other symbols in code, too.
  void check_code() const
  {
    auto place = elf_.section_table().offset;
    for (auto const& section : sections_) {
      if (is_code(section) && !has_function(section))
        throw elf_error{place, "a section of code does not name its function"};
      place += sizeof(Elf64_Shdr);
    }
    if (elf_.type() != ET_REL) return;
    for (std::uint64_t index = 0; index < symbols_.count(); ++index) {
      auto const symbol = symbols_[index];
      if (symbol.type != STT_FUNC || symbol.section == SHN_UNDEF) continue;
      auto const& code = sections_[symbol.section];
      if (!is_code(code) || function_of(code) != index)
        throw elf_error{symbols_.offset_of(index), "a function in a section that is not its code"};
    }
  }

 private:
  void check_symbol(elf_symbol const& symbol, std::uint64_t place) const
  {
    auto const is_function = symbol.type == STT_FUNC;
    switch (symbol.section) {
      case SHN_UNDEF:
        if (symbol.value != 0 && symbol.value != k_unknown_value) check_alignment(symbol, place);
        return;
      case SHN_ABS:
        if (is_function || symbol.type == k_variable)
          throw elf_error{place, "a function or variable outside of all sections"};
        return;
      case SHN_COMMON:
        if (is_function) throw elf_error{place, "a function or variable outside of all sections"};
        return check_alignment(symbol, place);
      default:
        return check_definition(symbol, place);
    }
  }

  void check_definition(elf_symbol const& symbol, std::uint64_t place) const
  {
    if (symbol.section >= sections_.size())
      throw elf_error{place, "a symbol is in a section that is not there"};
    auto const& section = sections_[symbol.section];
    auto const is_variable = symbol.type == k_variable;
    if (is_variable && !is_in_memory(symbol, section))
      throw elf_error{place, "a variable in a section of another memory"};
    auto const has_alignment =
        is_variable && ((symbol.other & k_in_shared) != 0 || section.type == k_reserved);
    if (has_alignment && symbol.value != 0) check_alignment(symbol, place);
    auto const offset = has_alignment ? 0 : symbol.value;
    if (offset > section.size || symbol.size > section.size - offset)
      throw elf_error{place, "a symbol reaches past the end of its section"};
  }

  bool has_function(elf_section const& section) const
  {
    auto const index = function_of(section);
    if (index >= symbols_.count()) return false;
    auto const symbol = symbols_[index];
    return symbol.type == STT_FUNC && symbol.section == &section - sections_.data();
  }

  cubin_file const& file_;
  elf_reader const& elf_;
  std::vector<elf_section> const& sections_;
  elf_symbols const& symbols_;
};

/// After check_sections(). @throws elf_error malformed symbols.
void check_symbols(cubin_file const& file)
{
  symbol_check const symbols(file);
  symbols.check_symbols();
  symbols.check_code();
}

constexpr std::uint32_t k_most_relocations = 0xFF;  ///< types; above, nvJitLink crashes
constexpr std::uint64_t k_instruction_bytes = 16;
constexpr std::uint64_t k_least_bytes = 4;  ///< that a relocation changes

/// Requires entries of `size` bytes.
void check_table(elf_section const& section, std::uint64_t size, char const* cause)
{
  if (section.entry_size != size || section.size % size != 0)
    throw elf_error{section.offset, cause};
}

/// Types that stand for a function's descriptor: nvJitLink crashes where the symbol is no function.
bool needs_function(std::uint32_t type)
{
  return (type >= 31 && type <= 35) || (type >= 47 && type <= 49) || (type >= 61 && type <= 63);
}

/// Whether a note names nvasm_internal, by which NVIDIA assembles kernels of cuDNN.
bool names_nvasm(cubin_file const& file)
{
  return std::ranges::any_of(file.sections(), [&](elf_section const& section) {
    if (!file.elf().name_starts_with(section, ".note.nv.tkinfo")) return false;
    auto const note = file.content(section);
    std::string_view const text(reinterpret_cast<char const*>(note.data()), note.size());
    return text.find("nvasm_internal") != std::string_view::npos;
  });
}

class table_check {
 public:
  explicit table_check(cubin_file const& file)
      : file_(file), symbols_(file.symbols()), has_attributes_(file.sections().size())
  {
    stated_.fill(std::vector<bool>(static_cast<std::size_t>(symbols_.count())));
  }

  void check()
  {
    for (auto const& section : file_.sections()) check(section);
    for (auto const& section : file_.sections())
      if (is_code(section)) check_stated(section);
  }

 private:
  void check(elf_section const& section)
  {
    switch (section.type) {
      case SHT_REL:
      case SHT_RELA:
        return check_relocations(section);
      case k_callgraph:
        return check_callgraph(section);
      case k_info:
        return check_attributes(section);
      case k_mercury_info:
        return check_mercury_attributes(section);
      case k_mercury_relocations:
      case k_mercury_symbols:
        return check_table(section, 24, "a table of Mercury code of unknown size");
      default:
        return;
    }
  }

  [[nodiscard]] bool is_function(std::uint32_t symbol) const
  {
    return symbol < symbols_.count() && symbols_[symbol].type == STT_FUNC;
  }

  // Elf64_Rel: u64 offset, u64 info, whose upper half is the symbol; Elf64_Rela: also i64 addend.
  void check_relocations(elf_section const& section) const
  {
    auto const size = section.type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
    check_table(section, size, "relocations of unknown size");
    if (section.link != file_.symbol_section() || section.info >= file_.sections().size())
      throw elf_error{section.offset, "relocations without symbols or section"};
    byte_reader const table(file_.content(section));
    for (std::uint64_t offset = 0; offset < table.size(); offset += size) {
      auto const place = section.offset + offset;
      check_place(table.read<std::uint64_t>(offset), file_.sections()[section.info], place);
      check_kind(table.read<std::uint64_t>(offset + offsetof(Elf64_Rel, r_info)), place);
    }
  }

  static void check_place(std::uint64_t offset, elf_section const& changed, std::uint64_t place)
  {
    auto const is_code = (changed.flags & SHF_EXECINSTR) != 0;
    auto const bytes = is_code ? k_instruction_bytes : k_least_bytes;
    if (offset > changed.size || bytes > changed.size - offset)
      throw elf_error{place, "a relocation past the end of its section"};
  }

  void check_kind(std::uint64_t info, std::uint64_t place) const
  {
    auto const symbol = ELF64_R_SYM(info);
    auto const type = static_cast<std::uint32_t>(ELF64_R_TYPE(info));
    if (symbol >= symbols_.count())
      throw elf_error{place, "a relocation names a symbol that is not there"};
    if (type > k_most_relocations) throw elf_error{place, "a relocation of an unknown type"};
    if (needs_function(type) && symbols_[symbol].type != STT_FUNC)
      throw elf_error{place, "a relocation to a function names another symbol"};
  }

  // u32 symbol of the caller; u32 symbol of the callee or 0, or of an indirect call the offset of
  // the prototype in the symbols' names (CUDA 13.5). Caller 0: one of the marks -1 to -4.
  void check_callgraph(elf_section const& section) const
  {
    constexpr std::uint32_t k_least_mark = 0xFFFFFFFC;
    check_table(section, 2 * sizeof(std::uint32_t), "a call graph of unknown size");
    byte_reader const table(file_.content(section));
    for (std::uint64_t offset = 0; offset < table.size(); offset += 8) {
      auto const caller = table.read<std::uint32_t>(offset);
      auto const callee = table.read<std::uint32_t>(offset + 4);
      auto const is_known =
          callee == 0 || callee >= k_least_mark || is_function(callee) || is_prototype(callee);
      if ((caller != 0 && !is_function(caller)) || !is_known)
        throw elf_error{section.offset + offset, "a call names a function that is not there"};
    }
  }

  [[nodiscard]] bool is_prototype(std::uint32_t text) const
  {
    auto const names = symbols_.names();
    return text < names.size() && names[text] == std::byte{'#'};
  }

  void check_attributes(elf_section const& section)
  {
    if (section.info != 0) check_owner(section);
    attribute_reader reader(file_, section);
    while (auto const attribute = reader.next())
      if (section.info == 0)
        check_of_file(*attribute);
      else
        check_of_function(*attribute);
  }

  void check_mercury_attributes(elf_section const& section) const
  {
    attribute_reader reader(file_, section);
    while (reader.next()) {
    }
  }

  /// Requires that the attributes are those of a function's code, of the same name, and the only
  /// ones.
  void check_owner(elf_section const& section)
  {
    auto const& owner = file_.sections()[section.info];
    constexpr std::string_view k_beginning = ".nv.info";
    auto const name = file_.elf().name(section);
    if (!is_code(owner) || !name.starts_with(k_beginning) ||
        file_.elf().name(owner) != ".text" + name.substr(k_beginning.size()))
      throw elf_error{section.offset, "attributes of a function that is not there"};
    if (has_attributes_[section.info])
      throw elf_error{section.offset, "a function has attributes twice"};
    has_attributes_[section.info] = true;
  }

  /// Those of the file name their function.
  void check_of_file(cubin_attribute const& attribute)
  {
    auto const position = std::find(k_of_functions.begin(), k_of_functions.end(), attribute.id);
    if (position == k_of_functions.end()) return;
    if (attribute.data.size() != 8 || !is_function(attribute.number(0)))
      throw elf_error{attribute.offset, "an attribute of a function that is not there"};
    auto& stated = stated_[static_cast<std::size_t>(position - k_of_functions.begin())];
    if (stated[attribute.number(0)])
      throw elf_error{attribute.offset, "an attribute that a function has twice"};
    stated[attribute.number(0)] = true;
  }

  /// A symbol of a section; of nvasm_internal also one without type.
  [[nodiscard]] bool is_constant_bank(elf_symbol const& symbol) const
  {
    return symbol.type == STT_SECTION || (is_of_nvasm_ && symbol.type == STT_NOTYPE);
  }

  void check_of_function(cubin_attribute const& attribute) const
  {
    auto const count = attribute.data.size() / sizeof(std::uint32_t);
    if (attribute.id == attribute_id::constant_bank &&
        (attribute.number(0) >= symbols_.count() ||
         !is_constant_bank(symbols_[attribute.number(0)])))
      throw elf_error{attribute.offset, "an attribute of a section that is not there"};
    if ((attribute.id == attribute_id::parameter ||
         attribute.id == attribute_id::large_parameter) &&
        attribute.number(0) != 0)
      throw elf_error{attribute.offset, "an attribute of an unknown parameter"};
    if (attribute.id != attribute_id::callees) return;
    for (std::size_t position = 0; position < count; ++position)
      if (!is_function(attribute.number(position)))
        throw elf_error{attribute.offset, "an attribute of a function that is not there"};
  }

  /// Requires registers and frame of the function whose code `section` is, and of relocatable files
  /// the greatest stack. nvasm_internal states what it wants.
  void check_stated(elf_section const& section) const
  {
    if (is_of_nvasm_) return;
    auto const required = file_.elf().type() == ET_REL ? k_of_functions.size() : 2;
    for (std::size_t i = 0; i < required; ++i)
      if (!stated_[i][function_of(section)])
        throw elf_error{section.offset, "a function whose registers or stack are not stated"};
  }

  static constexpr std::array k_of_functions{attribute_id::register_count, attribute_id::frame_size,
                                             attribute_id::max_stack_size};

  cubin_file const& file_;
  elf_symbols const& symbols_;
  bool is_of_nvasm_ = names_nvasm(file_);
  std::vector<bool> has_attributes_;                             ///< by section
  std::array<std::vector<bool>, k_of_functions.size()> stated_;  ///< by symbol
};

/// `file`: whose sections and symbols are checked. @throws elf_error a malformed table.
void check_tables(cubin_file const& file)
{
  table_check(file).check();
}

elf_reader open(bytes_view bytes)
{
  elf_reader const elf(bytes);
  if (elf.machine() != k_elf_machine_cuda)
    throw elf_error{offsetof(Elf64_Ehdr, e_machine), "is not a CUDA ELF file"};
  return elf;
}

std::vector<elf_section> list_sections(elf_reader const& elf)
{
  auto const count = elf.section_count();
  if (count == 0) throw elf_error{offsetof(Elf64_Ehdr, e_shnum), "it has no sections"};
  std::vector<elf_section> sections;
  sections.reserve(count);
  for (std::uint32_t index = 0; index < count; ++index) sections.push_back(elf.section(index));
  return sections;
}

std::uint32_t find_symbols(std::vector<elf_section> const& sections)
{
  std::uint32_t position = 0;
  for (std::uint32_t index = 1; index < sections.size(); ++index) {
    if (sections[index].type != SHT_SYMTAB) continue;
    if (position != 0) throw elf_error{sections[index].offset, "it has a second symbol table"};
    position = index;
  }
  if (position == 0) throw elf_error{offsetof(Elf64_Ehdr, e_shnum), "it has no symbol table"};
  return position;
}

}  // namespace

bool has_bytes(elf_section const& section)
{
  switch (section.type) {
    case SHT_NULL:
    case SHT_NOBITS:
    case k_global:
    case k_local:
    case k_shared:
    case k_reserved:
      return false;
    default:
      return true;
  }
}

namespace {

}  // namespace

cubin_file::cubin_file(bytes_view bytes)
    : elf_(open(bytes)),
      sections_(list_sections(elf_)),
      symbol_section_(find_symbols(sections_)),
      symbols_(elf_, sections_[symbol_section_])
{
  check_header(bytes);
  check_sections(*this);
  check_symbols(*this);
  check_tables(*this);
}

bytes_view cubin_file::content(elf_section const& section) const
{
  return has_bytes(section) ? elf_.view(section) : bytes_view{};
}

std::string_view cubin_file::names_from(std::uint32_t offset, std::uint64_t place) const
{
  auto const names = symbols_.names();
  if (offset >= names.size()) throw elf_error{place, "a name is outside the table of names"};
  return {reinterpret_cast<char const*>(names.data()) + offset, names.size() - offset};
}

void cubin_file::check_header(bytes_view bytes) const
{
  byte_reader const reader(bytes);
  if (reader.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_ehsize)) != sizeof(Elf64_Ehdr))
    throw elf_error{offsetof(Elf64_Ehdr, e_ehsize), "an ELF header of unknown size"};
  if (auto const type = elf_.type(); type != ET_REL && type != ET_EXEC)
    throw elf_error{offsetof(Elf64_Ehdr, e_type), "it is neither relocatable nor executable"};
  auto const table = elf_.segment_table();
  for (auto const& segment : read_segments(reader.view(table.offset, table.size)))
    (void)reader.view(segment.offset, segment.size);
}

namespace {

[[noreturn]] void fail_cubin(cubin_name const& name, error_code code, std::uint64_t offset,
                             std::string const& cause, char const* hint)
{
  auto const part = name.part.empty() ? std::string() : detail::format("{}: ", name.part);
  throw format_error(stage::input, offset,
                     {.message = detail::format("{}: {}{}, at byte {}{}", name.input, part, cause,
                                                offset, part.empty() ? "" : " of it"),
                      .input = std::string(name.input),
                      .code = code,
                      .hint = hint});
}

}  // namespace

void fail_corrupt(cubin_name const& name, std::uint64_t offset, std::string const& cause)
{
  fail_cubin(name, error_code::corrupt_cubin, offset, "damaged cubin: " + cause,
             "build it again, or copy it again in full");
}

void fail_above_limit(cubin_name const& name, cubin_above_limit const& limit)
{
  fail_cubin(name, error_code::above_limit, limit.offset,
             "the cubin " + limit.excess + ", the limit",
             "split it into several, each with fewer sources");
}

}  // namespace fatlink::detail
