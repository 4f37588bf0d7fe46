// SPDX-License-Identifier: Apache-2.0
#include "input/object.hpp"

#include <elf.h>

#include <cstddef>

#include "fatbin/write_fatbin.hpp"
#include "fatlink/fatbin.hpp"
#include "input/refuse.hpp"
#include "util/bytes/elf_reader.hpp"
#include "util/text/format.hpp"

namespace fatlink::detail {
namespace {

class object_reader {
 public:
  object_reader(bytes_view object, std::string_view name)
      : bytes_(object),
        file_{name, error_code::corrupt_object, "build it again, or copy it again in full"}
  {
  }

  object_code read()
  try {
    if (is_foreign()) return {};
    elf_reader const elf(bytes_.view(0, bytes_.size()));
    check_section_count(elf);
    for (std::uint16_t index = 0; index < elf.section_count(); ++index)
      read_section(elf, elf.section(index));
    return std::move(code_);
  } catch (out_of_bytes const& end) {
    refuse_truncated(file_, end);
  } catch (elf_error const& error) {
    refuse_damaged(file_, error.offset, error.cause);
  }

 private:
  /// Whether it is for a host that CUDA 13 does not have: 32-bit or big-endian.
  [[nodiscard]] bool is_foreign() const
  {
    if (bytes_.text(0, SELFMAG) != std::string(ELFMAG, SELFMAG))
      refuse_damaged(file_, 0, "is not an ELF file");
    return bytes_.read<std::uint8_t>(EI_CLASS) == ELFCLASS32 ||
           bytes_.read<std::uint8_t>(EI_DATA) == ELFDATA2MSB;
  }

  void check_section_count(elf_reader const& elf) const
  {
    auto const table = bytes_.read<std::uint64_t>(offsetof(Elf64_Ehdr, e_shoff));
    if (elf.section_count() == 0 && table != 0)
      refuse_input(error_code::above_limit, file_.name,
                   detail::format("has {} sections or more, above the limit", SHN_LORESERVE),
                   "pass the objects that it was made from");
  }

  void read_section(elf_reader const& elf, elf_section const& section)
  {
    if (section.type == SHT_NULL || section.type == SHT_NOBITS) return;
    auto const content = elf.view(section);
    if (elf.has_name(section, ".nv_fatbin")) code_.has_whole_program = true;
    if (elf.name_starts_with(section, ".gnu.lto_")) code_.has_host_lto = true;
    if (!elf.has_name(section, "__nv_relfatbin")) return;
    size_in_all_ += section.size;
    if (size_in_all_ > bytes_.size())
      refuse_damaged(file_, section.offset, "sections __nv_relfatbin overlap");
    byte_reader const containers(content);
    for (std::uint64_t offset = 0; offset < content.size();)
      offset += add_container(containers, offset, section.offset + offset);
  }

  /// Checks the container at `offset` of a section, which is `place` in the file, and lists it if
  /// it has entries; returns its size.
  std::uint64_t add_container(byte_reader const& section, std::uint64_t offset, std::uint64_t place)
  {
    auto const rest = section.size() - offset;
    if (rest < layout::k_container_header || section.read<std::uint32_t>(offset) != layout::k_magic)
      refuse_damaged(file_, place, "no fatbin container is here, in section __nv_relfatbin");
    auto const entries = section.read<std::uint64_t>(offset + 8);
    if (entries > rest - layout::k_container_header)
      refuse_damaged(file_, place + 8, "a fatbin container is longer than section __nv_relfatbin");
    auto const container = section.view(offset, layout::k_container_header + entries);
    if (entries != 0) {
      check_entries(container, place);
      code_.containers.push_back(container);
    }
    return container.size();
  }

  void check_entries(bytes_view container, std::uint64_t place) const
  try {
    (void)read_fatbin(container, detail::format("{}: container at byte {}", file_.name, place));
  } catch (format_error const& error) {
    auto details = error.details();
    details.input = std::string(file_.name);
    if (details.code == error_code::corrupt_fatbin) details.code = file_.damage;
    throw format_error(stage::input, place + error.offset(), std::move(details));
  }

  byte_reader bytes_;
  input_file file_;
  object_code code_;
  std::uint64_t size_in_all_ = 0;  ///< of sections with relocatable device code
};

}  // namespace

object_code read_object(bytes_view object, std::string_view name)
{
  return object_reader(object, name).read();
}

void refuse_host_lto(std::string_view name)
{
  refuse_input(
      error_code::no_device_code, name,
      "holds no device code: the link-time optimization of the host compiler (-flto) hides "
      "it until the program is linked",
      "compile with -Xcompiler -fno-lto or -Xcompiler -ffat-lto-objects; in CMake set the "
      "property INTERPROCEDURAL_OPTIMIZATION to OFF");
}

void refuse_without_device_code(std::string_view name, char const* cause)
{
  refuse_input(error_code::no_device_code, name, cause,
               "compile with nvcc -dc, or with -dlto -dc to link in lto mode; in CMake set the "
               "property CUDA_SEPARABLE_COMPILATION");
}

}  // namespace fatlink::detail
