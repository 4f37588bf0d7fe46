// SPDX-License-Identifier: Apache-2.0
#include "fatlink/resources.hpp"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cubin/cubin.hpp"
#include "cubin/cubin_file.hpp"
#include "cubin/functions.hpp"
#include "fatlink/error.hpp"
#include "util/text/format.hpp"

namespace fatlink {
namespace {

using namespace detail;

constexpr std::uint32_t k_unknown_stack = 0xFFFFFFFF;
/// In linked cubins for sm_90 and newer, the section of a kernel's shared memory begins with the
/// bytes that CUDA reserves.
constexpr std::uint64_t k_reserved_shared_bytes = 1024;
constexpr unsigned k_first_that_reserves = 90;

class resources_reader {
 public:
  explicit resources_reader(cubin_file const& file)
      : file_(file), kernel_sections_(file), names_(file)
  {
  }

  std::vector<kernel_resources> read()
  {
    auto const& symbols = file_.symbols();
    for (std::uint32_t index = 0; index < symbols.count(); ++index)
      if (is_kernel(symbols[index])) add_kernel(index, symbols[index]);
    for (auto const& section : file_.sections()) {
      if (section.type == cuda_elf::k_info && section.info == 0) read_shared_attributes(section);
      add_memory(section);
    }
    return std::move(kernels_);
  }

 private:
  void add_kernel(std::uint32_t index, elf_symbol const& symbol)
  {
    auto const& attributes = kernel_sections_.take(index);
    by_symbol_.emplace(index, kernels_.size());
    by_section_.emplace(symbol.section, kernels_.size());
    auto& kernel = kernels_.emplace_back();
    kernel.name = names_.read(index);
    read_own_attributes(attributes, kernel);
    auto const code = file_.content(file_.sections()[symbol.section]);
    auto const accesses = count_local_accesses(byte_reader(code).view(symbol.value, symbol.size),
                                               architecture_number(file_.elf()));
    if (!accesses) return;
    kernel.local_store_bytes = accesses->stores;
    kernel.local_load_bytes = accesses->loads;
  }

  void read_own_attributes(elf_section const& section, kernel_resources& kernel) const
  {
    attribute_reader reader(file_, section);
    while (auto const attribute = reader.next()) {
      auto const& a = *attribute;
      if (a.id == attribute_id::parameter_bytes) kernel.parameter_bytes = a.value;
      if (a.id == attribute_id::max_registers) kernel.max_registers = a.value;
      if (a.id == attribute_id::max_block) kernel.max_block_threads = a.product();
      if (a.id == attribute_id::required_block)
        kernel.required_block = {a.number(0), a.number(1), a.number(2)};
    }
  }

  /// Reads the attributes that name their function.
  void read_shared_attributes(elf_section const& section)
  {
    attribute_reader reader(file_, section);
    while (auto const attribute = reader.next()) {
      auto const& a = *attribute;
      if (a.id != attribute_id::register_count && a.id != attribute_id::frame_size &&
          a.id != attribute_id::min_stack_size)
        continue;
      auto const value = a.number(1);
      auto const position = by_symbol_.find(a.number(0));
      if (position == by_symbol_.end()) continue;
      auto& kernel = kernels_[position->second];
      if (a.id == attribute_id::register_count) kernel.registers = value;
      if (a.id == attribute_id::frame_size) kernel.frame_bytes = value;
      if (a.id == attribute_id::min_stack_size && value != k_unknown_stack)
        kernel.stack_bytes = value;
    }
  }

  /// Adds the section if it is a kernel's shared or constant memory.
  void add_memory(elf_section const& section)
  {
    if ((section.flags & SHF_INFO_LINK) == 0) return;
    auto const position = by_section_.find(section.info);
    if (position == by_section_.end()) return;
    auto& kernel = kernels_[position->second];
    if (file_.elf().name_starts_with(section, ".nv.shared."))
      kernel.static_shared_bytes += shared_bytes(section);
    if (file_.elf().name_starts_with(section, ".nv.constant"))
      kernel.constant_bytes += section.size;
  }

  [[nodiscard]] std::uint64_t shared_bytes(elf_section const& section) const
  {
    auto const has_reserved = file_.elf().type() == ET_EXEC &&
                              architecture_number(file_.elf()) >= k_first_that_reserves &&
                              section.size >= k_reserved_shared_bytes;
    return has_reserved ? section.size - k_reserved_shared_bytes : section.size;
  }

  cubin_file const& file_;
  kernel_sections kernel_sections_;
  symbol_names names_;
  std::vector<kernel_resources> kernels_;
  std::map<std::uint32_t, std::size_t> by_symbol_;   ///< positions in kernels_
  std::map<std::uint32_t, std::size_t> by_section_;  ///< positions in kernels_
};

}  // namespace

std::vector<kernel_resources> resources(bytes_view cubin, std::string_view name)
{
  return read_named({name}, [&] {
    cubin_file const file(cubin);
    (void)read_architecture(file);
    return resources_reader(file).read();
  });
}

std::vector<kernel_resources> resources(linked_image const& image)
{
  if (image.kind != image_kind::cubin)
    throw usage_error({.message = detail::format("resources: the linked image is {}, and only a "
                                                 "cubin states resources",
                                                 to_string(image.kind)),
                       .input = to_string(image.kind),
                       .code = error_code::invalid_argument,
                       .hint = "link to a cubin"});
  return resources(image.bytes, "linked image");
}

}  // namespace fatlink
