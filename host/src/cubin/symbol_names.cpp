// SPDX-License-Identifier: Apache-2.0
#include "cubin/symbol_names.hpp"

#include <elf.h>

#include <algorithm>

#include "util/limits.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

bool is_printable(std::string_view name)
{
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

bool is_kernel(elf_symbol const& symbol)
{
  return symbol.type == STT_FUNC && symbol.section != SHN_UNDEF &&
         (symbol.other & cuda_elf::k_is_kernel) != 0;
}

std::string symbol_names::read(std::uint32_t index)
{
  auto const place = file_.symbols().offset_of(index);
  auto const rest = file_.names_from(file_.symbols()[index].name, place);
  auto const longest = rest.substr(0, limits::k_name_bytes + 1);
  std::string name(longest.substr(0, longest.find('\0')));
  if (name.size() > limits::k_name_bytes)
    throw cubin_above_limit{
        place, detail::format("has a name of more than {} bytes", limits::k_name_bytes)};
  if (name.empty() || !is_printable(name))
    throw elf_error{place, "a function or variable without a readable name"};
  bytes_ += name.size();
  if (bytes_ > limits::k_cubin_name_bytes)
    throw cubin_above_limit{place, detail::format("has names of more than {} bytes together",
                                                  limits::k_cubin_name_bytes)};
  return name;
}

}  // namespace fatlink::detail
