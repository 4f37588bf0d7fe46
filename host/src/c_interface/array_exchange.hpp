// SPDX-License-Identifier: Apache-2.0
// Arrays of Python's frameworks, read by the C exchange API of DLPack 1.3, whose structs
// (dlpack/dlpack.h) are stated here. Threads: the caller holds Python's GIL.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fatlink/c/plan.h"
#include "fatlink/kernel.hpp"
#include "fatlink/plan_call.hpp"

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

}  // namespace fatlink::c
