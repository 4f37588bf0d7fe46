// SPDX-License-Identifier: Apache-2.0
// The object that a thread's handle stands for, and where its texels are: looked up once for all
// lanes that have the same handle.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "interpreter/decode/decoder.hpp"
#include "interpreter/execution/textures.hpp"
#include "interpreter/execution/warp.hpp"

namespace fatlink::interpreter {

enum class object_kind { texture, surface };

/// An object whose memory is allocated.
struct bound_image {
  bound_object const* object = nullptr;
  std::byte* texels = nullptr;

  [[nodiscard]] image_layout const& layout() const noexcept { return object->image.layout; }
  [[nodiscard]] interpreter::sampler const& sampler() const noexcept { return object->sampler; }
};

/// Finds the object of a lane's handle, which is a `kind`. @throws failure (address) there is none,
/// it is of the other kind, or its memory was released.
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

/// Fails (address). `hint`: what to change, where that is not the device code.
[[noreturn]] void fail_texel(warp const& w, std::string const& reason, unsigned lane,
                             operation const& o, std::string const& hint = {});

/// Checks that `layer` is one of the image's.
void check_layer(warp const& w, operation const& o, bound_image const& image, std::uint32_t layer,
                 unsigned lane);

/// "an image of 5 x 3 texels in 2 layers".
std::string extent_of(image_layout const& layout);

}  // namespace fatlink::interpreter
