// SPDX-License-Identifier: Apache-2.0
#include "linker/image_functions.hpp"

#include <elf.h>

#include <algorithm>

#include "fatlink/error.hpp"
#include "fatlink/ptx_interface.hpp"
#include "ptx/lexer.hpp"
#include "util/bytes/elf_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

[[noreturn]] void fail(std::uint64_t offset, std::string const& cause)
{
  throw file_error(stage::image,
                   {.message = detail::format("linked image: {}, at byte {}", cause, offset),
                    .input = "linked image",
                    .code = error_code::invalid_image,
                    .hint = "link again; if it happens again, report it with the inputs"});
}

constexpr std::uint8_t k_entry_flag = 0x10;  // of st_other: a kernel (STO_CUDA_ENTRY)

/// Calls `visit` for each function and variable of `cubin`.
template <typename Visit>
void visit_symbols(bytes_view cubin, Visit const& visit)
{
  read_image(cubin, [&](elf_reader const& elf) {
    if (elf.machine() != k_elf_machine_cuda)
      fail(offsetof(Elf64_Ehdr, e_machine), "is not a CUDA ELF file");
    for (std::uint32_t index = 0; index < elf.section_count(); ++index)
      if (auto const section = elf.section(index); section.type == SHT_SYMTAB) {
        elf_symbols const symbols(elf, section);
        for (std::uint64_t i = 0; i < symbols.count(); ++i) visit(symbols[i], symbols.name(i));
      }
  });
}

image_symbols symbols_in_cubin(bytes_view cubin)
{
  image_symbols symbols;
  visit_symbols(cubin, [&](elf_symbol const& symbol, std::string name) {
    if (symbol.section == SHN_UNDEF) return;
    if (symbol.type == STT_OBJECT)
      symbols.variables.push_back(std::move(name));
    else if (symbol.type == STT_FUNC && (symbol.other & k_entry_flag) != 0)
      symbols.kernels.push_back(std::move(name));
  });
  return symbols;
}

template <typename Declaration>
std::vector<std::string> names_of(std::vector<Declaration> const& declarations)
{
  std::vector<std::string> names;
  for (auto const& declaration : declarations) names.push_back(declaration.name);
  return names;
}

std::string_view text_of(bytes_view ptx)
{
  return {reinterpret_cast<char const*>(ptx.data()), ptx.size()};
}

bool is_before(std::string const& a, std::string const& b)
{
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

}  // namespace

void read_image(bytes_view cubin, std::function<void(elf_reader const&)> const& read)
try {
  read(elf_reader(cubin));
} catch (elf_error const& error) {
  fail(error.offset, error.cause);
} catch (out_of_bytes const& end) {
  fail(end.offset,
       detail::format("truncated: {} bytes are needed, it has {}", end.wanted, end.size));
}

void check_executable(bytes_view cubin)
{
  read_image(cubin, [](elf_reader const& elf) {
    if (elf.type() != ET_EXEC)
      fail(offsetof(Elf64_Ehdr, e_type),
           detail::format("has the ELF type {:#x}, not that of an executable, so no GPU loads it",
                          elf.type()));
  });
}

std::vector<std::string> functions_in_cubin(bytes_view cubin)
{
  std::vector<std::string> functions;
  visit_symbols(cubin, [&](elf_symbol const& symbol, std::string name) {
    if (symbol.type == STT_FUNC) functions.push_back(std::move(name));
  });
  return functions;
}

image_symbols symbols_in(image_kind kind, bytes_view image)
{
  if (kind == image_kind::cubin || kind == image_kind::relocatable) return symbols_in_cubin(image);
  auto const interface = read_ptx_interface(text_of(image), "linked image");
  return {names_of(interface.kernels), names_of(interface.variables)};
}

std::vector<std::string> functions_in_ptx(std::string_view ptx)
{
  std::vector<std::string> functions;
  ptx::lexer lexer(ptx);
  auto const is_end = [](ptx::token const& token) { return token.kind == ptx::token_kind::end; };
  for (auto token = lexer.next(); !is_end(token); token = lexer.next()) {
    if (token.text != ".func" && token.text != ".entry") continue;
    token = lexer.next();
    if (token.text == "(") {
      while (!is_end(token) && token.text != ")") token = lexer.next();
      token = lexer.next();
    }
    functions.emplace_back(token.text);
  }
  return functions;
}

std::vector<std::string> functions_in(linked_image const& image)
{
  if (image.kind == image_kind::cubin || image.kind == image_kind::relocatable)
    return functions_in_cubin(image.bytes);
  if (image.kind == image_kind::ptx) return functions_in_ptx(text_of(image.bytes));
  std::vector<std::string> functions;
  for (auto const& part : image.parts)
    for (auto& name : functions_in_ptx(part.text)) functions.push_back(std::move(name));
  return functions;
}

linked_functions::linked_functions(std::vector<std::string> names) : names_(std::move(names))
{
  std::sort(names_.begin(), names_.end(), is_before);
}

bool linked_functions::inlined(std::string const& hook) const
{
  return !std::binary_search(names_.begin(), names_.end(), hook, is_before) &&
         !has_ending('$' + hook);
}

bool linked_functions::has_ending(std::string const& ending) const
{
  auto const name = std::lower_bound(names_.begin(), names_.end(), ending, is_before);
  return name != names_.end() && name->ends_with(ending);
}

}  // namespace fatlink::detail
