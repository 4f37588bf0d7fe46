// SPDX-License-Identifier: Apache-2.0
#include "fatlink/image.hpp"

#include <elf.h>

#include <algorithm>

#include "ptx/lexer.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

constexpr std::uint16_t k_em_cuda = 190;

[[noreturn]] void fail(std::uint64_t offset, std::string const& why)
{
  throw file_error(stage::image,
                   {.message = detail::format("linked image: {}, at byte {}", why, offset),
                    .input = "linked image",
                    .code = error_code::invalid_image,
                    .hint = "link again; if it happens again, report it with the inputs"});
}

// Field offsets of Elf64_Ehdr, Elf64_Shdr and Elf64_Sym, by the system's elf.h.
struct section {
  std::uint32_t type;
  std::uint64_t offset;
  std::uint64_t size;
  std::uint32_t link;
};

section read_section(detail::byte_reader const& elf, std::uint64_t table, std::uint64_t index)
{
  auto const at = table + index * sizeof(Elf64_Shdr);
  return {.type = elf.read<std::uint32_t>(at + offsetof(Elf64_Shdr, sh_type)),
          .offset = elf.read<std::uint64_t>(at + offsetof(Elf64_Shdr, sh_offset)),
          .size = elf.read<std::uint64_t>(at + offsetof(Elf64_Shdr, sh_size)),
          .link = elf.read<std::uint32_t>(at + offsetof(Elf64_Shdr, sh_link))};
}

std::string text_at(bytes_view strings, std::uint64_t offset)
{
  if (offset >= strings.size()) fail(offset, "a symbol's name is outside the string table");
  auto const* begin = reinterpret_cast<char const*>(strings.data()) + offset;
  auto const* end = reinterpret_cast<char const*>(strings.data()) + strings.size();
  return {begin, std::find(begin, end, '\0')};
}

void read_symbols(detail::byte_reader const& elf, section const& symbols, section const& names,
                  std::vector<std::string>& functions)
{
  auto const strings = elf.view(names.offset, names.size);
  (void)elf.view(symbols.offset, symbols.size);
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size; at += sizeof(Elf64_Sym)) {
    auto const symbol = symbols.offset + at;
    auto const info = elf.read<std::uint8_t>(symbol + offsetof(Elf64_Sym, st_info));
    if (ELF64_ST_TYPE(info) != STT_FUNC) continue;
    functions.push_back(
        text_at(strings, elf.read<std::uint32_t>(symbol + offsetof(Elf64_Sym, st_name))));
  }
}

std::vector<std::string> read_functions(detail::byte_reader const& elf)
{
  if (elf.text(0, SELFMAG) != std::string(ELFMAG, SELFMAG) ||
      elf.read<std::uint8_t>(EI_CLASS) != ELFCLASS64)
    fail(0, "is no 64-bit ELF");
  if (elf.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_machine)) != k_em_cuda)
    fail(offsetof(Elf64_Ehdr, e_machine), "is no CUDA ELF");
  auto const table = elf.read<std::uint64_t>(offsetof(Elf64_Ehdr, e_shoff));
  auto const count = elf.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_shnum));
  if (elf.read<std::uint16_t>(offsetof(Elf64_Ehdr, e_shentsize)) != sizeof(Elf64_Shdr))
    fail(offsetof(Elf64_Ehdr, e_shentsize), "section headers of unknown size");

  std::vector<std::string> functions;
  (void)elf.view(table, count * sizeof(Elf64_Shdr));
  for (std::uint16_t i = 0; i < count; ++i) {
    auto const found = read_section(elf, table, i);
    if (found.type != SHT_SYMTAB) continue;
    if (found.link >= count) fail(table, "a symbol table without strings");
    read_symbols(elf, found, read_section(elf, table, found.link), functions);
  }
  return functions;
}

}  // namespace

char const* to_string(cache_outcome outcome) noexcept
{
  switch (outcome) {
    case cache_outcome::off:
      return "off";
    case cache_outcome::miss:
      return "miss";
    case cache_outcome::hit:
      return "hit";
  }
  return "unknown";
}

char const* to_string(image_kind kind) noexcept
{
  switch (kind) {
    case image_kind::cubin:
      return "cubin";
    case image_kind::ptx:
      return "ptx";
    case image_kind::ptx_set:
      return "ptx_set";
  }
  return "unknown";
}

bool linked_image::inlined() const noexcept
{
  return !hooks.empty() && std::all_of(hooks.begin(), hooks.end(),
                                       [](hook_fact const& hook) { return hook.inlined; });
}

std::vector<std::string> functions_in_cubin(bytes_view cubin)
try {
  return read_functions(detail::byte_reader(cubin));
} catch (detail::out_of_bytes const& end) {
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

bool is_inlined(std::vector<std::string> const& functions, std::string const& hook) noexcept
{
  auto const is_hook = [&](std::string const& name) {
    return name == hook || (name.ends_with(hook) && name.size() > hook.size() &&
                            name[name.size() - hook.size() - 1] == '$');
  };
  return std::none_of(functions.begin(), functions.end(), is_hook);
}

}  // namespace fatlink
