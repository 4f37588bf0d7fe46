// SPDX-License-Identifier: Apache-2.0
// Functions, variables and calls of a cubin: symbols, attributes, prototypes and call graph
// (docs/cubin_format.md).
#include "cubin/cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "cubin/cubin_file.hpp"
#include "cubin/functions.hpp"
#include "fatlink/ptx_interface.hpp"
#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

using namespace cuda_elf;

/// Whether other modules see the variable: not those that every file declares for its own use, such
/// as .nv.reservedSmem.cap and __nv_reservedSMEM_gb10b_war_var.
bool is_shown(elf_symbol const& symbol)
{
  if ((symbol.other & k_memories) == k_in_reserved) return false;
  if (symbol.binding == STB_LOCAL || ELF64_ST_VISIBILITY(symbol.other) != STV_DEFAULT) return false;
  return symbol.section != SHN_UNDEF || (symbol.other & k_memories) != 0;
}

class interface_reader {
 public:
  explicit interface_reader(cubin_file const& file)
      : file_(file), prototypes_(file.symbols().count()), kernel_sections_(file), names_(file)
  {
    for (auto const& section : file.sections())
      if (section.type == k_prototype) index_prototypes(section);
  }

  ptx_interface read()
  {
    auto const& symbols = file_.symbols();
    for (std::uint32_t index = 0; index < symbols.count(); ++index) {
      auto const symbol = symbols[index];
      if (symbol.type == STT_FUNC) add_function(index, symbol);
      if (symbol.type == k_variable && is_shown(symbol)) add_variable(index, symbol);
    }
    return std::move(interface_);
  }

 private:
  // u32 symbol, u32 offset of the prototype in the symbols' names.
  void index_prototypes(elf_section const& section)
  {
    auto const& symbols = file_.symbols();
    if (section.entry_size != 8 || section.size % 8 != 0 || section.link != file_.symbol_section())
      throw elf_error{section.offset, "prototypes of unknown size or without symbols"};
    byte_reader const table(file_.content(section));
    for (std::uint64_t offset = 0; offset < table.size(); offset += 8) {
      auto const place = section.offset + offset;
      auto const symbol = table.read<std::uint32_t>(offset);
      if (symbol >= symbols.count() || symbols[symbol].type != STT_FUNC)
        throw elf_error{place, "a prototype whose symbol is not a function"};
      auto const text = table.read<std::uint32_t>(offset + 4);
      (void)file_.names_from(text, place);
      if (std::exchange(prototypes_[symbol], text) != 0)
        throw elf_error{place, "a function has two prototypes"};
    }
  }

  void add_function(std::uint32_t index, elf_symbol const& symbol)
  {
    auto const is_kernel = detail::is_kernel(symbol);
    auto const is_extern_kernel = !is_kernel && (symbol.other & k_is_kernel) != 0;
    if (is_extern_kernel || (!is_kernel && symbol.binding == STB_LOCAL)) return;
    ptx_function function{.name = names_.read(index), .is_weak = symbol.binding == STB_WEAK};
    function.is_coarse = true;
    if (is_kernel)
      read_attributes(kernel_sections_.take(index), function);
    else
      read_types(index, function);
    count(index, 1 + function.results.size() + function.parameters.size());
    list_of(function, is_kernel, symbol.section != SHN_UNDEF).push_back(std::move(function));
  }

  std::vector<ptx_function>& list_of(ptx_function const& function, bool is_kernel, bool is_defined)
  {
    if (is_kernel) return interface_.kernels;
    if (!is_defined) return interface_.hooks;
    return function.is_weak ? interface_.weak : interface_.definitions;
  }

  void read_types(std::uint32_t index, ptx_function& function)
  {
    auto const prototype = prototypes_[index];
    function.is_untyped = prototype == 0;
    if (function.is_untyped) return;
    auto const place = file_.symbols().offset_of(index);
    try {
      if (!read_prototype(file_.names_from(prototype, place), function))
        throw elf_error{place, "a function whose prototype is malformed"};
    } catch (cubin_above_limit const& limit) {
      throw cubin_above_limit{place, limit.excess};
    }
  }

