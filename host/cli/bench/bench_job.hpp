// SPDX-License-Identifier: Apache-2.0
// What `fatlink bench` measures: inputs, read and checked without a device, and how to link them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fatlink/fatbin.hpp"
#include "fatlink/input.hpp"
#include "link_flags.hpp"
#include "run/bind_plan.hpp"

namespace fatlink::cli {

struct bench_job {
  std::vector<std::filesystem::path> files;  ///< the library, then the transforms
  std::vector<input> inputs;                 ///< of `files`
  std::vector<link_mode> modes;              ///< to measure, in order
  launch_plan plan;                          ///< the library's, or the implied one
  plan_references references;                ///< what the inputs state
  bool is_implied = false;                   ///< whether the plan is the implied one
  std::vector<std::string> values;           ///< of --set: "width=100"
  link_flags flags;                          ///< without the cache
  unsigned rounds = 30;                      ///< times are medians over them

  /// The fatbin of the library and the transforms compiled as one source; nothing unless `files`
  /// are fatlink's own.
  [[nodiscard]] std::optional<std::filesystem::path> single_source() const;

  /// The first kernel of the plan.
  [[nodiscard]] std::string const& kernel() const { return plan.launches.front().kernel; }

  /// The modules that a link for `target` in the last mode takes.
  [[nodiscard]] std::vector<fatbin> modules(target target) const;

  /// The options of a link to a cubin. --require-inlined is one of them in lto mode only.
  /// @throws usage_error as link_flags::make_options.
  [[nodiscard]] link_options make_options(target target, link_mode mode) const;
};

/// Reads the files of the names `name`, of the library, and `transforms`, or those of library_for
/// and the shipped ones where there are none, as `fatlink run`. The kernel of an implied plan is
/// the first of --kernel; without one it is selected as `fatlink run` does. `values`: of --set.
/// @throws usage_error an option has no effect in one of the modes, or with a launch plan; or as
///   add_launch, bind_plan.
/// @throws file_error, format_error as input_file and input::read.
bench_job read_job(std::string const& name, std::vector<std::string> const& transforms,
                   std::string const& mode, std::vector<std::string> const& values,
                   link_flags flags);

}  // namespace fatlink::cli
