// SPDX-License-Identifier: Apache-2.0
// Ranges and marks of fatlink's NVTX domain, "fatlink", which tools such as Nsight Systems show.
// Without a tool, a range costs a few nanoseconds and its name is not made. Builds without the NVTX
// headers, and processes with elevated rights (AT_SECURE), in which NVTX would load the library
// that an environment variable names, have none. Threads: safe; a range belongs to one thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

namespace fatlink::detail {

/// Whether a tool records fatlink's ranges. The first call lets NVTX search for the tool.
bool has_tool() noexcept;

/// Begins a range of this thread, inside those that it has begun; only if has_tool().
void push_range(char const* name, std::uint64_t payload = 0) noexcept;
/// Ends the range of this thread that began last; only if has_tool().
void pop_range() noexcept;
/// Marks a point in time; only if has_tool().
void mark(char const* name, std::uint64_t payload = 0) noexcept;

/// A range from construction to end() or destruction.
class tool_range {
 public:
  explicit tool_range(char const* name, std::uint64_t payload = 0) noexcept : is_open_(has_tool())
  {
    if (is_open_) push_range(name, payload);
  }
  /// `make_name` returns the name; it is called only if a tool records the range.
  template <std::invocable Make>
  explicit tool_range(Make const& make_name) : is_open_(has_tool())
  {
    if (is_open_) push_range(std::string(make_name()).c_str());
  }
  ~tool_range() { end(); }
  tool_range(tool_range const&) = delete;
  tool_range& operator=(tool_range const&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  void end() noexcept
  {
    if (std::exchange(is_open_, false)) pop_range();
  }

 private:
  bool is_open_;
};

}  // namespace fatlink::detail