  void read_attributes(elf_section const& section, ptx_function& kernel) const
  {
    attribute_reader reader(file_, section);
    parameter_sizes sizes;
    std::uint64_t bytes = 0;
    while (auto const attribute = reader.next()) {
      if (attribute->id == attribute_id::max_block) kernel.max_block_threads = attribute->product();
      if (attribute->id == attribute_id::required_block)
        kernel.required_block = {attribute->number(0), attribute->number(1), attribute->number(2)};
      if (attribute->id == attribute_id::parameter_bytes) bytes = attribute->value;
      add_parameter(*attribute, sizes);
    }
    add_parameters(sizes, bytes, section, kernel);
  }

  /// What attributes say of a parameter: where it lies among the others, and its bytes.
  struct parameter_place {
    std::uint32_t offset;
    std::uint32_t size;
  };
  using parameter_sizes = std::map<std::uint32_t, parameter_place>;  ///< by position

  static void add_parameter(cubin_attribute const& attribute, parameter_sizes& sizes)
  {
    auto const is_large = attribute.id == attribute_id::large_parameter;
    if (attribute.id != attribute_id::parameter && !is_large) return;
    auto const position = attribute.number(1) & 0xFFFFU;
    auto const size = is_large ? attribute.number(2) : attribute.number(2) >> 18U;
    if (!sizes.emplace(position, parameter_place{attribute.number(1) >> 16U, size}).second)
      throw elf_error{attribute.offset, "a kernel's parameter is described twice"};
  }

  /// `bytes` are those of all parameters, 0 if nothing states them.
  static void add_parameters(parameter_sizes const& sizes, std::uint64_t bytes,
                             elf_section const& section, ptx_function& kernel)
  {
    if (sizes.size() > limits::k_parameters)
      throw cubin_above_limit{
          section.offset,
          detail::format("has a kernel of more than {} parameters", limits::k_parameters)};
    std::uint64_t end = 0;
    for (auto const& [position, place] : sizes) {
      if (position != kernel.parameters.size() || place.size == 0 || place.offset < end)
        throw elf_error{section.offset, "a kernel's parameters are incomplete"};
      end = std::uint64_t{place.offset} + place.size;
      kernel.parameters.push_back({.type = "b8", .count = place.size});
    }
    if (bytes != 0 && end != bytes)
      throw elf_error{section.offset, "a kernel's parameters are incomplete"};
  }

  void add_variable(std::uint32_t index, elf_symbol const& symbol)
  {
    auto const is_dynamic = (symbol.other & k_in_shared) != 0 && symbol.size == 0;
    auto const is_extern = symbol.section == SHN_UNDEF || is_dynamic;
    ptx_variable variable{
        .name = names_.read(index), .space = space_of(index, symbol), .type = "b8"};
    variable.count = symbol.size;
    variable.is_unsized = symbol.size == 0;
    variable.is_managed = (symbol.other & k_is_managed) != 0;
    variable.is_weak = symbol.binding == STB_WEAK || symbol.section == SHN_COMMON;
    variable.is_coarse = true;
    count(index, 1);
    (is_extern ? interface_.external_variables : interface_.variables)
        .push_back(std::move(variable));
  }

  [[nodiscard]] char const* space_of(std::uint32_t index, elf_symbol const& symbol) const
  {
    switch (symbol.other & k_memories) {
      case k_in_global:
        return "global";
      case k_in_shared:
        return "shared";
      case k_in_constant:
        return "const";
      default:
        throw elf_error{file_.symbols().offset_of(index), "a variable in an unknown memory"};
    }
  }

  void count(std::uint32_t index, std::size_t declarations)
  {
    declarations_ += declarations;
    if (declarations_ > limits::k_declarations)
      throw cubin_above_limit{
          file_.symbols().offset_of(index),
          detail::format("declares more than {} functions, parameters and variables",
                         limits::k_declarations)};
  }

  cubin_file const& file_;
  std::vector<std::uint32_t> prototypes_;  ///< for each symbol: offset of the text, or 0
  kernel_sections kernel_sections_;
  symbol_names names_;
  ptx_interface interface_;
  std::size_t declarations_ = 0;
};

/// @throws elf_error, out_of_bytes a malformed file. @throws cubin_above_limit
ptx_interface read_interface(cubin_file const& file)
{
  return interface_reader(file).read();
}

class calls_reader {
 public:
  explicit calls_reader(cubin_file const& file) : file_(file), kernel_sections_(file), names_(file)
  {
  }

