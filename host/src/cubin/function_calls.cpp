// SPDX-License-Identifier: Apache-2.0
// The functions of a cubin with their registers and calls: attributes and call graph
// (docs/cubin_format.md).

#include <elf.h>

#include <map>
#include <utility>

#include "cubin/attributes.hpp"
#include "cubin/cubin.hpp"
#include "cubin/cubin_error.hpp"
#include "cubin/symbol_names.hpp"

namespace fatlink::detail {
namespace {

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

}  // namespace fatlink::detail
