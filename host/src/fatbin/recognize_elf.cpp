// SPDX-License-Identifier: Apache-2.0
// ELF files: the ELF64 header and the names in the section header string table.
// Source: System V ABI, "Object Files"; for cubins, observed with CUDA 12.9 to 13.0.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fatbin/recognize_form.hpp"
#include "util/bytes/byte_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::uint8_t k_class_64 = 2;
constexpr std::uint8_t k_little_endian = 1;
constexpr std::uint16_t k_type_relocatable = 1;
constexpr std::uint16_t k_machine_cuda = 190;
constexpr std::uint8_t k_abi_cuda_13 = 0x41;  // the SM is in bits 8 to 15 of e_flags; else 0 to 7
constexpr std::size_t k_longest_name = 32;

/// The section's name: what there is of it up to a NUL.
std::string name_at(byte_reader const& bytes, std::uint64_t offset)
{
  if (offset >= bytes.size()) return {};
  auto const count = std::min<std::uint64_t>(bytes.size() - offset, k_longest_name);
  auto const text = bytes.text(offset, count);
  return text.substr(0, text.find('\0'));
}

/// Section headers: e_shnum of e_shentsize (64) bytes from e_shoff; sh_name at 0, sh_offset at 24.
std::vector<std::string> section_names(byte_reader const& bytes)
{
  auto const table = bytes.read<std::uint64_t>(40);
  auto const size = bytes.read<std::uint16_t>(58);
  auto const count = bytes.read<std::uint16_t>(60);
  auto const names = bytes.read<std::uint16_t>(62);
  auto const headers = bytes.view(table, std::uint64_t{size} * count);
  if (size < 64 || names >= count) return {};
  byte_reader const header(headers);
  auto const strings = header.read<std::uint64_t>(std::uint64_t{names} * size + 24);
  std::vector<std::string> found;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const name = header.read<std::uint32_t>(i * size);
    if (strings <= bytes.size()) found.push_back(name_at(bytes, strings + name));
  }
  return found;
}

std::string describe_device_code(byte_reader const& bytes)
try {
  auto const names = section_names(bytes);
  auto const has = [&](char const* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has("__nv_relfatbin")) return " with relocatable device code (section __nv_relfatbin)";
  if (has(".nv_fatbin")) return " with whole-program device code (section .nv_fatbin)";
  return " without device code";
} catch (out_of_bytes const&) {
  return ", truncated";
}

std::string describe_type(std::uint16_t type)
{
  if (type == k_type_relocatable) return "relocatable object";
  return type == 2 ? "executable" : type == 3 ? "executable or shared library" : "file";
}

std::string describe_machine(std::uint16_t machine)
{
  return machine == 62    ? "x86-64"
         : machine == 183 ? "AArch64"
                          : detail::format("machine {}", machine);
}

std::string describe_cubin(byte_reader const& bytes)
{
  auto const flags = bytes.read<std::uint32_t>(48);
  auto const sm = (bytes.read<std::uint8_t>(7) == k_abi_cuda_13 ? flags >> 8U : flags) & 0xFFU;
  if (bytes.read<std::uint16_t>(16) == k_type_relocatable)
    return detail::format("a relocatable CUDA cubin for sm_{}", sm);
  return detail::format("a CUDA cubin for sm_{} (whole program, cannot be linked)", sm);
}

std::string describe(byte_reader const& bytes)
{
  auto const machine = bytes.read<std::uint16_t>(18);
  if (machine == k_machine_cuda) return describe_cubin(bytes);
  return detail::format("an ELF {} ({}){}", describe_type(bytes.read<std::uint16_t>(16)),
                        describe_machine(machine), describe_device_code(bytes));
}

}  // namespace

file_form recognize_elf(bytes_view bytes)
try {
  byte_reader const reader(bytes);
  auto const is_known =
      reader.read<std::uint8_t>(4) == k_class_64 && reader.read<std::uint8_t>(5) == k_little_endian;
  return {is_known ? describe(reader) : "an ELF file that is not 64-bit little-endian",
          k_compile_remedy};
} catch (out_of_bytes const&) {
  return {"a truncated ELF file", k_compile_remedy};
}

}  // namespace fatlink::detail
