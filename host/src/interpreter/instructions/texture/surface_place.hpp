// SPDX-License-Identifier: Apache-2.0
// Where in the device's memory an instruction accesses a surface. x counts bytes in suld.b, sust.b
// and sured.b, and texels in sust.p and sured.p. Source: PTX ISA 9.0, "Surface Instructions".
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "interpreter/instructions/texture/bound_image.hpp"
#include "interpreter/instructions/texture/texture_operand.hpp"

namespace fatlink::interpreter {

/// What an access out of bounds does: fail, access the nearest place, or read 0 and write nothing.
enum class out_of_bounds : std::uint32_t { trap, clamp, zero };

struct surface_form {
  geometry shape = geometry::line;
  out_of_bounds bounds = out_of_bounds::trap;
  bool is_formatted = false;  ///< .p
  unsigned count = 1;         ///< registers
  unsigned stride = 4;        ///< bytes of a lane of each register
};

/// Takes .b or .p, which follow the name; true: .p.
bool take_formatted(decoding& d);
/// Takes the geometry and .trap, .clamp or .zero.
surface_form take_surface_form(decoding& d, bool is_formatted);
/// Takes .v2 or .v4.
unsigned take_vector(decoding& d);
/// Takes form.count registers of `element`, and their stride. They may be wider, as those of ld and
/// st.
std::vector<operand_offset> take_registers(decoding& d, surface_form& form, type element,
                                           syntax::operand const& operand, bool is_store);
/// Takes the cache operator of a store or load, which has no effect.
void take_cache_operator(decoding& d, bool is_store);
/// Adds the operation: a is the handle, b a list of the coordinates, d a list of `registers`;
/// immediate: `bytes` of the access.
void emit_surface_access(decoding& d, handler run, surface_form const& form,
                         syntax::operand const& texel_place,
                         std::vector<operand_offset> const& registers, unsigned bytes);

inline unsigned register_count(operation const& o) noexcept
{
  return o.flags >> 8 & 0xFFU;
}
inline unsigned register_stride(operation const& o) noexcept
{
  return o.flags >> 16 & 0xFFU;
}
inline operand_offset register_of(warp const& w, operation const& o, unsigned index) noexcept
{
  return w.current().code->lists[o.d + index];
}

/// What a lane has in a register.
template <typename T>
T register_value(warp const& w, operation const& o, unsigned index, unsigned lane) noexcept
{
  T value;
  std::memcpy(&value, w.at(register_of(w, o, index)) + lane * register_stride(o), sizeof value);
  return value;
}

/// The surface of a lane's handle. @throws failure (address) it is not one that `o` accesses.
bound_image find_surface(warp& w, operation const& o, unsigned lane);
/// The device's address of a lane's access of `bytes`; nothing where it is out of bounds and .zero.
/// @throws failure (address) out of bounds and .trap.
std::optional<std::uint64_t> surface_address(warp& w, operation const& o, bound_image const& image,
                                             unsigned lane, unsigned bytes);

}  // namespace fatlink::interpreter