  std::vector<cubin_function> read()
  {
    auto const& symbols = file_.symbols();
    for (std::uint32_t index = 0; index < symbols.count(); ++index)
      if (symbols[index].type == STT_FUNC) add_function(index, symbols[index]);
    for (auto const& section : file_.sections()) {
      if (section.type == cuda_elf::k_info && section.info == 0) read_registers(section);
      if (section.type == cuda_elf::k_callgraph) read_calls(section);
    }
    return std::move(functions_);
  }

 private:
  void add_function(std::uint32_t index, elf_symbol const& symbol)
  {
    positions_.emplace(index, functions_.size());
    auto& function = functions_.emplace_back();
    function.name = names_.read(index);
    function.is_kernel = is_kernel(symbol);
    function.is_private = symbol.binding == STB_LOCAL;
    if (!function.is_kernel) return;
    attribute_reader reader(file_, kernel_sections_.take(index));
    while (auto const attribute = reader.next())
      if (attribute->id == attribute_id::max_registers) function.max_registers = attribute->value;
  }

  void read_registers(elf_section const& section)
  {
    attribute_reader reader(file_, section);
    while (auto const attribute = reader.next())
      if (attribute->id == attribute_id::register_count)
        if (auto const position = positions_.find(attribute->number(0));
            position != positions_.end())
          functions_[position->second].registers = attribute->number(1);
  }

  void read_calls(elf_section const& section)
  {
    byte_reader const table(file_.content(section));
    for (std::uint64_t offset = 0; offset < table.size(); offset += 8) {
      auto const caller = positions_.find(table.read<std::uint32_t>(offset));
      auto const callee = positions_.find(table.read<std::uint32_t>(offset + 4));
      if (caller != positions_.end() && callee != positions_.end())
        functions_[caller->second].callees.push_back(callee->second);
    }
  }

  cubin_file const& file_;
  kernel_sections kernel_sections_;
  symbol_names names_;
  std::vector<cubin_function> functions_;
  std::map<std::uint32_t, std::size_t> positions_;  ///< in functions_, by symbol
};

}  // namespace

std::vector<cubin_function> read_function_calls(bytes_view bytes, cubin_name const& name)
{
  return read_named(name, [&] {
    cubin_file const file(bytes);
    return calls_reader(file).read();
  });
}

cubin read_cubin(bytes_view bytes, cubin_name const& name)
{
  return read_named(name, [&] {
    cubin_file const file(bytes);
    auto const architecture = read_architecture(file);
    return cubin{.target = architecture.target,
                 .has_exact_target = architecture.has_exact_target,
                 .is_relocatable = file.elf().type() == ET_REL,
                 .toolkit = architecture.toolkit,
                 .interface = read_interface(file)};
  });
}

// The architecture.

