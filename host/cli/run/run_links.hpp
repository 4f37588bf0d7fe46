// SPDX-License-Identifier: Apache-2.0
// The links of `fatlink run`, and what is checked before them. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "device/shared_links.hpp"
#include "fatlink/device_info.hpp"
#include "fatlink/fatbin.hpp"
#include "fatlink/image.hpp"
#include "fatlink/input.hpp"
#include "link_flags.hpp"
#include "run/run_devices.hpp"

namespace fatlink::cli {

/// What is linked, once in each mode.
struct run_links {
  std::vector<input> inputs = {};
  std::vector<fatbin> modules = {};  ///< those of `inputs` that links take
  std::vector<link_mode> modes = {};
  std::vector<std::string> launched = {};  ///< the kernels that run
  std::vector<std::string> kept = {};      ///< the kernels to keep; empty: all
  link_flags flags = {};
};

/// Before preflight, which would report that such inputs have no PTX.
/// @throws unavailable_error an input holds SASS only, or the mode is sass, and the device is the
///   reference device.
void refuse_sass_without_gpu(run_links const& job, device_choice& choice);

/// Refuses inputs that link for no target, without a device, so that every machine reports them.
/// @throws refused_error with the findings.
void check_inputs(run_links const& job);

/// Checks the options of every link before the first one. `resources`: whether those of kernels are
/// asked for. @throws usage_error an option has no effect in one of the modes on this device.
void check_options(run_links const& job, device_info const& info, bool resources);

/// One link for each distinct target, kind of image and mode; `job` must outlive it.
detail::shared_links share_links(run_links const& job);

}  // namespace fatlink::cli
