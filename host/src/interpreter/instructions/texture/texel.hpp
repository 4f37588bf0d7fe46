// SPDX-License-Identifier: Apache-2.0
// The value of a texel: how the channels of each format are read and written.
// Source: CUDA Programming Guide 13.0, "Texture Memory", "16-Bit Floating-Point Textures".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "interpreter/execution/textures.hpp"

namespace fatlink::interpreter {

/// The 32 bits of each channel, r g b a: integers, extended by their sign, or f32.
using texel = std::array<std::uint32_t, 4>;
using texel_reader = texel (*)(std::byte const*);

/// Whether a texture has integers to read as floats of [0, 1] or [-1, 1]: of 8 or 16 bits.
bool normalizes(texel_layout layout, sampler const& sampler) noexcept;
/// Whether reading a texture gives f32.
bool reads_floats(texel_layout layout, sampler const& sampler) noexcept;
/// Reads one texel. Channels that the format does not have are 0, and alpha is 1.
texel_reader reader_of(texel_layout layout, bool normalizes) noexcept;
/// The texel of an image without channels: 0, 0, 0, 1.
texel empty_texel(bool is_float) noexcept;

}  // namespace fatlink::interpreter
