// SPDX-License-Identifier: Apache-2.0
// The arguments of a plan: as a caller states them for a call, arrays of Python's frameworks among
// them, and as the plan describes them. Arrays are read by the C exchange API of DLPack 1.3, whose
// structs (dlpack/dlpack.h) are stated here. Units: bytes. Threads: no shared state; for
// array_exchange, the caller holds Python's GIL.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "fatlink/c/plan.h"
#include "fatlink/kernel.hpp"
#include "fatlink/launch_plan.hpp"
#include "fatlink/plan_call.hpp"
#include "fatlink/prepare.hpp"

namespace fatlink::c {

struct dl_tensor {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t dimensions;
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: of an array in row-major order
  std::uint64_t byte_offset;
};

struct dl_exchange_api {
  std::uint32_t major;
  std::uint32_t minor;
  dl_exchange_api const* former;
  void (*allocate)();
  void (*export_managed)();
  void (*import_managed)();
  int (*read)(void* object, dl_tensor* result);  ///< may be null; -1: a Python exception is set
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** result);
};

/// The arrays of one call.
class array_exchange {
 public:
  /// `ordinal`: of the GPU whose arrays are taken.
  /// @throws usage_error `given` is NULL or malformed, or its functions are of another version.
  array_exchange(fatlink_array_exchange const* given, std::int32_t ordinal);

  /// The argument `stated` with the address and the number of elements of `object`.
  /// @throws usage_error the array is not in the GPU's memory, not contiguous, or of another type
  ///   than `stated.scalar`; or has another number of dimensions, or another shape than the first
  ///   array, where the caller asks for it.
  call_argument read(fatlink_argument const& stated, void* object);

  /// The framework's current stream. @throws usage_error it tells none.
  [[nodiscard]] stream_view current_stream() const;

  /// Releases Python's GIL, while it lives.
  class unlocked {
   public:
    explicit unlocked(array_exchange const& exchange)
        : exchange_(exchange),
          thread_(exchange.given_.release == nullptr ? nullptr : exchange.given_.release())
    {
    }
    /// Where the interpreter ends, Python ends this thread by an unwinding that must pass.
    ~unlocked() noexcept(false)
    {
      if (thread_ != nullptr) exchange_.given_.acquire(thread_);
    }
    unlocked(unlocked const&) = delete;
    unlocked& operator=(unlocked const&) = delete;

   private:
    array_exchange const& exchange_;
    void* thread_;
  };

 private:
  std::size_t count_of(dl_tensor const& tensor, char const* name);
  [[noreturn]] void fail_framework(char const* name, char const* cause) const;

  fatlink_array_exchange given_;
  std::int32_t ordinal_;
  dl_exchange_api const* api_ = nullptr;
  dl_tensor first_ = {};
  bool has_first_ = false;
};

/// Whether the type of one of the values is not stated, and has to be found in the plan.
/// @throws usage_error the list is NULL, and `count` is not 0; or the sizes of the structs are
///   malformed.
bool has_unstated_value(fatlink_argument const* arguments, std::size_t count);

/// Refers to names and values of the caller. Up to k_inline_arguments take no memory of the heap.
class argument_list {
 public:
  /// `plan`: for values whose type is not stated; null if there are none.
  /// @throws usage_error as has_unstated_value, or an argument is malformed.
  argument_list(fatlink_argument const* arguments, std::size_t count, launch_plan const* plan);
  /// `objects[i]`, where it is not null, is the array for arguments[i].
  /// @throws usage_error also as array_exchange::read.
  argument_list(fatlink_argument const* arguments, std::size_t count, launch_plan const* plan,
                array_exchange& exchange, void* const* objects);
  argument_list(argument_list const&) = delete;
  argument_list& operator=(argument_list const&) = delete;

  [[nodiscard]] std::span<call_argument const> span() const noexcept { return arguments_; }

 private:
  void add(fatlink_argument const& argument, launch_plan const* plan);

  static constexpr std::size_t k_inline_arguments = 16;

  alignas(call_argument) std::array<std::byte, k_inline_arguments * sizeof(call_argument)> buffer_;
  std::pmr::monotonic_buffer_resource memory_{buffer_.data(), buffer_.size()};
  std::pmr::vector<call_argument> arguments_{&memory_};
};

/// The name of the type of its elements; empty: it has none.
std::string type_name_of(plan_argument const& argument);

/// Refers to the texts, which end with NUL.
fatlink_plan_argument c_argument_of(plan_argument const& argument, std::string const& name,
                                    std::string const& type_name);

/// Where a caller wants the extents of an array.
struct extents_output {
  /// @throws usage_error a pointer is NULL that must not be.
  extents_output(char const* array_name, std::uint64_t* destination, std::size_t room,
                 std::size_t* dimension_count);

  /// Writes those that `all` has. @throws usage_error `plan` has no such array.
  void set(launch_plan const& plan, plan_extents const& all) const;

 private:
  std::size_t& dimensions_;
  std::string array_;
  std::uint64_t* extents_;
  std::size_t capacity_;
};

}  // namespace fatlink::c
