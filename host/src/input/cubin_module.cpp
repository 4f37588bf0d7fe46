// SPDX-License-Identifier: Apache-2.0
#include "input/cubin_module.hpp"

#include "input/entry_flags.hpp"
#include "input/refuse.hpp"
#include "util/bytes/elf_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

constexpr std::uint8_t k_abi_cuda_13 = 0x41;  // the SM is in bits 8 to 15 of e_flags; else 0 to 7
constexpr unsigned k_least_architecture = 10;

// TO REPLACE: read_cubin of host/src/cubin gives the exact target, with its suffix.
target target_of(elf_reader const& elf)
{
  return target((elf.abi_version() == k_abi_cuda_13 ? elf.flags() >> 8U : elf.flags()) & 0xFFU);
}

/// Reads all sections, so that none lies past the end.
void check_sections(elf_reader const& elf)
{
  constexpr std::uint32_t k_no_bits = 8;  // SHT_NOBITS
  for (std::uint16_t index = 0; index < elf.section_count(); ++index)
    if (auto const section = elf.section(index); section.type != k_no_bits) (void)elf.view(section);
}

}  // namespace

fatbin_entry cubin_entry(bytes_view bytes, std::string_view name)
{
  input_file const file{name, error_code::corrupt_cubin,
                        "build it again, or copy it again in full"};
  try {
    elf_reader const elf(bytes);
    check_sections(elf);
    fatbin_entry entry;
    entry.kind = entry_kind::elf;
    entry.target = target_of(elf);
    if (entry.target.number() < k_least_architecture)
      refuse_damaged(file, 0x30, detail::format("architecture {}", entry.target.number()));
    entry.version_major = 1;
    entry.version_minor = 8;
    entry.flags = flags_of(entry.target);
    entry.payload = bytes;
    entry.uncompressed_size = bytes.size();
    return entry;
  } catch (out_of_bytes const& end) {
    refuse_truncated(file, end);
  } catch (elf_error const& error) {
    refuse_damaged(file, error.offset, error.cause);
  }
}

}  // namespace fatlink::detail
