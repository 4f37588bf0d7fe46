// SPDX-License-Identifier: Apache-2.0
// A plan whose types are bound, with the kernels of a loaded image: everything that does not change
// from call to call. Threads: immutable after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fatlink/device.hpp"
#include "fatlink/launch_plan.hpp"
#include "plan/plan_formulas.hpp"
#include "plan/plan_values.hpp"

namespace fatlink::detail {

struct plan_program {
  /// @throws usage_error an argument has no type. @throws file_error the image lacks a kernel, or
  ///   as plan_formulas. @throws refused_error (plan-mismatch) a launch passes another number of
  ///   arguments than its kernel takes, or one of another size.
  plan_program(device const& destination, launch_plan bound, linked_image linked);

  /// The index of the argument `name`; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;
  [[nodiscard]] plan_argument const& argument(std::size_t index) const noexcept
  {
    return formulas.plan.arguments[index];
  }
  [[nodiscard]] bool is_array(std::size_t index) const noexcept;
  /// Whether a call allocates or is given memory for scratch arrays.
  [[nodiscard]] bool has_scratch() const noexcept;

  std::shared_ptr<device_backend> backend;
  linked_image image;
  plan_formulas formulas;
  std::string range_name;  ///< of the ranges of its calls: "run reduce_4"
  loaded_module module;
  std::vector<untyped_kernel> kernels = {};  ///< of each launch
  device_facts facts = {};
  std::vector<std::vector<std::byte>> defaults = {};  ///< of each argument; empty: none
  std::vector<std::size_t> size_numbers = {};  ///< of each argument its place in formulas.sizes
  /// Of each argument the place in formulas.sizes of the one size that its only extent follows
  /// from.
  std::vector<std::optional<std::size_t>> extent_sizes = {};
};

}  // namespace fatlink::detail
