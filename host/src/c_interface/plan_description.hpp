// SPDX-License-Identifier: Apache-2.0
// What a launch plan has, as the C interface states it. Units: bytes. Threads: no shared state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fatlink/c/plan.h"
#include "fatlink/launch_plan.hpp"
#include "fatlink/prepare.hpp"

namespace fatlink::c {

/// The name of the type of its elements; empty: it has none.
std::string type_name_of(plan_argument const& argument);

/// Refers to the texts, which end with NUL.
fatlink_plan_argument describe(plan_argument const& argument, std::string const& name,
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
