// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/texture/texel.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <type_traits>

#include "util/bytes/half_float.hpp"

namespace fatlink::interpreter {
namespace {

using half_float::binary16;

/// Other threads may write it at the same time.
template <typename Bits>
Bits load_channel(std::byte const* source) noexcept
{
  auto* const channel = const_cast<Bits*>(reinterpret_cast<Bits const*>(source));
  return std::atomic_ref<Bits>(*channel).load(std::memory_order_relaxed);
}

/// -128 and -127 are both -1.
template <typename T>
float normalized(T value) noexcept
{
  auto const quotient = static_cast<double>(value) / std::numeric_limits<T>::max();
  return static_cast<float>(std::max(quotient, -1.0));
}

template <typename T, bool Normalizes>
std::uint32_t read_channel(std::byte const* source) noexcept
{
  if constexpr (std::is_same_v<T, float>)
    return load_channel<std::uint32_t>(source);
  else if constexpr (std::is_same_v<T, binary16>)
    return std::bit_cast<std::uint32_t>(
        half_float::to_float(binary16{load_channel<std::uint16_t>(source)}));
  else {
    auto const value = static_cast<T>(load_channel<std::make_unsigned_t<T>>(source));
    if constexpr (Normalizes) return std::bit_cast<std::uint32_t>(normalized(value));
    return static_cast<std::uint32_t>(value);
  }
}

template <typename T>
constexpr bool k_is_float = std::is_same_v<T, float> || std::is_same_v<T, binary16>;

template <typename T, unsigned Channels, bool Normalizes>
texel read_texel(std::byte const* source)
{
  auto result = empty_texel(Normalizes || k_is_float<T>);
  for (unsigned i = 0; i < Channels; ++i)
    result[i] = read_channel<T, Normalizes>(source + i * sizeof(T));
  return result;
}

template <typename T, bool Normalizes = false>
texel_reader of_channels(unsigned channels) noexcept
{
  if (channels == 1) return &read_texel<T, 1, Normalizes>;
  return channels == 2 ? &read_texel<T, 2, Normalizes> : &read_texel<T, 4, Normalizes>;
}

template <typename T>
texel_reader of_integers(unsigned channels, bool normalizes) noexcept
{
  return normalizes ? of_channels<T, true>(channels) : of_channels<T>(channels);
}

}  // namespace

texel empty_texel(bool is_float) noexcept
{
  return {0, 0, 0, is_float ? std::bit_cast<std::uint32_t>(1.0F) : 1U};
}

bool normalizes(texel_layout layout, sampler const& sampler) noexcept
{
  return sampler.reads_normalized && layout.kind != texel_kind::floating && layout.bits <= 16;
}

bool reads_floats(texel_layout layout, sampler const& sampler) noexcept
{
  return layout.kind == texel_kind::floating || normalizes(layout, sampler);
}

texel_reader reader_of(texel_layout layout, bool normalizes) noexcept
{
  auto const count = layout.channels;
  if (layout.kind == texel_kind::floating)
    return layout.bits == 16 ? of_channels<binary16>(count) : of_channels<float>(count);
  auto const is_signed = layout.kind == texel_kind::signed_integer;
  if (layout.bits == 8)
    return is_signed ? of_integers<std::int8_t>(count, normalizes)
                     : of_integers<std::uint8_t>(count, normalizes);
  if (layout.bits == 16)
    return is_signed ? of_integers<std::int16_t>(count, normalizes)
                     : of_integers<std::uint16_t>(count, normalizes);
  return of_channels<std::uint32_t>(count);
}

}  // namespace fatlink::interpreter