namespace {

using cuda_elf::k_abi;
using cuda_elf::k_abi_of_cuda_12;
constexpr std::uint32_t k_arch_specific = 0x800;  // with k_abi_of_cuda_12
constexpr unsigned k_oldest = 20;
constexpr unsigned k_first_with_suffix = 90;
constexpr std::string_view k_owner = "NVIDIA Corp";  // with its NUL
constexpr std::uint32_t k_tool_note = 2000;
constexpr std::uint32_t k_cuda_note = 1000;

/// The number at the beginning of `text`, which it skips; nothing if there is none.
std::optional<unsigned> skip_number(std::string_view& text)
{
  unsigned number = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Removes what stands before the end of `mark`, unless `text` lacks it.
bool skip_past(std::string_view& text, std::string_view mark)
{
  auto const position = text.find(mark);
  if (position == std::string_view::npos) return false;
  text.remove_prefix(position + mark.size());
  return true;
}

/// "Cuda compilation tools, release 13.0, V13.0.88" → 13.0
std::optional<cubin_toolkit> parse_release(std::string_view text)
{
  if (!skip_past(text, "release ")) return {};
  auto const major = skip_number(text);
  if (!major || !text.starts_with('.')) return {};
  text.remove_prefix(1);
  auto const minor = skip_number(text);
  if (!minor) return {};
  return cubin_toolkit{*major, *minor};
}

/// 130 → 13.0
std::optional<cubin_toolkit> toolkit_of(std::uint32_t version)
{
  if (version < 100) return {};
  return cubin_toolkit{version / 10, version % 10};
}

/// "-m 64 -arch sm_90a -c" → sm_90a; nothing for another suffix than `a` and `f`.
std::optional<target> parse_arch(std::string_view options)
{
  if (!skip_past(options, "-arch sm_")) return {};
  auto const number = skip_number(options);
  if (!number) return {};
  auto const suffix = options.substr(0, options.find(' '));
  if (suffix.empty()) return target(*number);
  if (suffix != "a" && suffix != "f") return {};
  return target(*number, suffix.front());
}

/// Returns the more restrictive suffix: `a`, then `f`, then none.
char stricter(char a, char b)
{
  if (a == 'a' || b == 'a') return 'a';
  return a == 'f' || b == 'f' ? 'f' : '\0';
}

class note_reader {
 public:
  note_reader(cubin_file const& file, cubin_architecture& architecture)
      : file_(file), architecture_(architecture)
  {
  }

  void read()
  {
    for (auto const& section : file_.sections())
      if (section.type == SHT_NOTE) read_section(section);
  }

 private:
  // u32 name size, u32 description size, u32 type; name and description, each padded to 4 bytes.
  void read_section(elf_section const& section)
  try {
    auto const padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    byte_reader const notes(file_.content(section));
    for (std::uint64_t offset = 0; offset < notes.size();) {
      auto const name_size = notes.read<std::uint32_t>(offset);
      auto const size = notes.read<std::uint32_t>(offset + 4);
      auto const name = offset + sizeof(Elf64_Nhdr);
      auto const description = name + padded(name_size);
      auto const bytes = notes.view(description, size);
      auto const type = notes.read<std::uint32_t>(offset + 8);
      if (name_size == k_owner.size() + 1 && notes.text(name, k_owner.size()) == k_owner)
        read_note(type, byte_reader(bytes), section.offset + description);
      offset = description + padded(size);
    }
  } catch (out_of_bytes const& end) {
    throw elf_error{section.offset + end.offset, "a note past the end of its section"};
  }

  /// `place`: where the note's description is in the file.
  void read_note(std::uint32_t type, byte_reader const& note, std::uint64_t place)
  try {
    // Of 8 bytes, or of 6 in cubins of the assembler that some of NVIDIA's libraries use.
    if (type == k_cuda_note) add_toolkit(toolkit_of(note.read<std::uint16_t>(4)));
    if (type != k_tool_note) return;
    add_toolkit(parse_release(text(note, 3)));
    auto const arch = parse_arch(text(note, 5));
    if (!arch || arch->number() != architecture_.target.number()) return;
    auto const suffix = stricter(architecture_.target.suffix(), arch->suffix());
    architecture_.target = target(arch->number(), suffix);
    architecture_.has_exact_target = true;
  } catch (out_of_bytes const& end) {
    throw elf_error{place + end.offset, "a note whose text is past its end"};
  }

  /// The text whose offset is the number at `position` of a note of type k_tool_note.
  static std::string_view text(byte_reader const& note, std::uint64_t position)
  {
    constexpr std::uint64_t k_texts = 24;
    auto const offset = k_texts + note.read<std::uint32_t>(position * 4);
    auto const bytes = note.view(offset, note.size() - std::min(offset, note.size()));
    std::string_view const rest(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    return rest.substr(0, rest.find('\0'));
  }

  /// Keeps the newest.
  void add_toolkit(std::optional<cubin_toolkit> toolkit)
  {
    architecture_.toolkit = std::max(architecture_.toolkit, toolkit);
  }

  cubin_file const& file_;
  cubin_architecture& architecture_;
};

}  // namespace

unsigned architecture_number(elf_reader const& elf)
{
  return (elf.os_abi() == k_abi ? elf.flags() >> 8U : elf.flags()) & 0xFFU;
}

cubin_architecture read_architecture(cubin_file const& file)
{
  auto const& elf = file.elf();
  if (elf.os_abi() != k_abi && elf.os_abi() != k_abi_of_cuda_12)
    throw elf_error{EI_OSABI, "an ABI that is not known"};
  auto const number = architecture_number(elf);
  if (number < k_oldest)
    throw elf_error{offsetof(Elf64_Ehdr, e_flags), "an architecture that is not known"};
  cubin_architecture architecture{.target = target(number),
                                  .has_exact_target = number < k_first_with_suffix};
  if (elf.os_abi() == k_abi) {
    note_reader(file, architecture).read();
  } else {
    architecture.target = target(number, (elf.flags() & k_arch_specific) != 0 ? 'a' : '\0');
    architecture.has_exact_target = true;
    architecture.toolkit = toolkit_of(elf.version());
  }
  return architecture;
}

}  // namespace fatlink::detail
