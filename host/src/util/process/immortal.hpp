// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace fatlink::detail {

/// An object that is never destroyed, for function-local static variables: other static objects and
/// threads may use the library while the process ends.
template <typename Object>
class immortal {
 public:
  template <typename... Arguments>
  explicit immortal(Arguments&&... arguments)
      : object_(*new Object(std::forward<Arguments>(arguments)...))
  {
  }
  [[nodiscard]] Object& get() const noexcept { return object_; }

 private:
  Object& object_;
};

}  // namespace fatlink::detail
