// SPDX-License-Identifier: Apache-2.0
#include "linker/image_calls.hpp"

#include "cubin/cubin_file.hpp"
#include "fatlink/error.hpp"
#include "linker/image_functions.hpp"
#include "ptx/lexer.hpp"
#include "util/bytes/elf_reader.hpp"

namespace fatlink::detail {
namespace {

void read_callgraph(elf_reader const& elf, elf_section const& section,
                    std::vector<image_call>& calls)
{
  elf_symbols const symbols(elf, elf.section(section.link));
  byte_reader const table(elf.view(section));
  for (std::uint64_t offset = 0; offset + 8 <= table.size(); offset += 8) {
    auto const caller = table.read<std::uint32_t>(offset);
    auto const callee = table.read<std::uint32_t>(offset + 4);
    if (caller != 0 && caller < symbols.count() && callee < symbols.count())
      calls.push_back({symbols.name(caller), symbols.name(callee)});
  }
}

/// The name of the function whose head begins after `.func` or `.entry`.
std::string_view read_name(ptx::lexer& lexer)
{
  auto token = lexer.next();
  if (token.text != "(") return token.text;
  while (token.kind != ptx::token_kind::end && token.text != ")") token = lexer.next();
  return lexer.next().text;
}

}  // namespace

image_call split_inner_name(std::string_view name)
{
  if (!name.starts_with('$')) return {};
  auto const middle = name.find('$', 1);
  if (middle == std::string_view::npos) return {};
  return {std::string(name.substr(1, middle - 1)), std::string(name.substr(middle + 1))};
}

std::vector<image_call> calls_in_cubin(bytes_view cubin)
{
  std::vector<image_call> calls;
  read_image(cubin, [&](elf_reader const& elf) {
    for (std::uint32_t index = 0; index < elf.section_count(); ++index)
      if (auto const section = elf.section(index); section.type == cuda_elf::k_callgraph)
        read_callgraph(elf, section, calls);
  });
  for (auto const& name : functions_in_cubin(cubin))
    if (auto call = split_inner_name(name); !call.callee.empty()) calls.push_back(std::move(call));
  return calls;
}

std::vector<image_call> calls_in_ptx(std::string_view ptx)
{
  std::vector<image_call> calls;
  ptx::lexer lexer(ptx);
  std::string_view function;
  for (auto token = lexer.next(); token.kind != ptx::token_kind::end; token = lexer.next()) {
    if (token.text == ".func" || token.text == ".entry") function = read_name(lexer);
    if (token.text != "call") continue;
    // call.uni (result), function, (arguments); of which only the function is no variable
    for (; token.kind != ptx::token_kind::end && token.text != ";"; token = lexer.next())
      if (token.kind == ptx::token_kind::word && token.text != "call")
        calls.push_back({std::string(function), std::string(token.text)});
  }
  return calls;
}

std::vector<image_call> calls_in(linked_image const& image)
{
  if (image.kind == image_kind::cubin || image.kind == image_kind::relocatable)
    return calls_in_cubin(image.bytes);
  return calls_in_ptx({reinterpret_cast<char const*>(image.bytes.data()), image.bytes.size()});
}

}  // namespace fatlink::detail
