// SPDX-License-Identifier: Apache-2.0
// suld.b and sust.b: bytes of a surface, without conversion. Source: PTX ISA 9.0, "suld", "sust".
#include <array>

#include "interpreter/instructions/memory/access_handlers.hpp"
#include "interpreter/instructions/texture/surface_families.hpp"
#include "interpreter/instructions/texture/surface_place.hpp"

namespace fatlink::interpreter {
namespace {

unsigned bytes_of(operation const& o) noexcept
{
  return static_cast<unsigned>(o.immediate);
}

template <typename M>
void load_surface(warp& w, operation const& o, lane_mask mask)
{
  auto const find = [&](unsigned lane) { return find_surface(w, o, lane); };
  each_image(w, o, mask, find, [&](bound_image const& image, unsigned lane) {
    auto const address = surface_address(w, o, image, lane, bytes_of(o));
    auto* const source = address ? w.resolve(*address, bytes_of(o), lane, o, false)
                                 : static_cast<std::byte*>(nullptr);
    if (source != nullptr && w.checks_accesses()) w.record_read(source, bytes_of(o), lane, o);
    for (unsigned k = 0; k < register_count(o); ++k)
      put_extended(w.at(register_of(w, o, k)), lane, register_stride(o),
                   source == nullptr ? M{0} : load_element<M>(source + k * sizeof(M)));
  });
}

template <typename M>
void store_surface(warp& w, operation const& o, lane_mask mask)
{
  auto const find = [&](unsigned lane) { return find_surface(w, o, lane); };
  each_image(w, o, mask, find, [&](bound_image const& image, unsigned lane) {
    auto const address = surface_address(w, o, image, lane, bytes_of(o));
    if (!address) return;
    std::array<M, 4> values = {};
    for (unsigned k = 0; k < register_count(o); ++k) values[k] = register_value<M>(w, o, k, lane);
    auto* const target = w.resolve(*address, bytes_of(o), lane, o, true);
    auto const* const after = reinterpret_cast<std::byte const*>(values.data());
    if (w.checks_accesses()) w.record_write(target, bytes_of(o), lane, o, after);
    for (unsigned k = 0; k < register_count(o); ++k)
      store_element<M>(target + k * sizeof(M), after + k * sizeof(M));
  });
}

template <bool Store>
handler pick_surface_access(decoding const& d, type type)
{
  switch (type) {
    case type::b8:
      return Store ? &store_surface<std::uint8_t> : &load_surface<std::uint8_t>;
    case type::b16:
      return Store ? &store_surface<std::uint16_t> : &load_surface<std::uint16_t>;
    case type::b32:
      return Store ? &store_surface<std::uint32_t> : &load_surface<std::uint32_t>;
    case type::b64:
      return Store ? &store_surface<std::uint64_t> : &load_surface<std::uint64_t>;
    default:
      d.refuse("not a supported type");
  }
}

template <bool Store>
void decode_surface_bytes(decoding& d)
{
  auto const is_formatted = take_formatted(d);
  if (is_formatted) d.refuse("a formatted load");
  auto const type = d.take_type();
  auto const run = pick_surface_access<Store>(d, type);
  auto form = take_surface_form(d, is_formatted);
  take_cache_operator(d, Store);
  form.count = take_vector(d);
  auto const bytes = form.count * size_of(type);
  if (bytes > 16) d.refuse("more than 16 bytes");
  d.expect_count(2, 2);
  auto const registers = take_registers(d, form, type, d.operand(Store ? 1 : 0), Store);
  emit_surface_access(d, run, form, d.operand(Store ? 0 : 1), registers, bytes);
}

void decode_store(decoding& d)
{
  if (d.next_word() == "p") return decode_formatted_store(d);
  decode_surface_bytes<true>(d);
}

}  // namespace

void add_surfaces(decode_table& table)
{
  table["suld"] = &decode_surface_bytes<false>;
  table["sust"] = &decode_store;
  table["sured"] = &decode_surface_reduction;
}

}  // namespace fatlink::interpreter
