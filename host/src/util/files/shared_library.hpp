// SPDX-License-Identifier: Apache-2.0
// A shared library opened at run time. Never closed: nvJitLink and libcuda have threads and exit
// handlers, which crash if the library is unmapped.
#pragma once

#include <initializer_list>
#include <string>

namespace fatlink::detail {

class shared_library {
 public:
  /// Opens `path`; converts to false if the loader refuses, and `error` then contains its message.
  static shared_library open(std::string const& path, std::string& error);

  /// The library of that name that this process has already loaded; converts to false if there is
  /// none.
  static shared_library loaded(std::string const& name);

  shared_library() = default;
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The address of the first name in `names` that it exports, or null.
  [[nodiscard]] void* find(std::initializer_list<std::string> names) const noexcept;
  /// The file, with symbolic links resolved.
  [[nodiscard]] std::string path() const;

 private:
  explicit shared_library(void* handle) noexcept : handle_(handle) {}
  void* handle_ = nullptr;
};

}  // namespace fatlink::detail
