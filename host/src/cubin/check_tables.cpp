// SPDX-License-Identifier: Apache-2.0
#include "cubin/check_tables.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "cubin/attributes.hpp"

namespace fatlink::detail {
namespace {

using namespace cuda_elf;

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

}  // namespace

void check_tables(cubin_file const& file)
{
  table_check(file).check();
}

}  // namespace fatlink::detail
