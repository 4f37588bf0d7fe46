// SPDX-License-Identifier: Apache-2.0
// Arrays of a run, which the host reads in parts: generated, of a file, in memory, on a device.
// Units: elements. Threads: an array is a value; its elements may be read by several threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "verification/elements.hpp"
#include "verification/operand_program.hpp"

namespace fatlink::cli {

/// Consecutive elements, or rows, of a whole.
struct element_part {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Divides `count` elements into `parts` of nearly the same size, in order. Large parts begin at
/// multiples of 1,024, so that what a thread or a block processes is the same as in one part.
/// Fewer elements than parts leave parts without elements.
std::vector<element_part> divide(std::size_t count, std::size_t parts);

/// An array in memory.
struct host_array {
  element_type type = {};
  std::vector<std::size_t> extents = {};
  std::vector<std::byte> bytes = {};

  [[nodiscard]] std::size_t count() const noexcept { return bytes.size() / type.size; }
  [[nodiscard]] array_view view() const noexcept { return {type, bytes}; }
};

/// An array wherever it is.
struct run_array {
  element_type type = {};
  std::vector<std::size_t> extents = {};
  std::shared_ptr<element_source const> elements = {};
  std::shared_ptr<host_array const> memory = {};  ///< the same elements, if they are in memory
  std::size_t first = 0;                          ///< its first element in `elements`
  std::string wrong_length = {};  ///< of an output: its length, if that is not in the array

  [[nodiscard]] std::size_t count() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return count() * type.size; }
  /// Copies the elements from `start` to `bytes`, whose size is a multiple of theirs.
  void fill(std::size_t start, std::span<std::byte> bytes) const
  {
    elements->fill(first + start, bytes);
  }
  /// All of it. @throws file_error as npy_reader. @throws device_error a kernel failed.
  [[nodiscard]] host_array read() const;
  /// Rows of it; `rows`: how many it has, along its slowest extent or by its count.
  [[nodiscard]] run_array part(std::size_t rows, element_part const& part) const;
};

/// An array that is in memory.
run_array held(host_array array);

/// An array whose elements are in memory while the object lives.
class loaded_array {
 public:
  /// Reads the elements of `array` if they are elsewhere. @throws as run_array::read.
  explicit loaded_array(run_array const& array);
  [[nodiscard]] array_view view() const noexcept;
  [[nodiscard]] std::vector<std::size_t> const& extents() const noexcept { return extents_; }

 private:
  std::shared_ptr<host_array const> memory_;
  std::size_t first_ = 0;
  std::vector<std::size_t> extents_;
};

/// The product of `extents`.
std::size_t count_of(std::vector<std::size_t> const& extents) noexcept;

}  // namespace fatlink::cli
