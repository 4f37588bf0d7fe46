// SPDX-License-Identifier: Apache-2.0
// The structs and enumerations of the C interface, and what they are in C++. Structs begin with
// their size: callers may be compiled with older or newer headers than the library. Units: bytes.
// Threads: no shared state.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "c_interface/guard.hpp"
#include "c_interface/handles.hpp"
#include "fatlink/c/kernel.h"
#include "fatlink/c/plan.h"
#include "fatlink/fatlink.h"
#include "fatlink/image.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/launch_shape.hpp"
#include "fatlink/link_options.hpp"
#include "fatlink/stream.hpp"
#include "fatlink/target.hpp"

namespace fatlink::c {

/// The size of a struct in version 1.0 of the interface; to be specialized with that number when a
/// member is added. structs.cpp has the numbers.
template <typename Struct>
constexpr std::size_t k_first_size = sizeof(Struct);
template <>
constexpr inline std::size_t k_first_size<fatlink_compile_options> = 112;
template <>
constexpr inline std::size_t k_first_size<fatlink_compiler_settings> = 48;
template <>
constexpr inline std::size_t k_first_size<fatlink_image_info> = 56;
template <>
constexpr inline std::size_t k_first_size<fatlink_linker_settings> = 40;
template <>
constexpr inline std::size_t k_first_size<fatlink_object_call> = 48;
template <>
constexpr inline std::size_t k_first_size<fatlink_plan_request> = 40;
template <>
constexpr inline std::size_t k_first_size<fatlink_link_options> = 128;

/// @throws usage_error `size` is that of no version of a struct whose first one had `first` bytes:
/// it was not set.
void check_size(std::size_t size, std::size_t first, char const* parameter);

/// @throws usage_error one of the `size` bytes at `given`, from `known` on, is not 0.
void check_unknown_members(void const* given, std::size_t size, std::size_t known,
                           char const* parameter);

/// @throws usage_error `value` is not 0: later versions may give it a meaning.
void check_reserved(std::int32_t value, char const* parameter);

/// A copy of the struct of `size` bytes at `given`; members that it does not have are 0.
/// @throws usage_error as check_size, check_unknown_members and check_reserved.
template <typename Struct>
Struct read_struct(void const* given, std::size_t size, char const* parameter)
{
  static_assert(std::is_trivially_copyable_v<Struct>);
  check_size(size, k_first_size<Struct>, parameter);
  check_unknown_members(given, size, sizeof(Struct), parameter);
  Struct result = {};
  std::memcpy(&result, given, std::min(size, sizeof(Struct)));
  if constexpr (requires { result.reserved; }) check_reserved(result.reserved, parameter);
  return result;
}

/// A copy of `*given`. @throws usage_error also where `given` is NULL.
template <typename Struct>
Struct required_struct(Struct const* given, char const* parameter)
{
  return read_struct<Struct>(given, required(given, parameter).size, parameter);
}

/// A copy of `*given`; all members are 0 where `given` is NULL.
template <typename Struct>
Struct optional_struct(Struct const* given, char const* parameter)
{
  return given == nullptr ? Struct{} : required_struct(given, parameter);
}

template <typename Struct>
class struct_output {
 public:
  /// @throws usage_error `target` is NULL, or its size was not set. Nothing is written then.
  struct_output(Struct* target, char const* parameter) : target_(target)
  {
    check_size(required(target, parameter).size, k_first_size<Struct>, parameter);
  }

  /// Writes what the caller's struct has of `value`, and 0 to members that the library does not
  /// know.
  void set(Struct value) const
  {
    value.size = target_->size;
    auto* const bytes = reinterpret_cast<std::byte*>(target_);
    auto const known = std::min(value.size, sizeof(Struct));
    std::memcpy(bytes, &value, known);
    std::memset(bytes + known, 0, value.size - known);
  }

 private:
  Struct* target_;
};

/// @throws usage_error `mode` is not a constant of fatlink_link_mode.
link_mode read_mode(fatlink_link_mode mode);
/// A cubin for DEFAULT. @throws usage_error `kind` is not a constant of fatlink_image_kind.
image_kind read_kind(fatlink_image_kind kind);
/// None if it is unset. @throws usage_error `choice` is not a constant of fatlink_choice.
std::optional<bool> read_choice(fatlink_choice choice, char const* parameter);
/// Whether `scalar` is a fatlink_scalar.
bool is_scalar(fatlink_scalar scalar) noexcept;
/// None if it is unstated. `scalar` must be a fatlink_scalar.
std::optional<scalar_kind> read_scalar(fatlink_scalar scalar) noexcept;

fatlink_link_mode mode_of(link_mode mode) noexcept;
fatlink_image_kind kind_of(image_kind kind) noexcept;
fatlink_cache_outcome outcome_of(cache_outcome outcome) noexcept;
fatlink_role role_of(argument_role role) noexcept;
fatlink_scalar scalar_of(scalar_kind kind) noexcept;

inline extent extent_of(fatlink_extent const& size)
{
  return {std::max(size.x, 1U), std::max(size.y, 1U), std::max(size.z, 1U)};
}

/// @throws usage_error `shape` is NULL or malformed.
inline launch_shape read_shape(fatlink_launch_shape const* shape)
{
  auto const stated = required_struct(shape, "shape");
  return {.grid = extent_of(stated.grid),
          .block = extent_of(stated.block),
          .shared_bytes = stated.shared_bytes,
          .overlap = stated.overlap != 0};
}

/// How many parameters the kernel of a handle has; 0 of NULL.
template <typename Handle>
std::size_t parameter_count(Handle const* kernel)
{
  return kernel == nullptr ? 0 : kernel->kernel.parameter_sizes().size();
}

/// Bytes of a parameter; 0 where there is none of this index.
template <typename Handle>
std::size_t parameter_bytes(Handle const* kernel, std::size_t index)
{
  return index < parameter_count(kernel) ? kernel->kernel.parameter_sizes()[index] : 0;
}

/// @throws usage_error a pointer is NULL, or `shape` is malformed. @throws as launch_raw.
template <typename Handle>
void launch(Handle const* kernel, void* queue, fatlink_launch_shape const* shape,
            void* const* arguments, std::size_t count)
{
  required(kernel, "kernel")
      .kernel.launch_raw(stream_view(queue), read_shape(shape),
                         list(arguments, count, "arguments"));
}

/// @throws usage_error one of the inputs or the list is NULL.
std::vector<input> read_inputs(fatlink_input const* const* inputs, std::size_t count);
/// The library and the transforms. @throws usage_error `request` names no library or two.
std::vector<input> read_plan_inputs(fatlink_plan_request const& request);

/// @throws usage_error `stated` is NULL, or a member is malformed.
link_options read_options(fatlink_link_options const* stated);

/// The C++ settings with the members that both kinds of settings have; a limit of 0 is the default.
template <typename Settings, typename Stated>
Settings read_tool_settings(Stated const& stated)
{
  Settings settings;
  if (stated.time_limit_ms != 0)
    settings.time_limit = std::chrono::milliseconds(stated.time_limit_ms);
  if (stated.cache != nullptr) settings.cache = stated.cache->cache;
  settings.allow_unconfined = stated.allow_unconfined != 0;
  settings.offline = stated.offline != 0;
  return settings;
}

}  // namespace fatlink::c
