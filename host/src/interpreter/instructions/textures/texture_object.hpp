// SPDX-License-Identifier: Apache-2.0
// What instructions on textures and surfaces have in common: the geometry that they name, the
// operand [object, {coordinates}], and the object that a thread's handle stands for, looked up once
// for all lanes that have the same handle. Source: PTX ISA 9.0, "Texture Instructions", "Surface
// Instructions".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/textures.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

/// Takes the geometry, ".a2d". @throws code_error (refused) there is none, or multi-sample
/// textures.
geometry take_geometry(decoding& d);

/// "a2d".
char const* name_of(geometry shape) noexcept;

constexpr bool is_layered(geometry shape) noexcept
{
  return shape == geometry::layered_line || shape == geometry::layered_plane ||
         shape == geometry::layered_cube;
}

constexpr bool is_cube(geometry shape) noexcept
{
  return shape == geometry::cube || shape == geometry::layered_cube;
}

/// Coordinates within an image or a layer: 3 for the direction of a cube.
constexpr unsigned dimensions_of(geometry shape) noexcept
{
  if (shape == geometry::line || shape == geometry::layered_line) return 1;
  return shape == geometry::plane || shape == geometry::layered_plane ? 2 : 3;
}

struct texel_operand {
  operand_offset handle = k_no_operand;
  std::vector<operand_offset> coordinates = {};  ///< the layer first
};

/// Decodes [object, {coordinates}]; coordinates that the geometry does not have are ignored.
texel_operand take_texel(decoding& d, syntax::operand const& operand, geometry shape, type type);

/// A vector's parts; an operand that is none is its own part. Rejects vectors of 3 or more than 4
/// parts, which PTX does not have.
std::vector<syntax::operand> parts_of(decoding const& d, syntax::operand const& operand);

/// Whether an operand is a register or constant of a float.
bool holds_float(decoding const& d, syntax::operand const& operand);

/// Rejects a result of which no part is kept.
void check_kept(decoding const& d, std::vector<syntax::operand> const& results);

/// As decoding::source, but rejects floats where `type` is an integer, and constant integers where
/// it is a float, as ptxas does. Registers of .b32 and .b64 fit every type of their width.
operand_offset typed_source(decoding& d, syntax::operand const& operand, type type);
void check_type(decoding const& d, syntax::operand const& operand, type type);

/// In operation::flags: the geometry, and above it what a handler needs.
constexpr std::uint32_t k_geometry_bits = 4;
constexpr geometry geometry_of(operation const& o) noexcept
{
  return static_cast<geometry>(o.flags & ((1U << k_geometry_bits) - 1));
}

/// The coordinate `index` of a lane, as the integer that it is or as its bits. operation::b is the
/// list of the coordinates.
std::uint32_t coordinate_of(warp const& w, operation const& o, unsigned index, unsigned lane);

enum class object_kind { texture, surface };

/// An object whose memory is allocated.
struct bound_image {
  bound_object const* object = nullptr;
  std::byte* texels = nullptr;

  [[nodiscard]] image_layout const& layout() const noexcept { return object->image.layout; }
  [[nodiscard]] interpreter::sampler const& sampler() const noexcept { return object->sampler; }
};

/// Finds the object of a lane's handle, which is a `kind`. @throws code_error (address) there is
/// none, it is of the other kind, or its memory was released.
bound_image find_image(warp& w, operation const& o, object_kind kind, unsigned lane);

/// Also requires the geometry that the instruction names. Surfaces of cubes are layers.
bound_image find_shaped_image(warp& w, operation const& o, object_kind kind, unsigned lane);

/// What `find` returns for the lanes' handles (operation::a), called again only where a lane has
/// another handle than the one before.
template <typename View, typename Find>
class remembered {
 public:
  remembered(warp& w, operation const& o, Find find) : handles_(w.at(o.a)), find_(std::move(find))
  {
  }
  View const& at(unsigned lane)
  {
    std::uint64_t handle = 0;
    std::memcpy(&handle, handles_ + lane * sizeof handle, sizeof handle);
    if (is_empty_ || handle != handle_) {
      view_ = find_(lane);
      handle_ = handle;
      is_empty_ = false;
    }
    return view_;
  }

 private:
  std::byte const* handles_;
  Find find_;
  View view_ = {};
  std::uint64_t handle_ = 0;
  bool is_empty_ = true;
};

/// Calls use(view, lane) for each lane, in their order, with what find(lane) returns.
template <typename Find, typename Use>
void each_image(warp& w, operation const& o, lane_mask mask, Find const& find, Use const& use)
{
  remembered<decltype(find(0U)), Find> views(w, o, find);
  for (; mask != 0; mask &= mask - 1) {
    auto const lane = static_cast<unsigned>(std::countr_zero(mask));
    use(views.at(lane), lane);
  }
}

/// How coordinates along dimension 0 to 2 are meant: without normalized ones, wrap and mirror are
/// clamp.
address_mode mode_of(image_layout const& layout, sampler const& sampler,
                     unsigned dimension) noexcept;

/// Fails (address). `hint`: what to change, where that is not the device code.
[[noreturn]] void fail_texel(warp const& w, std::string const& reason, unsigned lane,
                             operation const& o, std::string const& hint = {});

/// Checks that `layer` is one of the image's.
void check_layer(warp const& w, operation const& o, bound_image const& image, std::uint32_t layer,
                 unsigned lane);

/// "an image of 5 x 3 texels in 2 layers".
std::string extent_of(image_layout const& layout);

}  // namespace fatlink::interpreter
