// SPDX-License-Identifier: Apache-2.0
// What a run reads: arrays, values and states, and the memory that they take. The host reads arrays
// in parts: generated, of a file, in memory, on a device. Units: elements, bytes. Threads: an array
// is a value; its elements may be read by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fatlink/launch_plan.hpp"
#include "fatlink/prepare.hpp"
#include "plan/plan_formulas.hpp"
#include "plan/plan_values.hpp"
#include "run/bind_plan.hpp"
#include "run/run_arguments.hpp"
#include "verification/elements.hpp"
#include "verification/operand_program.hpp"
#include "verification/transform_reference.hpp"

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
  /// Reads at most `bytes`, or one element, at a time; `use` gets the first element's index, and
  /// may end it by false. Returns whether it did not. @throws as read.
  bool read_pieces(std::size_t bytes,
                   std::function<bool(std::size_t, std::span<std::byte>)> const& use) const;
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

/// How a run holds the arrays of its plan.
struct array_copies {
  std::size_t inputs = 1;   ///< copies of each input on the host
  std::size_t outputs = 1;  ///< copies of each output on the host: one for each link mode
  bool on_host = false;     ///< whether device memory is the host's: on the reference device
};

/// @throws usage_error --elements is given, and is the value of no size.
[[noreturn]] void refuse_elements(std::size_t elements, launch_plan const& plan);

/// The transform whose hook a state is for; null if none states a state.
transform_reference const* owner_of(plan_argument const& state,
                                    std::vector<transform_reference> const& transforms);

/// How inputs that no file states are made.
struct generated_inputs {
  std::size_t elements = 65536;    ///< the value of the first size that nothing states
  bool must_use_elements = false;  ///< it is an error if `elements` is the value of no size
  std::uint64_t seed = 0;
  array_copies copies = {};  ///< of all arrays, for the check of the machine's memory
};

/// What a run reads; outputs are those of each mode.
struct run_data {
  std::map<std::string, std::int64_t> sizes = {};
  std::map<std::string, run_array> inputs = {};
  std::map<std::string, host_array> values = {};              ///< of one element each
  std::map<std::string, std::vector<std::byte>> states = {};  ///< empty: null
  std::map<std::string, run_array> expected = {};             ///< of --expect, by output
  /// Inputs whose extents the device determines; `inputs` lacks them until add_device_inputs.
  std::vector<std::string> of_device = {};
  /// Whether the device determines extents, so that the memory of all arrays is not checked yet.
  bool is_memory_unchecked = false;
};

/// Reads, generates and checks what the plan needs. `formulas.plan` has types for all arguments.
/// @throws usage_error an input of another extent than the plan's, sizes that contradict each
///   other, a missing value, a state of another size than its struct, or of a hook that has none;
///   names the argument, what is expected and what is found.
/// @throws unavailable_error (out-of-memory) as check_memory.
/// @throws refused_error (element-mismatch) an array of another type than the argument.
/// @throws file_error as npy_reader.
run_data read_run_data(detail::plan_formulas const& formulas, plan_arguments const& arguments,
                       plan_references const& references, generated_inputs const& generated);

/// Adds data.of_device, with the extents that `code` needs on its device, once the memory of all
/// arrays is checked; the other parameters as for read_run_data. Of inputs that are there already,
/// checks that `code` needs their extents.
/// @throws usage_error an input of another extent: of a file, or of the code that ran before.
/// @throws unavailable_error (out-of-memory) as check_memory.
void add_device_inputs(run_data& data, prepared_plan const& code, plan_arguments const& arguments,
                       generated_inputs const& generated);

/// The sizes that remain within the limits that the inputs state.
std::map<std::string, std::int64_t> limited_sizes(launch_plan const& plan, run_data const& data);

/// `data` with limited_sizes(), and of each input the elements that belong to these.
run_data within_limits(launch_plan const& plan, run_data data);

}  // namespace fatlink::cli
