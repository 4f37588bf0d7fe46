// SPDX-License-Identifier: Apache-2.0
#include "cubin/check_symbols.hpp"

#include <elf.h>

#include "cubin/check_sections.hpp"

namespace fatlink::detail {
namespace {

using namespace cuda_elf;

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

}  // namespace

void check_symbols(cubin_file const& file)
{
  symbol_check const symbols(file);
  symbols.check_symbols();
  symbols.check_code();
}

}  // namespace fatlink::detail
