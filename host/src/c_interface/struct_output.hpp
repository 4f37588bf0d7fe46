// SPDX-License-Identifier: Apache-2.0
// A struct of the caller that a function fills. Threads: no shared state.
#pragma once

#include "c_interface/struct_size.hpp"

namespace fatlink::c {

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

}  // namespace fatlink::c
