// SPDX-License-Identifier: Apache-2.0
#include "cubin/attributes.hpp"

#include <array>
#include <limits>
#include <utility>

namespace fatlink::detail {
namespace {

constexpr std::uint64_t k_header = 4;

/// The second byte of a header is the id, the first says what the following u16 is.
enum class format : std::uint8_t { none = 1, byte = 2, half = 3, size = 4 };

/// The formats of the ids that CUDA 12.9 to 13.5 write.
struct known_format {
  std::uint8_t id;
  format kind;
};
constexpr std::array k_known_formats{
    known_format{0x05, format::size}, known_format{0x09, format::size},
    known_format{0x0A, format::size}, known_format{0x0F, format::size},
    known_format{0x10, format::size}, known_format{0x11, format::size},
    known_format{0x12, format::size}, known_format{0x17, format::size},
    known_format{0x19, format::half}, known_format{0x1B, format::half},
    known_format{0x1C, format::size}, known_format{0x1E, format::size},
    known_format{0x23, format::size}, known_format{0x2F, format::size},
    known_format{0x31, format::size}, known_format{0x34, format::size},
    known_format{0x35, format::none}, known_format{0x36, format::size},
    known_format{0x37, format::size}, known_format{0x3D, format::size},
    known_format{0x41, format::none}, known_format{0x45, format::size},
    known_format{0x46, format::size}, known_format{0x4A, format::byte},
    known_format{0x4C, format::byte}, known_format{0x50, format::half},
    known_format{0x55, format::size}, known_format{0x5F, format::half},
    known_format{0x66, format::size}};

bool has_other_format(attribute_id id, format kind)
{
  for (auto const& known : k_known_formats)
    if (known.id == static_cast<std::uint8_t>(id)) return known.kind != kind;
  return false;
}

}  // namespace

std::uint32_t cubin_attribute::number(std::size_t position) const
{
  byte_reader const reader(data);
  auto const begin = position * sizeof(std::uint32_t);
  if (begin + sizeof(std::uint32_t) > reader.size())
    throw elf_error{offset, "an attribute is too short"};
  return reader.read<std::uint32_t>(begin);
}

std::uint32_t cubin_attribute::product() const
{
  std::uint64_t product = 1;
  for (std::size_t position = 0; position < 3; ++position) {
    product *= number(position);
    if (product > std::numeric_limits<std::uint32_t>::max())
      throw elf_error{offset, "an attribute with more threads than a block can have"};
  }
  return static_cast<std::uint32_t>(product);
}

std::optional<cubin_attribute> attribute_reader::next()
{
  if (position_ == bytes_.size()) return {};
  cubin_attribute attribute{.offset = offset_ + position_};
  if (bytes_.size() - position_ < k_header)
    throw elf_error{attribute.offset, "an attribute past the end of its section"};
  auto const kind = static_cast<format>(bytes_.read<std::uint8_t>(position_));
  attribute.id = static_cast<attribute_id>(bytes_.read<std::uint8_t>(position_ + 1));
  attribute.value = bytes_.read<std::uint16_t>(position_ + 2);
  if (kind < format::none || kind > format::size || has_other_format(attribute.id, kind))
    throw elf_error{attribute.offset, "an attribute of an unknown format"};
  position_ += k_header;
  if (kind != format::size) return attribute;
  if (attribute.value > bytes_.size() - position_)
    throw elf_error{attribute.offset, "an attribute past the end of its section"};
  attribute.data = bytes_.view(position_, attribute.value);
  position_ += attribute.value;
  return attribute;
}

kernel_sections::kernel_sections(cubin_file const& file)
    : file_(file), sections_(file.sections().size())
{
  for (auto const& section : file.sections())
    if (section.type == cuda_elf::k_info && section.info < sections_.size())
      sections_[section.info] = &section;
}

elf_section const& kernel_sections::take(std::uint32_t index)
{
  auto const code = file_.symbols()[index].section;  // in the file, as check_symbols() requires
  auto const* const section = std::exchange(sections_[code], nullptr);
  if (section == nullptr)
    throw elf_error{file_.symbols().offset_of(index), "a kernel without attributes"};
  return *section;
}

}  // namespace fatlink::detail
