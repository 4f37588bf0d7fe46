// SPDX-License-Identifier: Apache-2.0
#include "linker/image_functions.hpp"

#include <elf.h>

#include <algorithm>

#include "fatlink/error.hpp"
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

std::vector<std::string> read_functions(bytes_view cubin)
{
  elf_reader const elf(cubin);
  if (elf.machine() != k_elf_machine_cuda)
    fail(offsetof(Elf64_Ehdr, e_machine), "is not a CUDA ELF file");
  std::vector<std::string> functions;
  for (std::uint32_t index = 0; index < elf.section_count(); ++index) {
    auto const section = elf.section(index);
    if (section.type != SHT_SYMTAB) continue;
    elf_symbols const symbols(elf, section);
    for (std::uint64_t i = 0; i < symbols.count(); ++i)
      if (symbols[i].type == STT_FUNC) functions.push_back(symbols.name(i));
  }
  return functions;
}

bool is_before(std::string const& a, std::string const& b)
{
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

}  // namespace

std::vector<std::string> functions_in_cubin(bytes_view cubin)
try {
  return read_functions(cubin);
} catch (elf_error const& error) {
  fail(error.offset, error.cause);
} catch (out_of_bytes const& end) {
  fail(end.offset,
       detail::format("truncated: {} bytes are needed, it has {}", end.wanted, end.size));
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
  if (image.kind == image_kind::cubin) return functions_in_cubin(image.bytes);
  if (image.kind == image_kind::ptx)
    return functions_in_ptx(
        {reinterpret_cast<char const*>(image.bytes.data()), image.bytes.size()});
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
