// SPDX-License-Identifier: Apache-2.0
// The device's texture and surface objects: what a 64-bit handle of a kernel stands for. Their
// texels are in the device's memory (memory.hpp), row major: rows of row_bytes, then slices, layers
// or the faces of cubes. A handle is of a window of its own (decode/address_space.hpp) and is never
// used again, so that a wrong or released one is detected.
// Units: width, height and depth are texels; what is named bytes is bytes.
// Threads: safe. A snapshot stays valid while it is held, whatever is removed meanwhile. It is
// shared by all launches between two changes of the registry.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "interpreter/decode/address_space.hpp"
#include "util/process/fork_guard.hpp"

namespace fatlink::interpreter {

enum class texel_kind { unsigned_integer, signed_integer, floating };

/// `channels`: 1, 2 or 4. `bits` of a channel: 8, 16 or 32; floating point has 16 or 32.
struct texel_layout {
  unsigned channels = 1;
  unsigned bits = 32;
  texel_kind kind = texel_kind::floating;

  [[nodiscard]] unsigned bytes() const noexcept { return channels * bits / 8; }
  bool operator==(texel_layout const&) const = default;
};

/// Which coordinates an image has: `layered` ones have the index of a layer before them.
enum class geometry { line, plane, volume, layered_line, layered_plane, cube, layered_cube };

/// A size of 0: the dimension is unused. Cubes have 6 square faces for each layer: +x, -x, +y, -y,
/// +z, -z.
struct image_layout {
  texel_layout texels = {};
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t depth = 0;
  std::uint64_t layers = 0;  ///< 0: it is not layered
  bool is_cube = false;
  std::uint64_t row_bytes = 0;
  bool is_linear = false;   ///< memory of one dimension, which only integer coordinates read
  bool is_pitched = false;  ///< rows in linear memory
  bool allows_surface = false;
  bool allows_gather = false;  ///< tld4, of a plane that is an array

  [[nodiscard]] geometry shape() const noexcept;
  /// Of a slice, a layer, or a face.
  [[nodiscard]] std::uint64_t slice_bytes() const noexcept
  {
    return row_bytes * (height == 0 ? 1 : height);
  }
  /// Slices of a volume, layers, or faces.
  [[nodiscard]] std::uint64_t slices() const noexcept;
  /// Of all texels, to the end of the last row.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
};

/// Where an image's texels are in the device's memory.
struct image {
  std::uint64_t address = 0;
  image_layout layout = {};
};

/// What a coordinate outside of the image reads. Without normalized coordinates, wrap and mirror
/// act as clamp. Source: CUDA Runtime API, "cudaTextureDesc".
enum class address_mode { wrap, clamp, mirror, border };

struct sampler {
  std::array<address_mode, 3> modes = {address_mode::clamp, address_mode::clamp,
                                       address_mode::clamp};  ///< of x, y and z
  bool is_linear_filter = false;
  bool has_normalized_coordinates = false;
  bool reads_normalized = false;  ///< integers of 8 or 16 bits as floats of [0, 1] or [-1, 1]
  std::array<float, 4> border = {};
};

/// What a handle stands for.
struct bound_object {
  std::uint64_t handle = 0;
  interpreter::image image = {};
  interpreter::sampler sampler = {};  ///< of a texture
  bool is_surface = false;
};

struct object_list {
  std::vector<bound_object> objects = {};                         ///< in order of handle
  std::uint64_t next_handle = k_object_window + k_object_stride;  ///< none is as large
};

class texture_registry {
 public:
  /// Returns the handle of a texture of `image`. The caller keeps the image's memory allocated: a
  /// kernel that reads a texture whose memory was released fails.
  std::uint64_t add_texture(image const& image, sampler const& sampler);
  std::uint64_t add_surface(image const& image);
  /// Does nothing if there is no such handle.
  void remove(std::uint64_t handle) noexcept;
  [[nodiscard]] std::shared_ptr<object_list const> snapshot() const;

 private:
  std::uint64_t add(bound_object object);

  mutable std::mutex mutex_;
  detail::fork_guard fork_guard_{detail::fork_order::reference_memory, mutex_};
  object_list current_;
  mutable std::shared_ptr<object_list const> snapshot_;  ///< null: current_ has changed since
};

/// The object of `handle`; null if there is none.
bound_object const* find_object(object_list const& objects, std::uint64_t handle) noexcept;

/// What a handle that no object has may be.
enum class unknown_handle {
  null,
  address,    ///< of memory
  destroyed,  ///< that of a former object
  foreign     ///< no value that the registry returned
};
unknown_handle classify_handle(object_list const& objects, std::uint64_t handle) noexcept;

}  // namespace fatlink::interpreter
