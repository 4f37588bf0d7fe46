// SPDX-License-Identifier: Apache-2.0
// tld4: reads one component of the four texels that the linear filter would read.
// CUDA allows it only for 2-D arrays that were made for it (CUDA_ARRAY3D_TEXTURE_GATHER), not for
// layers, cubes and linear memory: what these would return is not defined.
// Source: PTX ISA 9.0, "tld4"; cuda.h 13.0 at cuArray3DCreate.
#include "interpreter/instructions/texture/sampling.hpp"

namespace fatlink::interpreter {
namespace {

void check_gather(warp const& w, operation const& o, image_layout const& layout, unsigned lane)
{
  if (layout.is_pitched)
    fail_texel(w, "CUDA does not define gathers (tld4, tex2Dgather) from rows of linear memory",
               lane, o, "copy the texels to an array that is made with array_shape::allows_gather");
  if (!layout.allows_gather)
    fail_texel(w, "the array was made without access by tld4 (tex2Dgather)", lane, o,
               "set array_shape::allows_gather when the array is made");
}

void gather(warp& w, operation const& o, lane_mask mask)
{
  auto const component = component_of(o);
  auto const find = [&](unsigned lane) {
    auto const view = find_texture(w, o, lane);
    check_gather(w, o, view.image().layout(), lane);
    return view;
  };
  each_image(w, o, mask, find, [&](texture_view const& view, unsigned lane) {
    auto const texels = view.gather(point_of(w, o, view, lane), lane);
    store_texel(
        w, o, lane,
        {texels[0][component], texels[1][component], texels[2][component], texels[3][component]});
  });
  set_resident(w, o, mask);
}

unsigned take_component(decoding& d)
{
  unsigned index = 0;
  for (auto const* const name : {"r", "g", "b", "a"}) {
    if (d.take(name)) return index;
    ++index;
  }
  d.refuse("no modifier is a component");
}

void decode_tld4(decoding& d)
{
  if (d.take_type() != type::f32) d.refuse("not a supported type");
  sampling_form form;
  form.component = take_component(d);
  form.result = take_sample_type(d);
  if (form.result == sample_type::halves || form.result == sample_type::half_pairs)
    d.refuse("not a supported type");
  form.shape = take_geometry(d);
  if (dimensions_of(form.shape) == 1 || form.shape == geometry::volume)
    d.reject("four texels of a line or a volume");
  if (form.shape != geometry::plane)
    d.refuse("CUDA defines gathers from 2-D arrays without layers only");
  emit_sampling(d, &gather, form);
}

}  // namespace

void add_texture_gathers(decode_table& table)
{
  table["tld4"] = &decode_tld4;
}

}  // namespace fatlink::interpreter
