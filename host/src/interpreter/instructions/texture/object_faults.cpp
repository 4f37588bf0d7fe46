// SPDX-License-Identifier: Apache-2.0
#include "interpreter/instructions/texture/object_faults.hpp"

#include "interpreter/execution/block.hpp"
#include "interpreter/execution/describe.hpp"
#include "interpreter/instructions/texture/texture_operand.hpp"

namespace fatlink::interpreter {
namespace {

std::string name_of(object_kind kind)
{
  return kind == object_kind::texture ? "texture" : "surface";
}

std::string with_article(geometry shape)
{
  return (is_layered(shape) ? "an " : "a ") + std::string(name_of(shape));
}

struct handle_fault {
  char const* description;
  char const* hint_begin;  ///< before the name of the object's kind
  char const* hint_end;
};

handle_fault fault_of(unknown_handle handle) noexcept
{
  switch (handle) {
    case unknown_handle::null:
      return {"the handle is null", "pass the handle() of a fatlink::",
              " that was not moved from; 0 is the handle of none"};
    case unknown_handle::address:
      return {"the handle is an address",
              "pass the handle() of a fatlink::", ", not the address of memory"};
    case unknown_handle::destroyed:
      return {"the object of the handle was destroyed",
              "keep the fatlink::", " until the kernels that use it have finished"};
    case unknown_handle::foreign:
      break;
  }
  return {"the handle is not of this device",
          "pass the handle() of a fatlink::", " that was made on this device"};
}

}  // namespace

void fail_unknown_handle(warp const& w, operation const& o, object_kind kind, std::uint64_t handle,
                         unsigned lane)
{
  auto const fault = fault_of(classify_handle(*w.launch().objects, handle));
  fail_texel(w, hexadecimal(handle) + " is not a " + name_of(kind) + ": " + fault.description, lane,
             o, fault.hint_begin + name_of(kind) + fault.hint_end);
}

void fail_kind(warp const& w, operation const& o, object_kind kind, std::uint64_t handle,
               unsigned lane)
{
  auto const other = kind == object_kind::texture ? object_kind::surface : object_kind::texture;
  fail_texel(w, hexadecimal(handle) + " is a " + name_of(other) + ", not a " + name_of(kind), lane,
             o,
             "pass the handle() of a fatlink::" + name_of(kind) + ", or use it as a " +
                 name_of(other) + " in the device code");
}

void fail_released(warp const& w, operation const& o, object_kind kind, unsigned lane)
{
  fail_texel(w, "the memory of the " + name_of(kind) + " was released", lane, o,
             "keep the array or buffer of the " + name_of(kind) +
                 " until the kernels that use it have finished");
}

void fail_geometry(warp const& w, operation const& o, object_kind kind, geometry shape,
                   unsigned lane)
{
  auto const stated = geometry_of(o);
  fail_texel(w,
             "the instruction is for " + with_article(stated) + " " + name_of(kind) +
                 ", and the handle is that of " + with_article(shape) + " one",
             lane, o,
             "pass " + with_article(stated) + " " + name_of(kind) +
                 " (array_shape), or fix the device code");
}

}  // namespace fatlink::interpreter
