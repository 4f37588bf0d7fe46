// SPDX-License-Identifier: Apache-2.0
#include "run/segment_offsets.hpp"

#include <fmt/format.h>

#include "plan/components.hpp"
#include "verification/generate.hpp"

namespace fatlink::cli {
namespace {

/// The elements of the first array in `node`.
std::optional<std::size_t> count_in(computation const& node, count_lookup const& count_of)
{
  if (node.kind == operation::argument) return count_of(node.name);
  for (auto const& operand : node.operands)
    if (auto const count = count_in(operand, count_of)) return count;
  return std::nullopt;
}

/// Where segment `index` of `segments` would begin if all had one length.
std::size_t even_offset(std::size_t index, std::size_t segments, std::size_t elements)
{
  return static_cast<std::size_t>(static_cast<detail::uint128>(index) * elements / segments);
}

[[noreturn]] void refuse_offsets(std::string const& file, std::string const& cause)
{
  throw file_error(
      stage::input,
      {.message = fmt::format("{}: {}", file, cause),
       .input = file,
       .code = error_code::invalid_npy,
       .hint =
           "segment i is the elements from offset i up to offset i + 1: write offsets that do not "
           "decrease, of which none exceeds the number of elements"});
}

std::string offset_text(element_type const& type, detail::int128 value)
{
  return detail::to_text(type.kind, detail::whole_number(value));
}

}  // namespace

std::optional<std::size_t> segmented_elements(launch_plan const& plan, std::string const& input,
                                              count_lookup const& count_of)
{
  for (auto const& result : plan.results)
    if (result.value.kind == operation::segmented_fold && result.value.operands.at(1).name == input)
      return count_in(result.value.operands.at(0), count_of);
  return std::nullopt;
}

std::vector<std::byte> generate_offsets(element_type const& type, std::size_t count,
                                        std::size_t elements, std::uint64_t seed)
{
  std::vector<std::byte> bytes(count * type.size);
  for (std::size_t i = 1; i < count; ++i) {
    auto const segments = count - 1;
    auto offset = even_offset(i, segments, elements);
    if (i < segments)
      offset += detail::mix(seed ^ i) % (even_offset(i + 1, segments, elements) - offset + 1);
    detail::store(type.kind, detail::whole_number(static_cast<detail::int128>(offset)),
                  bytes.data() + i * type.size);
  }
  return bytes;
}

void check_offsets(std::string const& file, array_view const& offsets, std::size_t elements)
{
  detail::int128 previous = 0;
  for (std::size_t i = 0; i < offsets.count(); ++i) {
    auto const* const place = offsets.bytes.data() + i * offsets.type.size;
    auto const value = detail::load(offsets.type.kind, place).whole;
    auto const text = [&] {
      return fmt::format("offset {} is {}", i, offset_text(offsets.type, value));
    };
    if (value > static_cast<detail::int128>(elements))
      refuse_offsets(file,
                     fmt::format("{}, and the segments are of {} elements", text(), elements));
    if (value < previous)
      refuse_offsets(file, i == 0 ? fmt::format("{}, below 0", text())
                                  : fmt::format("{}, less than offset {}, which is {}", text(),
                                                i - 1, offset_text(offsets.type, previous)));
    previous = value;
  }
}

}  // namespace fatlink::cli
