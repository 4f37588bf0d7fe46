// SPDX-License-Identifier: Apache-2.0
// ELF files: the ELF64 header and the names in the section header string table.
// Source: System V ABI, "Object Files"; for cubins, observed with CUDA 12.9 to 13.0.
#include <elf.h>

#include <cstdint>
#include <string>

#include "cubin/architecture.hpp"
#include "fatbin/recognize_form.hpp"
#include "util/bytes/elf_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

bool has_section(elf_reader const& elf, char const* name)
{
  for (std::uint32_t index = 0; index < elf.section_count(); ++index)
    if (elf.has_name(elf.section(index), name)) return true;
  return false;
}

std::string describe_device_code(elf_reader const& elf)
try {
  if (has_section(elf, "__nv_relfatbin"))
    return " with relocatable device code (section __nv_relfatbin)";
  if (has_section(elf, ".nv_fatbin")) return " with whole-program device code (section .nv_fatbin)";
  return " without device code";
} catch (out_of_bytes const&) {
  return ", truncated";
} catch (elf_error const&) {
  return " without device code";
}

std::string describe_type(std::uint16_t type)
{
  if (type == ET_REL) return "relocatable object";
  return type == ET_EXEC ? "executable" : type == ET_DYN ? "executable or shared library" : "file";
}

std::string describe_machine(std::uint16_t machine)
{
  return machine == EM_X86_64    ? "x86-64"
         : machine == EM_AARCH64 ? "AArch64"
                                 : detail::format("machine {}", machine);
}

std::string describe_cubin(elf_reader const& elf)
{
  auto const sm = architecture_number(elf);
  if (elf.type() == ET_REL) return detail::format("a relocatable CUDA cubin for sm_{}", sm);
  return detail::format("a CUDA cubin for sm_{} (whole program, cannot be linked)", sm);
}

/// By the header's machine, which files of every class and byte order have at one place.
bool is_cubin(bytes_view bytes)
{
  constexpr auto k_machine = offsetof(Elf64_Ehdr, e_machine);
  return bytes.size() >= k_machine + 2 &&
         byte_reader(bytes).read<std::uint16_t>(k_machine) == k_elf_machine_cuda;
}

/// Whether fatlink pack may make a fatbin of it.
bool is_packable(elf_reader const& elf)
{
  return elf.type() == ET_REL &&
         (elf.machine() == k_elf_machine_cuda || has_section(elf, "__nv_relfatbin"));
}

std::string describe_elf(elf_reader const& elf)
{
  if (elf.machine() == k_elf_machine_cuda) return describe_cubin(elf);
  return detail::format("an ELF {} ({}){}", describe_type(elf.type()),
                        describe_machine(elf.machine()), describe_device_code(elf));
}

}  // namespace

file_form recognize_elf(bytes_view bytes)
{
  auto const kind = is_cubin(bytes) ? file_kind::cubin : file_kind::object;
  try {
    elf_reader const elf(bytes);
    return {kind, describe_elf(elf), is_packable(elf) ? k_pack_remedy : k_compile_remedy};
  } catch (elf_error const&) {
    return {kind, "an ELF file that is not 64-bit little-endian", k_compile_remedy};
  } catch (out_of_bytes const&) {
    return {kind, "a truncated ELF file", k_compile_remedy};
  }
}

}  // namespace fatlink::detail
