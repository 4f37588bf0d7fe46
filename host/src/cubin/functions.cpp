// SPDX-License-Identifier: Apache-2.0
#include "cubin/functions.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "cubin/cubin_file.hpp"
#include "util/bytes/byte_reader.hpp"
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

namespace {

constexpr std::uint64_t k_header = 4;

/// The second byte of a header is the id, the first says what the following u16 is.
enum class attribute_format : std::uint8_t { none = 1, byte = 2, half = 3, size = 4 };

/// The formats of the ids that CUDA 12.9 to 13.5 write.
struct known_format {
  std::uint8_t id;
  attribute_format kind;
};
constexpr std::array k_known_formats{
    known_format{0x05, attribute_format::size}, known_format{0x09, attribute_format::size},
    known_format{0x0A, attribute_format::size}, known_format{0x0F, attribute_format::size},
    known_format{0x10, attribute_format::size}, known_format{0x11, attribute_format::size},
    known_format{0x12, attribute_format::size}, known_format{0x17, attribute_format::size},
    known_format{0x19, attribute_format::half}, known_format{0x1B, attribute_format::half},
    known_format{0x1C, attribute_format::size}, known_format{0x1E, attribute_format::size},
    known_format{0x23, attribute_format::size}, known_format{0x2F, attribute_format::size},
    known_format{0x31, attribute_format::size}, known_format{0x34, attribute_format::size},
    known_format{0x35, attribute_format::none}, known_format{0x36, attribute_format::size},
    known_format{0x37, attribute_format::size}, known_format{0x3D, attribute_format::size},
    known_format{0x41, attribute_format::none}, known_format{0x45, attribute_format::size},
    known_format{0x46, attribute_format::size}, known_format{0x4A, attribute_format::byte},
    known_format{0x4C, attribute_format::byte}, known_format{0x50, attribute_format::half},
    known_format{0x55, attribute_format::size}, known_format{0x5F, attribute_format::half},
    known_format{0x66, attribute_format::size}};

bool has_other_format(attribute_id id, attribute_format kind)
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
  auto const kind = static_cast<attribute_format>(bytes_.read<std::uint8_t>(position_));
  attribute.id = static_cast<attribute_id>(bytes_.read<std::uint8_t>(position_ + 1));
  attribute.value = bytes_.read<std::uint16_t>(position_ + 2);
  if (kind < attribute_format::none || kind > attribute_format::size ||
      has_other_format(attribute.id, kind))
    throw elf_error{attribute.offset, "an attribute of an unknown format"};
  position_ += k_header;
  if (kind != attribute_format::size) return attribute;
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

namespace {

class prototype_reader {
 public:
  explicit prototype_reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const
  {
    return rest_.empty() || rest_.front() == '\0' || rest_.front() == '|';
  }

  /// Whether `expected` is next; skips it.
  bool skip(std::string_view expected)
  {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  /// Nothing if no type is next. A count of 0 bytes is the mark of `...`.
  std::optional<ptx_parameter> read_type()
  {
    if (skip("b")) {
      auto const count = read_count();
      if (!count) return {};
      return ptx_parameter{.type = "b8", .count = *count};
    }
    for (auto const* name : {"ib32", "lb64", "xb128"})
      if (skip({name, 1}))
        return ptx_parameter{.type = name + 1, .count = read_count().value_or(0)};
    return {};
  }

 private:
  std::optional<unsigned long> read_count()
  {
    std::uint32_t count = 0;  // of bytes or elements: a parameter has less than 4 GiB
    auto const [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), count);
    if (code != std::errc{}) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return count;
  }

  std::string_view rest_;
};

}  // namespace

bool read_prototype(std::string_view text, ptx_function& function)
{
  prototype_reader reader(text);
  if (!reader.skip("#")) return false;
  if (!reader.skip("v")) {
    auto result = reader.read_type();
    if (!result || (result->type == "b8" && result->count == 0)) return false;
    function.results.push_back(std::move(*result));
  }
  while (!reader.at_end()) {
    auto parameter = reader.read_type();
    if (!parameter || function.is_variadic) return false;
    function.is_variadic = parameter->type == "b8" && parameter->count == 0;
    if (function.parameters.size() == limits::k_parameters)
      throw cubin_above_limit{
          0, detail::format("has a function of more than {} parameters", limits::k_parameters)};
    if (!function.is_variadic) function.parameters.push_back(std::move(*parameter));
  }
  return true;
}

namespace {

constexpr unsigned k_oldest_architecture = 75;
constexpr unsigned k_newest = 121;
constexpr std::uint64_t k_bytes_of_instruction = 16;
constexpr std::uint64_t k_operation_bits = 0xFFF;
constexpr std::uint64_t k_store = 0x387;
constexpr std::uint64_t k_load = 0x983;
constexpr unsigned k_width_position = 73 - 64;
constexpr std::array<std::uint64_t, 8> k_width_bytes{1, 1, 2, 2, 4, 8, 16, 0};

}  // namespace

std::optional<local_accesses> count_local_accesses(bytes_view code, unsigned architecture)
{
  if (architecture < k_oldest_architecture || architecture > k_newest) return {};
  byte_reader const reader(code);
  local_accesses accesses;
  for (std::uint64_t offset = 0; offset + k_bytes_of_instruction <= reader.size();
       offset += k_bytes_of_instruction) {
    auto const operation = reader.read<std::uint64_t>(offset) & k_operation_bits;
    if (operation != k_store && operation != k_load) continue;
    auto const width = reader.read<std::uint64_t>(offset + 8) >> k_width_position & 7U;
    auto const bytes = k_width_bytes[static_cast<std::size_t>(width)];
    if (bytes == 0) return {};
    (operation == k_store ? accesses.stores : accesses.loads) += bytes;
  }
  return accesses;
}

}  // namespace fatlink::detail
