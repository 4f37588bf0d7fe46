// SPDX-License-Identifier: Apache-2.0
// A shared library opened at run time. Never closed: nvJitLink and libcuda keep threads and
// exit handlers of their own, and unmapping them under those crashes.
#pragma once

#include <initializer_list>
#include <string>

namespace fatlink::detail {

class shared_library {
 public:
  /// Opens `path`; is false when the loader refuses, `error` then has its words.
  static shared_library open(std::string const& path, std::string& error);

  /// The one of that name that this process has loaded already; is false when it has not.
  static shared_library loaded(std::string const& name);

  shared_library() = default;
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The first of `names` that it exports, or null.
  [[nodiscard]] void* find(std::initializer_list<std::string> names) const noexcept;
  /// The file, symbolic links resolved.
  [[nodiscard]] std::string path() const;

 private:
  explicit shared_library(void* handle) noexcept : handle_(handle) {}
  void* handle_ = nullptr;
};

}  // namespace fatlink::detail
