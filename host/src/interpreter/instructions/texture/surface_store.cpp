// SPDX-License-Identifier: Apache-2.0
// sust.p: texels of a surface, converted to its format. Source: PTX ISA 9.0, "sust".
#include <array>
#include <bit>
#include <cstring>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/access_handlers.hpp"
#include "interpreter/instructions/texture/surface_families.hpp"
#include "interpreter/instructions/texture/surface_place.hpp"
#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

/// Whether an integer of 32 bits is one of the channel's format.
bool fits_channel(texel_layout layout, std::uint32_t value) noexcept
{
  if (layout.bits == 32) return true;
  if (layout.kind == texel_kind::unsigned_integer) return value >> layout.bits == 0;
  auto const number = static_cast<std::int64_t>(static_cast<std::int32_t>(value));
  auto const limit = std::int64_t{1} << (layout.bits - 1);
  return number >= -limit && number < limit;
}

std::uint32_t channel_of(texel_layout layout, std::uint32_t value) noexcept
{
  if (layout.kind != texel_kind::floating || layout.bits == 32) return value;
  return half_float::round_to_nearest<half_float::binary16>(std::bit_cast<float>(value)).bits;
}

void store_channel(std::byte* target, std::byte const* value, unsigned bytes) noexcept
{
  if (bytes == 1) return store_element<std::uint8_t>(target, value);
  if (bytes == 2) return store_element<std::uint16_t>(target, value);
  store_element<std::uint32_t>(target, value);
}

/// The texel that a lane writes. PTX leaves open channels without a source, and integers that the
/// format does not have.
std::array<std::byte, 16> texel_of(warp const& w, operation const& o, texel_layout layout,
                                   unsigned lane)
{
  if (register_count(o) < layout.channels)
    fail_texel(w,
               "the surface has " + std::to_string(layout.channels) + " channels, and " +
                   std::to_string(register_count(o)) + " are written",
               lane, o, "pass a surface with that many channels, or fix the device code");
  std::array<std::byte, 16> bytes = {};
  for (unsigned i = 0; i < layout.channels; ++i) {
    auto const value = register_value<std::uint32_t>(w, o, i, lane);
    if (layout.kind != texel_kind::floating && !fits_channel(layout, value))
      fail_texel(w,
                 "the value " + std::to_string(value) + " does not fit in " +
                     std::to_string(layout.bits) + " bits",
                 lane, o);
    auto const channel = channel_of(layout, value);
    std::memcpy(bytes.data() + i * (layout.bits / 8), &channel, layout.bits / 8);
  }
  return bytes;
}

void store_texels(warp& w, operation const& o, lane_mask mask)
{
  auto const find = [&](unsigned lane) { return find_surface(w, o, lane); };
  each_image(w, o, mask, find, [&](bound_image const& image, unsigned lane) {
    auto const layout = image.layout().texels;
    auto const address = surface_address(w, o, image, lane, layout.bytes());
    if (!address) return;
    auto const bytes = texel_of(w, o, layout, lane);
    auto* const target = w.resolve(*address, layout.bytes(), lane, o, true);
    if (w.checks_accesses()) w.record_write(target, layout.bytes(), lane, o, bytes.data());
    for (unsigned i = 0; i < layout.bytes(); i += layout.bits / 8)
      store_channel(target + i, bytes.data() + i, layout.bits / 8);
  });
}

}  // namespace

void decode_formatted_store(decoding& d)
{
  auto const is_formatted = take_formatted(d);
  if (d.take_type() != type::b32) d.refuse("not a supported type");
  auto form = take_surface_form(d, is_formatted);
  take_cache_operator(d, true);
  form.count = take_vector(d);
  d.expect_count(2, 2);
  auto const registers = take_registers(d, form, type::b32, d.operand(1), true);
  emit_surface_access(d, &store_texels, form, d.operand(0), registers, 0);
}

}  // namespace fatlink::interpreter
