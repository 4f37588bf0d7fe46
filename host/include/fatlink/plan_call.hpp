// SPDX-License-Identifier: Apache-2.0
// The arguments that a caller passes to a launch plan.
// Units: elements, bytes.
// Threads: value types; objects share no state.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "fatlink/buffer.hpp"
#include "fatlink/device_info.hpp"
#include "fatlink/element_type.hpp"
#include "fatlink/export.hpp"

namespace FATLINK_API fatlink {

/// The number types that plans know; all other types are passed as bytes.
template <typename T>
concept plan_number = std::integral<T> || std::same_as<T, float> || std::same_as<T, double>;

/// The kind of a number: int32 for int.
template <plan_number T>
constexpr scalar_kind kind_of() noexcept
{
  if constexpr (std::floating_point<T>)
    return sizeof(T) == 4 ? scalar_kind::float32 : scalar_kind::float64;
  else {
    constexpr auto first = std::is_signed_v<T> ? scalar_kind::int8 : scalar_kind::uint8;
    constexpr int width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<scalar_kind>(static_cast<int>(first) + width);
  }
}

/// One argument of a call: {"in", buffer}, {"in", pointer}, {"n", 1000}, {"init", 0.0F}.
class call_argument {
 public:
  /// Values up to this size are copied. Larger values are read from the caller's object, which must
  /// live until the call returns.
  static constexpr std::size_t k_inline_bytes = 32;

  /// An array whose size is checked. The buffer must live until the work that is queued with it has
  /// finished.
  template <typename T>
  call_argument(std::string_view name, device_buffer<T> const& buffer)
      : name_(name),
        is_array_(true),
        address_(buffer.address()),
        count_(buffer.size()),
        has_count_(true)
  {
    set_type<std::remove_cv_t<T>>();
  }
  /// An array at a device address, whose size is not checked, such as a pointer from cudaMalloc.
  /// Null: there is no state.
  template <typename T>
  call_argument(std::string_view name, T* address)
      : name_(name), is_array_(true), address_(reinterpret_cast<std::uintptr_t>(address))
  {
    if constexpr (!std::is_void_v<T>) set_type<std::remove_cv_t<T>>();
  }
  /// A null pointer: there is no state.
  call_argument(std::string_view name, std::nullptr_t) : name_(name), is_array_(true) {}
  /// A size or a value.
  template <typename T>
  requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>)
      call_argument(std::string_view name, T const& value)
      : name_(name)
  {
    set_type<T>();
    if constexpr (sizeof(T) <= k_inline_bytes)
      std::memcpy(inline_.data(), &value, sizeof(T));
    else
      outside_ = &value;
  }

  /// A value of a type that is known only at run time. `value` has type.size bytes; if these are
  /// more than k_inline_bytes, they must live until the call returns.
  static call_argument of_bytes(std::string_view name, element_type const& type,
                                std::span<std::byte const> value);
  /// An array of `count` elements of a type that is known only at run time.
  static call_argument of_array(std::string_view name, element_type const& type,
                                device_address address, std::size_t count);
  /// As above, but the size is not checked. A `type` of size 0 is not checked either.
  static call_argument of_array(std::string_view name, element_type const& type,
                                device_address address);

  /// The name of the plan's argument.
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  /// Whether it is an array or a state rather than a size or a value.
  [[nodiscard]] bool is_array() const noexcept { return is_array_; }
  /// The address of an array.
  [[nodiscard]] device_address address() const noexcept { return address_; }
  /// The number of elements of an array; valid only if has_count().
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Whether the size of the array is known.
  [[nodiscard]] bool has_count() const noexcept { return has_count_; }
  /// The bytes of a value.
  [[nodiscard]] void const* value() const noexcept
  {
    return outside_ == nullptr ? inline_.data() : outside_;
  }
  /// Whether the value is read from the caller's object, because it exceeds k_inline_bytes.
  [[nodiscard]] bool has_outside_value() const noexcept { return outside_ != nullptr; }
  /// A copy of this argument that uses the name `name` and, if has_outside_value(), the value at
  /// `value`. Both must live as long as the copy.
  [[nodiscard]] call_argument with_storage(std::string_view name, void const* value) const
  {
    auto copy = *this;
    copy.name_ = name;
    copy.outside_ = value;
    return copy;
  }
  /// The size in bytes of the value, or of an element of the array; 0: unknown.
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_bytes_; }
  /// The kind of the type; scalar_kind::bytes for a type that is not a number.
  [[nodiscard]] scalar_kind kind() const noexcept { return kind_; }

 private:
  template <typename T>
  void set_type()
  {
    element_bytes_ = sizeof(T);
    if constexpr (plan_number<T>) kind_ = kind_of<T>();
  }

  std::string_view name_;
  bool is_array_ = false;
  scalar_kind kind_ = scalar_kind::bytes;
  std::size_t element_bytes_ = 0;
  device_address address_ = 0;
  std::size_t count_ = 0;
  bool has_count_ = false;
  std::array<std::byte, k_inline_bytes> inline_{};
  void const* outside_ = nullptr;
};

}  // namespace fatlink
