// SPDX-License-Identifier: Apache-2.0
// sured: atomic operations on a surface. Source: PTX ISA 9.0, "sured".
#include <string_view>

#include "interpreter/execution/lanes.hpp"
#include "interpreter/instructions/memory/atomic_ops.hpp"
#include "interpreter/instructions/texture/surface_families.hpp"
#include "interpreter/instructions/texture/surface_place.hpp"

namespace fatlink::interpreter {
namespace {

/// Calls use(image, element, lane) for each lane whose access is in bounds.
template <typename T, typename Use>
void each_element(warp& w, operation const& o, lane_mask mask, Use const& use)
{
  auto const find = [&](unsigned lane) { return find_surface(w, o, lane); };
  each_image(w, o, mask, find, [&](bound_image const& image, unsigned lane) {
    auto const address = surface_address(w, o, image, lane, sizeof(T));
    if (address) use(image, w.resolve(*address, sizeof(T), lane, o, true), lane);
  });
}

template <typename T, typename Op, typename = Op>
void reduce_bytes(warp& w, operation const& o, lane_mask mask)
{
  each_element<T>(w, o, mask, [&](bound_image const&, std::byte* element, unsigned lane) {
    (void)update<T, Op>(element, register_value<T>(w, o, 0, lane), T{});
  });
}

/// No other file may have a template of this name: GCC 12 merges update_choice of both, although
/// they are local.
template <typename T, typename Op, typename SharedOp>
struct surface_reduction_of {
  static constexpr handler run = &reduce_bytes<T, Op, SharedOp>;
};

/// The surface's format tells whether the operands are signed.
template <typename Op>
void reduce_samples(warp& w, operation const& o, lane_mask mask)
{
  auto const reduce = [&](bound_image const& image, std::byte* element, unsigned lane) {
    auto const layout = image.layout().texels;
    if (layout.bytes() != 4 || layout.bits != 32 || layout.kind == texel_kind::floating)
      fail_texel(
          w, "the surface's texels are not integers of 32 bits", lane, o,
          "pass a surface of u32 or s32 with one channel, or use sured.b in the device code");
    if (layout.kind == texel_kind::signed_integer)
      (void)update<std::int32_t, Op>(element, register_value<std::int32_t>(w, o, 0, lane), 0);
    else
      (void)update<std::uint32_t, Op>(element, register_value<std::uint32_t>(w, o, 0, lane), 0U);
  };
  each_element<std::uint32_t>(w, o, mask, reduce);
}

handler pick_samples(decoding const& d, std::string_view name)
{
  if (name == "add") return &reduce_samples<of_two<op_add>>;
  if (name == "min") return &reduce_samples<of_two<op_min>>;
  if (name == "max") return &reduce_samples<of_two<op_max>>;
  if (name == "and") return &reduce_samples<of_two<op_and>>;
  if (name == "or") return &reduce_samples<of_two<op_or>>;
  d.refuse();
}

std::string_view take_operator(decoding& d)
{
  for (auto const* const name : {"add", "min", "max", "and", "or"})
    if (d.take(name)) return name;
  d.refuse("no modifier is an operation");
}

/// Whether PTX has the operation `name` on elements, or samples of .p, of `type`.
bool has_type(std::string_view name, type type, bool is_formatted) noexcept
{
  auto const is_bitwise = name == "and" || name == "or";
  if (is_formatted) return type == type::b32 || (type == type::b64 && !is_bitwise && name != "add");
  if (is_bitwise) return type == type::b32;
  return type == type::u32 || type == type::s32 || type == type::u64 ||
         (type == type::s64 && name != "add");
}

}  // namespace

void decode_surface_reduction(decoding& d)
{
  auto const is_formatted = take_formatted(d);
  auto const type = d.take_type();
  auto const name = take_operator(d);
  auto form = take_surface_form(d, is_formatted);
  if (is_layered(form.shape)) d.reject("reductions of layered surfaces");
  if (!has_type(name, type, form.is_formatted)) d.reject("the operation does not have this type");
  if (form.is_formatted && type != type::b32) d.refuse("samples that are not of 32 bits");
  auto const run = form.is_formatted
                       ? pick_samples(d, name)
                       : update_choice<surface_reduction_of>::pick(d, name, type, space::global);
  d.expect_count(2, 2);
  if (d.operand(1).kind == syntax::operand_kind::vector) d.reject("the operand is a vector");
  auto const value = take_registers(d, form, type, d.operand(1), true);
  emit_surface_access(d, run, form, d.operand(0), value, size_of(type));
}

}  // namespace fatlink::interpreter
